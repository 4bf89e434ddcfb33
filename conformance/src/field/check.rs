//! Checkpoints: what must hold at a moment.

use super::stage::Stage;
use crate::setup::items;
use serde_json::Value;

/// What does not hold.
pub(super) fn differences(checkpoint: &Value, stage: &Stage<'_>) -> Vec<String> {
    let mut differences = statements(checkpoint, stage);
    let blocks: Vec<Vec<String>> = items(&checkpoint["oneOf"])
        .map(|block| statements(block, stage))
        .collect();
    let holding = blocks.iter().filter(|block| block.is_empty()).count();
    if !blocks.is_empty() && holding != 1 {
        let why = blocks.concat().join(", ");
        differences.push(format!(
            "{holding} of {} blocks hold, not one: {why}",
            blocks.len()
        ));
    }
    if let Some(invariant) = checkpoint["invariant"].as_str() {
        differences.extend(breach(invariant, stage));
    }
    differences
}

fn statements(block: &Value, stage: &Stage<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    for (pod, nodes) in block["bound"].as_object().into_iter().flatten() {
        match stage.node_of(pod) {
            Some(node) if items(nodes).any(|allowed| allowed == node) => {}
            other => differences.push(format!(
                "{pod} is on {other:?}, not on one of {nodes}{}",
                why(stage, pod)
            )),
        }
    }
    for pod in items(&block["pending"]).filter_map(Value::as_str) {
        if let Some(node) = stage.node_of(pod) {
            differences.push(format!("{pod} was bound to {node} but is to wait"));
        }
    }
    if let Some(group) = block["boundCount"]["podsOf"].as_str() {
        let (count, wanted) = (
            stage.bound_of(group) as u64,
            block["boundCount"]["exactly"].as_u64(),
        );
        if Some(count) != wanted {
            differences.push(format!(
                "{count} pods of {group} are bound, not {}",
                block["boundCount"]["exactly"]
            ));
        }
    }
    differences.extend(evictions(&block["evicted"], stage));
    for (group, wanted) in block["podGroup"].as_object().into_iter().flatten() {
        let phase = stage.phase_of(group);
        if !items(&wanted["phase"]).any(|allowed| allowed == phase) {
            differences.push(format!("PodGroup {group} is {phase}, not {}", wanted["phase"]));
        }
    }
    for saying in items(&block["says"]).filter(|saying| saying["level"] != "better") {
        if !is_said(saying, stage) {
            differences.push(format!(
                "nothing about {} says one of {}",
                saying["about"], saying["anyOf"]
            ));
        }
    }
    differences
}

fn evictions(wanted: &Value, stage: &Stage<'_>) -> Vec<String> {
    let evicted = stage.evicted();
    let mut differences = Vec::new();
    if wanted["exactly"]
        .as_u64()
        .is_some_and(|count| count != evicted.len() as u64)
    {
        differences.push(format!("evicted {evicted:?}, not exactly {}", wanted["exactly"]));
    }
    for pod in evicted {
        let listed = |list: &Value| items(list).any(|name| name == pod);
        if (wanted["among"].is_array() && !listed(&wanted["among"])) || listed(&wanted["never"]) {
            differences.push(format!("{pod} was evicted"));
        }
    }
    differences
}

/// One of the texts was said about one of the subjects, letter case aside.
fn is_said(saying: &Value, stage: &Stage<'_>) -> bool {
    let about = saying["about"].as_str().unwrap_or_default();
    let wanted: Vec<String> = items(&saying["anyOf"])
        .filter_map(Value::as_str)
        .map(str::to_lowercase)
        .collect();
    about
        .split(" or ")
        .flat_map(|subject| stage.said(subject))
        .any(|text| {
            let text = text.to_lowercase();
            wanted.iter().any(|wanted| text.contains(wanted.as_str()))
        })
}

fn why(stage: &Stage<'_>, pod: &str) -> String {
    let said: Vec<&str> = stage.said(&format!("Pod/{pod}")).collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({})", said.join(" | "))
    }
}

/// Statements in words, each with its own check. One without a check fails, so that it is not passed over unseen.
fn breach(invariant: &str, stage: &Stage<'_>) -> Option<String> {
    let holds = match invariant {
        "one group has 4 bound pods and the other none; at no time are pods of both groups bound" => {
            let mut counts = [stage.bound_of("a"), stage.bound_of("b")];
            counts.sort_unstable();
            counts == [0, 4] && stage.groups_bound.len() == 1
        }
        "no metric, status or message of queue big shows a negative or zero limit for ephemeral-storage or dongle" =>
        {
            let about = [
                "log",
                "Pod/j-0",
                "Pod/k-0",
                "PodGroup/j",
                "PodGroup/k",
                "Queue/big",
            ];
            let limits = [
                "limit 0",
                "limit -",
                "capability 0",
                "capability -",
                ": -",
                "<= 0",
                "at most 0",
            ];
            let tells_a_bad_limit = |text: &str| {
                (text.contains("ephemeral-storage") || text.contains("dongle"))
                    && limits.iter().any(|limit| text.contains(limit))
            };
            !about
                .iter()
                .flat_map(|subject| stage.said(subject))
                .any(tells_a_bad_limit)
        }
        // The words explain what the other statements of the checkpoint show.
        text if text.starts_with("p3-0 waits because the last conf has no backfill action") => true,
        _ => return Some(format!("no check for the invariant: {invariant}")),
    };
    (!holds).then(|| format!("broken: {invariant}"))
}
