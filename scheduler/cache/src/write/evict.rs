//! Evictions: the pod is told and marked, then deleted. A pod that is already marked is deleted all the same.

use super::condition::with_condition;
use super::counters::add;
use super::limit::Class;
use super::tell::Said;
use super::{Shared, now};
use crate::command::{About, GroupRef, PodRef};
use crate::door::{Answer, PodSeen};
use mco_model::Event;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// Evicts the pod, and answers when that failed.
pub(crate) async fn evict(shared: Arc<Shared>, pod: PodRef, reason: &'static str, group: Option<GroupRef>) {
    let outcome = {
        let Ok(_slot) = shared.evict_slots.acquire().await else {
            return;
        };
        attempt(&shared, &pod, reason).await
    };
    match outcome {
        Ok(()) => {
            add(&shared.counters.evicted);
            let tell = |about, warning, message: String| Said {
                about,
                warning,
                reason: "Evict".into(),
                message: message.into(),
            };
            shared
                .events
                .tell_once(&shared.counters, tell(About::Pod(pod), true, told(reason)));
            if let Some(group) = group {
                let said = tell(About::PodGroup(group), false, reason.to_owned());
                shared.events.tell_once(&shared.counters, said);
            }
        }
        Err(message) => {
            add(&shared.counters.evict_failed);
            warn!("evicting pod {}/{} failed: {message}", pod.namespace, pod.name);
            shared.answer(Event::EvictFailed {
                uid: pod.uid,
                message: message.into(),
            });
        }
    }
}

fn told(reason: &str) -> String {
    format!("Pod is evicted, because of {reason}")
}

async fn attempt(shared: &Shared, pod: &PodRef, reason: &str) -> Result<(), String> {
    shared.limiter.wait(Class::Evict).await;
    if let Some(refusal) = shared.refusal() {
        return Err(refusal.to_owned());
    }
    let Some(json) = current(shared, pod).await? else {
        return Ok(()); // It is gone already, or going.
    };
    mark(shared, pod, reason, &json).await;
    delete(shared, pod).await
}

/// The pod as it is; `None` when there is nothing left to evict.
async fn current(shared: &Shared, pod: &PodRef) -> Result<Option<String>, String> {
    match shared.door.get_pod(pod).await {
        Answer::Done(json) => match serde_json::from_str::<PodSeen>(&json) {
            Ok(seen) if *seen.metadata.uid != *pod.uid || seen.metadata.deletion_timestamp.is_some() => {
                Ok(None)
            }
            Ok(_) => Ok(Some(json)),
            Err(error) => Err(format!("the pod cannot be read: {error}")),
        },
        Answer::Gone(_) => Ok(None),
        other => Err(other.trouble().unwrap_or_default()),
    }
}

/// The mark is for people and controllers to see; the eviction does not depend on it.
async fn mark(shared: &Shared, pod: &PodRef, reason: &str, json: &str) {
    #[derive(Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
        #[serde(default)]
        status: Value,
    }
    let Ok(parts) = serde_json::from_str::<Parts<'_>>(json) else {
        return;
    };
    let Some(status) = with_condition(parts.status, "Ready", "Evict", &told(reason), &now()) else {
        return;
    };
    let answer = shared.door.put_pod_status(pod, parts.metadata, &status).await;
    if let Some(trouble) = answer.trouble() {
        warn!(
            "marking pod {}/{} as evicted failed: {trouble}",
            pod.namespace, pod.name
        );
    }
}

async fn delete(shared: &Shared, pod: &PodRef) -> Result<(), String> {
    let mut pause = Duration::from_millis(100);
    loop {
        match shared.door.delete_pod(pod).await {
            Answer::Done(_) | Answer::Gone(_) => return Ok(()),
            // The pod of that UID is gone.
            Answer::Conflict(_) => return Ok(()),
            answer @ Answer::Refused { .. } => return Err(answer.trouble().unwrap_or_default()),
            Answer::Throttled(asked) => tokio::time::sleep(asked).await,
            // Deleting the same pod twice does no harm, so the look-up is the deletion itself.
            Answer::Lost(message) => {
                if shared.draining() {
                    return Err(message);
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(10));
            }
        }
    }
}
