//! The outcome of a case, as recorded and as ours.

use crate::setup::items;
use mco_framework::close::SessionOutcome;
use mco_model::Cluster;
use mco_registry::{Decided, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// What one cycle sent and left waiting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cycle {
    /// Pod to node.
    pub(super) binds: BTreeMap<String, String>,
    /// Pods, sorted.
    pub(super) evicts: Vec<String>,
    /// Pod to node.
    pub(super) pipelined: BTreeMap<String, String>,
}

/// Phase and conditions of a PodGroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Phase.
    pub(super) phase: String,
    /// Type, status and reason of each condition, in order.
    pub(super) conditions: Vec<[String; 3]>,
}

/// Everything that is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Binds and evictions of all cycles, waiting tasks of the last.
    pub(super) total: Cycle,
    /// PodGroups after the last cycle.
    pub(super) groups: BTreeMap<String, Group>,
    /// Cards of pods that were bound, as the annotations that name them say.
    pub(super) devices: BTreeMap<String, String>,
    /// Each cycle by itself.
    pub(super) per_cycle: Option<Vec<Cycle>>,
}

impl Cycle {
    pub(super) fn of(decided: &Decided) -> Self {
        let places = |pairs: &[(mco_registry::PodName, mco_model::spec::Text)]| {
            pairs
                .iter()
                .map(|(pod, node)| (pod.to_string(), node.to_string()))
                .collect()
        };
        let mut evicts: Vec<String> = decided.evicts.iter().map(|(pod, _)| pod.to_string()).collect();
        evicts.sort();
        Self {
            binds: places(&decided.binds),
            evicts,
            pipelined: places(&decided.pipelined),
        }
    }

    fn recorded(value: &Value) -> Self {
        Self {
            binds: texts(&value["binds"]),
            evicts: items(&value["evicts"]).map(text).collect(),
            pipelined: texts(&value["pipelined"]),
        }
    }
}

impl Outcome {
    /// An outcome as a case writes it down.
    pub(super) fn recorded(value: &Value) -> Self {
        let groups = value["podgroups"].as_object().into_iter().flatten();
        let per_cycle = value["perCycle"]
            .as_array()
            .map(|cycles| cycles.iter().map(Cycle::recorded).collect());
        Self {
            total: Cycle::recorded(value),
            groups: groups
                .map(|(name, group)| (name.clone(), Group::recorded(group)))
                .collect(),
            devices: texts(&value["devices"]),
            per_cycle,
        }
    }

    /// What differs from `expected`, empty when nothing does.
    pub(super) fn differences(&self, expected: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        compare_maps("bind", &expected.total.binds, &self.total.binds, &mut differences);
        if expected.total.evicts != self.total.evicts {
            differences.push(format!(
                "evicts {:?}, not {:?}",
                self.total.evicts, expected.total.evicts
            ));
        }
        compare_maps(
            "pipelined",
            &expected.total.pipelined,
            &self.total.pipelined,
            &mut differences,
        );
        compare_maps("podgroup", &expected.groups, &self.groups, &mut differences);
        for (pod, cards) in &expected.devices {
            match self.devices.get(pod) {
                Some(ours) if ours == cards => {}
                ours => differences.push(format!("cards of {pod}: {ours:?}, not {cards:?}")),
            }
        }
        if let Some(expected) = &expected.per_cycle
            && self.per_cycle.as_ref() != Some(expected)
            && differences.is_empty()
        {
            let ours = self.per_cycle.iter().flatten();
            let first = ours.zip(expected).position(|(ours, theirs)| ours != theirs);
            differences.push(format!(
                "the same in other cycles, first different in cycle {}",
                first.map_or(0, |at| at + 1)
            ));
        }
        differences
    }
}

impl Group {
    fn recorded(value: &Value) -> Self {
        let condition = |condition: &Value| ["type", "status", "reason"].map(|key| text(&condition[key]));
        Self {
            phase: text(&value["phase"]),
            conditions: items(&value["conditions"]).map(condition).collect(),
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.phase)?;
        for [kind, status, reason] in &self.conditions {
            write!(f, " {kind}={status} ({reason})")?;
        }
        Ok(())
    }
}

/// Annotations that name the cards a pod got.
const CARDS: [&str; 2] = ["volcano.sh/vgpu-ids-new", "volcano.sh/gpu-index"];

/// The cards that pods got with their binding.
pub(super) fn devices(world: &World, outcome: &SessionOutcome) -> Vec<(String, String)> {
    let named = outcome.gifts.iter().flat_map(|gift| {
        let cards = gift.annotations.iter().filter(|(key, _)| CARDS.contains(key));
        cards.map(|(_, value)| (world.pod_name(gift.task).to_string(), value.clone()))
    });
    named.collect()
}

/// PodGroups as the session left them; those that took no part are as they were.
pub(super) fn groups(cluster: &Cluster, outcome: &SessionOutcome) -> BTreeMap<String, Group> {
    let mut groups = BTreeMap::new();
    let closed = |id| {
        outcome
            .jobs
            .iter()
            .find(|job| job.job == id)
            .map(|job| &job.status)
    };
    for (id, job) in cluster.jobs() {
        let Some(group) = &job.group else { continue };
        let status = closed(id).unwrap_or(&group.status);
        let conditions = status.conditions.iter().map(|condition| {
            let held = if condition.status { "True" } else { "False" };
            [
                condition.kind.to_string(),
                held.to_owned(),
                condition.reason.to_string(),
            ]
        });
        let group = Group {
            phase: status.phase.as_str().to_owned(),
            conditions: conditions.collect(),
        };
        groups.insert(job.uid.to_string(), group);
    }
    groups
}

fn compare_maps<T: PartialEq + std::fmt::Display>(
    what: &str,
    expected: &BTreeMap<String, T>,
    got: &BTreeMap<String, T>,
    differences: &mut Vec<String>,
) {
    for (name, theirs) in expected {
        match got.get(name) {
            None => differences.push(format!("{what} {name}: nothing, not {theirs}")),
            Some(ours) if ours != theirs => differences.push(format!("{what} {name}: {ours}, not {theirs}")),
            Some(_) => {}
        }
    }
    for (name, ours) in got.iter().filter(|(name, _)| !expected.contains_key(*name)) {
        differences.push(format!("{what} {name}: {ours}, not nothing"));
    }
}

pub(super) fn texts(value: &Value) -> BTreeMap<String, String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_differs_in_what_it_says() {
        let recorded = |text: &str| Outcome::recorded(&serde_json::from_str(text).expect("JSON"));
        let one = recorded(
            r#"{"binds": {"a/b": "n1"}, "evicts": ["a/c"], "podgroups": {"a/g": {"phase": "Running", "conditions": []}}}"#,
        );
        assert!(one.differences(&one).is_empty());
        let other = recorded(r#"{"binds": {"a/b": "n2"}, "evicts": [], "podgroups": {}}"#);
        assert_eq!(
            other.differences(&one),
            [
                r#"bind a/b: n2, not n1"#,
                r#"evicts [], not ["a/c"]"#,
                r#"podgroup a/g: nothing, not "Running""#
            ]
        );
    }
}
