//! What `simulate` tells: the decisions by name, and the reasons behind everything left waiting, as data.

use super::timing::Timing;
use crate::reason::Refused;
use mco_framework::close::{SessionOutcome, TaskOutcome};
use mco_framework::events::{About, ObjectEvent, events};
use mco_framework::outside::outside_sessions;
use mco_framework::reason::Reason;
use mco_model::spec::Text;
use mco_model::{Cluster, NodeId, TaskId};
use mco_registry::{Decided, PodName};
use serde::Serialize;
use std::collections::BTreeMap;

/// Decisions of all cycles; pipelined tasks, PodGroups and reasons of the last.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Pod to node.
    pub binds: BTreeMap<String, String>,
    /// Pods to evict, sorted.
    pub evicts: Vec<String>,
    /// Pods that wait on a node for room to be freed.
    pub pipelined: BTreeMap<String, String>,
    /// PodGroups by name.
    pub podgroups: BTreeMap<String, GroupReport>,
    /// Pods left waiting, with the reason.
    pub pending: BTreeMap<String, PendingReport>,
    /// What the last cycle would tell about objects, as Kubernetes events.
    pub events: Vec<EventReport>,
    /// By cycle, when there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_cycle: Vec<CycleReport>,
    /// What was odd about configuration, arguments and objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Kinds that the scheduler does not read, with their numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ignored: BTreeMap<String, usize>,
    /// How long the last cycle took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// Decisions of one cycle.
#[derive(Debug, Default, Serialize)]
pub struct CycleReport {
    /// Pod to node.
    pub binds: BTreeMap<String, String>,
    /// Pods to evict.
    pub evicts: Vec<String>,
    /// Pods that wait on a node for room to be freed.
    pub pipelined: BTreeMap<String, String>,
}

/// A PodGroup after the last cycle.
#[derive(Debug, Serialize)]
pub struct GroupReport {
    /// Phase.
    pub phase: &'static str,
    /// Conditions in their order.
    pub conditions: Vec<ConditionReport>,
    /// Why the group was passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonReport>,
}

/// A condition of a PodGroup.
#[derive(Debug, Serialize)]
pub struct ConditionReport {
    /// Type.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True` or `False`.
    pub status: &'static str,
    /// Reason.
    pub reason: String,
    /// Message.
    pub message: String,
}

/// A pod that was left waiting.
#[derive(Debug, Serialize)]
pub struct PendingReport {
    /// Reason for its condition.
    pub reason: &'static str,
    /// Message for its condition.
    pub message: String,
    /// `Pending`, `Allocated` without its gang, or `Pipelined`.
    pub status: &'static str,
    /// Where it was, if anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Every refusal.
    pub reasons: Vec<ReasonReport>,
}

/// A Kubernetes event.
#[derive(Debug, Serialize)]
pub struct EventReport {
    /// Kind, namespace and name of what it is about.
    pub about: String,
    /// `Warning` or `Normal`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Reason.
    pub reason: &'static str,
    /// Message.
    pub message: String,
}

/// One refusal as data.
#[derive(Debug, Serialize)]
pub struct ReasonReport {
    /// Who refused, why, and the figures behind it.
    #[serde(flatten)]
    pub refused: Refused,
    /// How many nodes refused so; absent when no node was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
}

impl Report {
    /// Adds what a cycle decided.
    pub fn add_cycle(&mut self, cluster: &Cluster, outcome: &SessionOutcome, decided: &Decided) {
        let cycle = CycleReport::of(decided);
        self.binds.extend(cycle.binds.clone());
        self.evicts.extend(cycle.evicts.iter().cloned());
        self.evicts.sort();
        self.pipelined = cycle.pipelined.clone();
        self.per_cycle.push(cycle);
        for warning in &outcome.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
        self.podgroups = outcome
            .jobs
            .iter()
            .map(|job| (cluster.job(job.job).uid.to_string(), group(job)))
            .collect();
        self.pending = outcome
            .waiting
            .iter()
            .map(|task| (pod(cluster, task.task), pending(cluster, task)))
            .collect();
        self.events = events(cluster, outcome)
            .into_iter()
            .map(|event| event_report(cluster, event))
            .collect();
        self.add_pods_outside(cluster);
    }

    /// Pods that no session looks at are told of too.
    fn add_pods_outside(&mut self, cluster: &Cluster) {
        for (id, reason) in outside_sessions(cluster) {
            let told = PendingReport {
                reason: "Unschedulable",
                message: reason.text.to_string(),
                status: cluster.task(id).status.as_str(),
                node: None,
                reasons: vec![ReasonReport::of(&reason, None)],
            };
            self.pending.insert(pod(cluster, id), told);
        }
    }
}

impl CycleReport {
    fn of(decided: &Decided) -> Self {
        let places = |places: &[(PodName, Text)]| {
            places
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
}

impl ReasonReport {
    fn of(reason: &Reason, nodes: Option<usize>) -> Self {
        Self {
            refused: Refused::from(reason),
            nodes,
        }
    }
}

fn group(job: &mco_framework::close::JobOutcome) -> GroupReport {
    let condition = |condition: &mco_model::event::PodGroupCondition| ConditionReport {
        kind: condition.kind.to_string(),
        status: if condition.status { "True" } else { "False" },
        reason: condition.reason.to_string(),
        message: condition.message.to_string(),
    };
    GroupReport {
        phase: job.status.phase.as_str(),
        conditions: job.status.conditions.iter().map(condition).collect(),
        reasons: job
            .notes
            .iter()
            .map(|reason| ReasonReport::of(reason, None))
            .collect(),
    }
}

fn pending(cluster: &Cluster, task: &TaskOutcome) -> PendingReport {
    let by_node = task.errors.iter().flat_map(|errors| &errors.counts);
    let nodes = by_node.map(|(reason, nodes)| ReasonReport::of(reason, Some(*nodes)));
    let note = task.note.iter().map(|reason| ReasonReport::of(reason, None));
    PendingReport {
        reason: task.reason,
        message: task.message.clone(),
        status: task.status.as_str(),
        node: task.node.map(|node| name(cluster, node)),
        reasons: note.chain(nodes).collect(),
    }
}

fn event_report(cluster: &Cluster, event: ObjectEvent) -> EventReport {
    EventReport {
        about: match event.about {
            About::PodGroup(job) => format!("PodGroup {}", cluster.job(job).uid),
            About::Pod(task) => format!("Pod {}", pod(cluster, task)),
        },
        kind: if event.warning { "Warning" } else { "Normal" },
        reason: event.reason,
        message: event.message,
    }
}

fn pod(cluster: &Cluster, task: TaskId) -> String {
    let task = cluster.task(task);
    format!("{}/{}", task.namespace, task.name)
}

fn name(cluster: &Cluster, node: NodeId) -> String {
    cluster.nodes.row(node).name.to_string()
}
