//! Calls to lines. What depends on chance or timing is left out or replaced by a placeholder: which of two equal nodes, which
//! of several equal pods, and what is said of a gang before its pods are all there.

use super::write::{Scenario, Write};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a scenario's calls come to, sorted:
///
/// - `call …`: each kind of call with its answer
/// - `again …`: each kind of call that said of an object what had just been said of it
/// - `podgroup …`, `queue …`, `pods of …`, `lease …`: the state of each object as last written
/// - `event on …`: each event that was created
pub fn lines(scenario: &Scenario, writes: &[Write]) -> Vec<String> {
    let teller = Teller {
        scenario,
        pods: scenario.pod_count(),
    };
    let mut lines = BTreeSet::new();
    // By object, so that the last write stands.
    let mut states: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for write in writes {
        let call = format!("{} {}", write.verb, target(write));
        let answered = format!("call {call} {}", write.code);
        if write.resource == "events" {
            // A patch of an event only says that it came again.
            if write.verb == "create" {
                let event = teller.event(&write.body);
                if teller.is_early(&event) {
                    continue;
                }
                let about = write.body["about"].as_str().unwrap_or_default();
                let all = said.entry(about.to_owned()).or_default();
                if all.contains(&event) {
                    lines.insert(format!("again {call}"));
                }
                lines.insert(format!("event on {event}"));
                all.push(event);
            }
            lines.insert(answered);
            continue;
        }
        let state = teller.state(write);
        let key = (target(write), write.name.clone());
        if state.is_empty() || state.iter().any(|line| !teller.is_early(line)) {
            lines.insert(answered);
            // The lease is renewed all the time.
            if states.get(&key) == Some(&state) && target(write) != "leases" {
                lines.insert(format!("again {call}"));
            }
        }
        states.insert(key, state);
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in states
        .into_values()
        .flatten()
        .filter(|line| !teller.is_early(line))
    {
        *counts.entry(line).or_default() += 1;
    }
    lines.extend(counts.into_iter().map(|(line, count)| match count {
        1 => line,
        _ => format!("{line} (x{count})"),
    }));
    lines.into_iter().collect()
}

/// `pods/binding`, without the group.
fn target(write: &Write) -> String {
    let resource = write.resource.rsplit('/').next().unwrap_or_default();
    if write.subresource.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}/{}", write.subresource)
    }
}

struct Teller<'s> {
    scenario: &'s Scenario,
    pods: usize,
}

