//! The comparison rule: what a run did against what its case expects.

use super::expect::{Decisions, Expectation, Initial};
use super::outcome::{Cycle, Outcome};
use super::perform::Run;
use crate::setup::close;
use serde_json::Value;
use std::collections::BTreeMap;

/// What differs; empty when the case passes.
pub(super) fn differences(expectation: &Expectation, run: &Run) -> Vec<String> {
    let mut differences = match &expectation.decisions {
        Decisions::Ends => Vec::new(),
        Decisions::Exactly(expected) => {
            run.outcome
                .differences(&comparable(expectation, expected, &run.outcome))
        }
        Decisions::OneOf(outcomes) => one_of(expectation, outcomes, &run.outcome),
        Decisions::Within(invariants) => within(invariants, run),
    };
    compare_initial(&expectation.initial, &run.initial, &mut differences);
    differences
}

/// The expected outcome, with our own PodGroups where they are not looked at.
fn comparable(expectation: &Expectation, expected: &Outcome, ours: &Outcome) -> Outcome {
    let mut expected = expected.clone();
    if expectation.without_groups {
        expected.groups = ours.groups.clone();
    }
    expected
}

fn one_of(expectation: &Expectation, outcomes: &[Outcome], ours: &Outcome) -> Vec<String> {
    let differences = outcomes
        .iter()
        .map(|expected| ours.differences(&comparable(expectation, expected, ours)));
    let nearest = differences.min_by_key(Vec::len).unwrap_or_default();
    if nearest.is_empty() {
        return nearest;
    }
    let nearest = nearest.join(", ");
    vec![format!(
        "none of {} outcomes, the nearest differs in: {nearest}",
        outcomes.len()
    )]
}

fn compare_initial(
    expected: &BTreeMap<String, Initial>,
    ours: &BTreeMap<String, Initial>,
    differences: &mut Vec<String>,
) {
    for (pod, theirs) in expected {
        let Some(ours) = ours.get(pod) else {
            differences.push(format!(
                "initial {pod}: it is not the first waiting task of a job"
            ));
            continue;
        };
        for node in theirs
            .rejected
            .keys()
            .filter(|node| !ours.rejected.contains_key(*node))
        {
            differences.push(format!(
                "initial {pod} on {node}: fits, but should not: {}",
                theirs.rejected[node]
            ));
        }
        for (node, reason) in ours
            .rejected
            .iter()
            .filter(|(node, _)| !theirs.rejected.contains_key(*node))
        {
            differences.push(format!(
                "initial {pod} on {node}: refused, but should fit: {reason}"
            ));
        }
        for (node, score) in &theirs.scores {
            match ours.scores.get(node) {
                Some(mine) if close(*mine, *score) => {}
                Some(mine) => differences.push(format!("initial {pod} on {node}: score {mine}, not {score}")),
                None if ours.rejected.contains_key(node) => {}
                None => differences.push(format!("initial {pod} on {node}: no score, not {score}")),
            }
        }
    }
}

/// The rule for cases with more outcomes than are listed.
fn within(invariants: &Value, run: &Run) -> Vec<String> {
    let outcome = &run.outcome;
    let mut differences = Vec::new();
    let mut ranged = |what: &str, range: &Value, count: usize| {
        let bound = |at: usize| range[at].as_u64().map(|bound| bound as usize);
        if bound(0).is_some_and(|least| count < least) || bound(1).is_some_and(|most| count > most) {
            differences.push(format!("{what}: {count}, not in {range}"));
        }
    };
    for (key, count) in counts(&outcome.total) {
        ranged(&format!("total {key}"), &invariants["totals"][key], count);
    }
    for (job, ranges) in invariants["jobs"].as_object().into_iter().flatten() {
        for (key, range) in ranges.as_object().into_iter().flatten() {
            ranged(&format!("{job} {key}"), range, run.count_of(job, key));
        }
    }
    for (index, ranges) in crate::setup::items(&invariants["perCycle"]).enumerate() {
        let cycle = outcome
            .per_cycle
            .as_ref()
            .and_then(|cycles| cycles.get(index))
            .cloned()
            .unwrap_or_default();
        for (key, count) in counts(&cycle) {
            ranged(&format!("cycle {} {key}", index + 1), &ranges[key], count);
        }
    }
    for (pod, node) in outcome.total.binds.iter().chain(&outcome.total.pipelined) {
        let listed = crate::setup::items(&invariants["nodes"][pod]).any(|known| known == node.as_str());
        if !listed {
            differences.push(format!("{pod} on {node}, never seen there"));
        }
    }
    for pod in &outcome.total.evicts {
        if !crate::setup::items(&invariants["evictable"]).any(|known| known == pod.as_str()) {
            differences.push(format!("{pod} evicted, never seen so"));
        }
    }
    for (group, phase) in super::outcome::texts(&invariants["podgroups"]) {
        let ours = outcome.groups.get(&group).map_or("", |group| &group.phase);
        if ours != phase {
            differences.push(format!("podgroup {group}: {ours:?}, not {phase:?}"));
        }
    }
    differences
}

fn counts(cycle: &Cycle) -> [(&'static str, usize); 3] {
    [
        ("bound", cycle.binds.len()),
        ("evicted", cycle.evicts.len()),
        ("pipelined", cycle.pipelined.len()),
    ]
}
