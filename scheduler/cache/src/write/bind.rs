//! Binds: checked just before they are sent, never repeated blindly, looked up when their answer says nothing, and answered
//! exactly once.

use super::counters::add;
use super::limit::Class;
use super::tell::Said;
use super::{Shared, Uid, lock, pause_after};
use crate::command::{About, PodRef};
use crate::door::{Answer, PodSeen};
use mco_model::Event;
use mco_model::spec::Text;
use mco_objects::Kind;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::{debug, warn};

/// A throttled bind is sent again so often before it counts as failed.
const THROTTLED_TRIES: u32 = 5;
/// Failures are remembered for so many pods.
const REMEMBERED: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Binds {
    under_way: Mutex<HashSet<Uid>>,
    /// Failures in a row.
    failures: Mutex<HashMap<Uid, u32>>,
}

enum Outcome {
    Bound,
    /// It is on another node; the pod as it is.
    Elsewhere(String),
    Gone,
    Failed(String),
}

/// Binds the pod, and answers.
pub(crate) async fn bind(shared: Arc<Shared>, pod: PodRef, node: Text, annotations: Vec<(Text, Text)>) {
    if !lock(&shared.binds.under_way).insert(pod.uid.clone()) {
        return; // The one under way will be answered.
    }
    shared.counters.binding.fetch_add(1, Ordering::Relaxed);
    let Ok(slot) = shared.bind_slots.acquire().await else {
        return;
    };
    let outcome = attempt(&shared, &pod, &node, &annotations).await;
    shared.counters.binding.fetch_sub(1, Ordering::Relaxed);
    conclude(&shared, &pod, &node, outcome, slot).await;
}

/// The slot is held until all is said: who waits for the slots when the process ends waits for that too.
async fn conclude(
    shared: &Shared,
    pod: &PodRef,
    node: &Text,
    outcome: Outcome,
    slot: tokio::sync::SemaphorePermit<'_>,
) {
    let over = || {
        lock(&shared.binds.under_way).remove(&pod.uid);
    };
    let uid = pod.uid.clone();
    match outcome {
        Outcome::Bound => {
            lock(&shared.binds.failures).remove(&uid);
            over();
            add(&shared.counters.bound);
            shared.answer(Event::Bound { uid });
            shared.events.tell_once(
                &shared.counters,
                Said {
                    about: About::Pod(pod.clone()),
                    warning: false,
                    reason: "Scheduled".into(),
                    message: format!("Successfully assigned {}/{} to {node}", pod.namespace, pod.name).into(),
                },
            );
        }
        Outcome::Elsewhere(json) => {
            over();
            add(&shared.counters.bind_failed);
            warn!(
                "pod {}/{} was to be bound to {node}, but another bound it",
                pod.namespace, pod.name
            );
            shared.answer_object(Kind::Pod, &json);
        }
        Outcome::Gone => {
            over();
            add(&shared.counters.bind_failed);
            debug!("pod {}/{} is gone before it was bound", pod.namespace, pod.name);
            let message = "the pod is gone".into();
            shared.answer(Event::BindFailed { uid, message });
        }
        Outcome::Failed(message) => {
            add(&shared.counters.bind_failed);
            let failures = count_failure(shared, &uid);
            warn!(
                "binding pod {}/{} to {node} failed: {message}",
                pod.namespace, pod.name
            );
            drop(slot);
            if !shared.draining() {
                tokio::time::sleep(pause_after(failures)).await;
            }
            over();
            let message = message.into();
            shared.answer(Event::BindFailed { uid, message });
        }
    }
}

fn count_failure(shared: &Shared, uid: &Uid) -> u32 {
    let mut failures = lock(&shared.binds.failures);
    if failures.len() >= REMEMBERED && !failures.contains_key(uid) {
        failures.clear();
    }
    let count = failures.entry(uid.clone()).or_default();
    *count += 1;
    *count
}

async fn attempt(shared: &Shared, pod: &PodRef, node: &Text, added: &[(Text, Text)]) -> Outcome {
    shared.limiter.wait(Class::Bind).await;
    for _ in 0..THROTTLED_TRIES {
        // Looked at as late as can be: all of it may have changed while others were bound.
        if let Some(refusal) = shared.refusal() {
            return Outcome::Failed(refusal.to_owned());
        }
        match shared.store.node(node) {
            None => return Outcome::Failed(format!("node {node} is gone")),
            // The API server does not look whether there is such a node, and what we saw last may be long past.
            Some(_) if !shared.store.nodes_are_current() => match shared.door.get_node(node).await {
                Answer::Done(_) => {}
                Answer::Gone(_) => return Outcome::Failed(format!("node {node} is gone")),
                other => return Outcome::Failed(other.trouble().unwrap_or_default()),
            },
            Some(state) if !state.ready => {
                return Outcome::Failed(format!("node {node} is not ready any more"));
            }
            Some(_) => {}
        }
        let Some(known) = shared.store.pod(pod) else {
            return look_up(shared, pod, node, "the pod does not wait any more").await;
        };
        let both = with_added(known.annotations(), added);
        let annotations = both.as_deref().or(known.annotations());
        match shared.door.bind(pod, annotations, node).await {
            Answer::Done(_) => return Outcome::Bound,
            Answer::Throttled(pause) => tokio::time::sleep(pause).await,
            answer @ Answer::Refused { .. } => return Outcome::Failed(answer.trouble().unwrap_or_default()),
            answer => {
                add(&shared.counters.bind_looked_up);
                return look_up(shared, pod, node, &answer.trouble().unwrap_or_default()).await;
            }
        }
    }
    Outcome::Failed("too many requests (429)".to_owned())
}

/// The pod's own annotations and those added, which win; `None` when nothing is added.
fn with_added(own: Option<&RawValue>, added: &[(Text, Text)]) -> Option<Box<RawValue>> {
    if added.is_empty() {
        return None;
    }
    let own = own.map(|own| serde_json::from_str::<serde_json::Map<String, Value>>(own.get()));
    let mut all = own.and_then(Result::ok).unwrap_or_default();
    for (key, value) in added {
        all.insert(key.to_string(), Value::from(&**value));
    }
    to_raw_value(&all).ok()
}

/// Asks until it is known whether the pod is bound. Nothing is guessed: until then the bind is under way.
async fn look_up(shared: &Shared, pod: &PodRef, node: &Text, trouble: &str) -> Outcome {
    let mut pause = Duration::from_millis(100);
    loop {
        match shared.door.get_pod(pod).await {
            Answer::Done(json) => match serde_json::from_str::<PodSeen>(&json) {
                Ok(seen) if *seen.metadata.uid != *pod.uid => return Outcome::Gone,
                Ok(seen) if *seen.spec.node_name == **node => return Outcome::Bound,
                Ok(seen) if !seen.spec.node_name.is_empty() => return Outcome::Elsewhere(json),
                Ok(_) => return Outcome::Failed(trouble.to_owned()),
                Err(error) => return Outcome::Failed(format!("{trouble}; the pod cannot be read: {error}")),
            },
            Answer::Gone(_) => return Outcome::Gone,
            Answer::Throttled(asked) => pause = pause.max(asked),
            other => {
                let text = other.trouble().unwrap_or_default();
                debug!("looking up pod {}/{}: {text}", pod.namespace, pod.name);
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(10));
    }
}