impl Teller<'_> {
    fn event(&self, body: &Value) -> String {
        let (kind, name) = body["about"]
            .as_str()
            .unwrap_or_default()
            .split_once('/')
            .unwrap_or_default();
        let about = if kind == "Pod" {
            format!("pods of {}", self.scenario.group_of(name))
        } else {
            format!("{kind} {name}")
        };
        let source = text(&body["source"]["component"]);
        let message = self.without_chance(&body["message"]);
        format!(
            "{about}: {} {}: {message} ({source})",
            text(&body["type"]),
            text(&body["reason"])
        )
    }

    /// What a write says of its object, line by line.
    fn state(&self, write: &Write) -> Vec<String> {
        let (name, status, spec) = (&write.name, &write.body["status"], &write.body["spec"]);
        let group = || self.scenario.group_of(name);
        match target(write).as_str() {
            "podgroups" => {
                let mut lines = vec![format!("podgroup {name} phase {}", text(&status["phase"]))];
                for count in ["running", "succeeded", "failed"] {
                    if let Some(number) = status[count].as_u64().filter(|&number| number > 0) {
                        lines.push(format!("podgroup {name} {count} {number}"));
                    }
                }
                let conditions = self.conditions(&status["conditions"], &["Unschedulable", "Scheduled"]);
                lines.extend(
                    conditions
                        .iter()
                        .map(|condition| format!("podgroup {name} condition {condition}")),
                );
                lines
            }
            "pods/status" => {
                // Of its other conditions the recording has what a kubelet wrote.
                let evicted =
                    |condition: &&Value| condition["type"] != "Ready" || condition["reason"] == "Evict";
                let all = status["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(evicted)
                    .cloned()
                    .collect();
                let conditions = self.conditions(&Value::Array(all), &["PodScheduled", "Ready"]);
                conditions
                    .iter()
                    .map(|condition| format!("pods of {} condition {condition}", group()))
                    .collect()
            }
            "pods/binding" => {
                let target = &write.body["target"];
                let annotations = amounts(&write.body["metadata"]["annotations"]);
                vec![format!(
                    "pods of {} bound to a {}, annotations {annotations}: {}",
                    group(),
                    text(&target["kind"]),
                    write.code
                )]
            }
            "pods" => vec![format!("pods of {}: {}", group(), write.verb)],
            "queues" => vec![format!("queue {name}: {}", amounts(spec))],
            "queues/status" => vec![format!(
                "queue {name} allocated {}",
                amounts(&status["allocated"])
            )],
            "leases" => {
                let holder = match text(&spec["holderIdentity"]).as_str() {
                    "" | "-" => "nobody",
                    _ => "somebody",
                };
                let namespace = text(&write.body["metadata"]["namespace"]);
                vec![format!(
                    "lease {namespace}/{name} of {holder}, {} s",
                    spec["leaseDurationSeconds"]
                )]
            }
            other => vec![format!("{other} {name}: {}", write.verb)],
        }
    }

    fn conditions(&self, all: &Value, types: &[&str]) -> Vec<String> {
        let listed = all.as_array().into_iter().flatten();
        let wanted = listed.filter(|condition| types.iter().any(|name| condition["type"] == **name));
        let told = wanted.map(|condition| {
            let message = self.without_chance(&condition["message"]);
            let (status, reason) = (text(&condition["status"]), text(&condition["reason"]));
            format!("{}={status} {reason}: {message}", text(&condition["type"]))
        });
        told.collect()
    }

    /// Names of nodes and of holders of the lease, and of pods with their namespace, become placeholders.
    fn without_chance(&self, message: &Value) -> String {
        let word = |word: &str| {
            let bare = word.trim_end_matches(',');
            // With or without the dashes of a UUID.
            let id = bare.rsplit('_').next().unwrap_or_default().replace('-', "");
            let is_holder = id.len() == 32 && id.chars().all(|digit| digit.is_ascii_hexdigit());
            if is_holder {
                return "<hostname>_<uuid>".to_owned();
            }
            let is_node =
                bare.len() == 2 && bare.starts_with('n') && bare.ends_with(|end: char| end.is_ascii_digit());
            if is_node {
                word.replace(bare, "<node>")
            } else if bare
                .strip_prefix("t/")
                .is_some_and(|pod| self.scenario.group_of(pod) != pod)
            {
                word.replace(bare, "t/<pod>")
            } else {
                word.to_owned()
            }
        };
        let words: Vec<String> = message
            .as_str()
            .unwrap_or_default()
            .split(' ')
            .map(word)
            .collect();
        words.join(" ")
    }

    /// Whether a line speaks of a gang whose pods were not all there yet.
    fn is_early(&self, line: &str) -> bool {
        let Some(end) = line.find(" tasks in gang unschedulable") else {
            return false;
        };
        let count = line[..end]
            .rsplit('/')
            .next()
            .and_then(|count| count.parse::<usize>().ok());
        count.is_some_and(|count| count < self.pods)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

/// `cpu=3 memory=3Gi`. What is empty is left out: to leave it out when writing means the same.
fn amounts(value: &Value) -> String {
    let entries = value.as_object().into_iter().flatten();
    let shown: Vec<String> = entries
        .filter(|(_, value)| !value.as_object().is_some_and(serde_json::Map::is_empty))
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
        .collect();
    shown.join(" ")
}
