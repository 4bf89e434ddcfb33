//! Status writes: one under way per object, the latest wish wins, and what only rewords waits until the wording holds still.

use super::condition::{self, Change};
use super::counters::add;
use super::limit::Class;
use super::tell::Said;
use super::{Shared, Uid, group, lock, now, pause_after, queue};
use crate::command::{About, GroupRef, PodRef};
use crate::door::Answer;
use mco_model::event::{Amounts, PodGroupStatus};
use mco_model::spec::Text;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Counts in messages move while a job's pods are being created. They are written once they have stood still this long.
const WORDING_HOLDS: Duration = Duration::from_secs(2);
/// How often a wish that waits is looked at again.
const LOOK: Duration = Duration::from_millis(200);
/// The longest pause between tries of a write that nobody asks for again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A status that an object is to have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Want {
    Group(GroupRef, PodGroupStatus),
    Condition(PodRef, Text, Text),
    Queue(Text, Amounts),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Group(Uid),
    Pod(Uid),
    Queue(Text),
}

impl Want {
    fn key(&self) -> Key {
        match self {
            Self::Group(group, _) => Key::Group(group.uid.clone()),
            Self::Condition(pod, ..) => Key::Pod(pod.uid.clone()),
            Self::Queue(name, _) => Key::Queue(name.clone()),
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Group(..) => "writing the status of a PodGroup",
            Self::Condition(..) => "writing the condition of a pod",
            Self::Queue(..) => "writing the status of a queue",
        }
    }
}

/// What is wanted of one object. It is there as long as somebody works on it.
struct Slot {
    want: Want,
    /// Since when exactly this is wanted.
    since: Instant,
    failures: u32,
}

/// The lane.
#[derive(Clone)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
    slots: Arc<Mutex<HashMap<Key, Slot>>>,
}

/// What came of one look at a wish.
enum Step {
    /// There is nothing more to do about it.
    Settled,
    /// To be looked at again.
    Again(Duration),
    /// A newer version of the object is to be waited for.
    Stale,
    Failed(String),
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            slots: Arc::default(),
        }
    }

    /// Takes a wish on.
    pub(crate) fn want(&self, want: Want) {
        let key = want.key();
        let mut slots = lock(&self.slots);
        match slots.get_mut(&key) {
            Some(slot) if slot.want == want => {}
            Some(slot) => {
                slot.want = want;
                slot.since = Instant::now();
            }
            None => {
                let slot = Slot {
                    want,
                    since: Instant::now(),
                    failures: 0,
                };
                slots.insert(key.clone(), slot);
                let lane = self.clone();
                tokio::spawn(async move { lane.work(key).await });
            }
        }
    }

    /// Returns when nothing is wanted any more.
    pub(crate) async fn quiet(&self) {
        while !lock(&self.slots).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn work(&self, key: Key) {
        loop {
            let Some((want, since)) = lock(&self.slots)
                .get(&key)
                .map(|slot| (slot.want.clone(), slot.since))
            else {
                return;
            };
            let pause = match self.step(&want, since).await {
                Step::Settled => {
                    let mut slots = lock(&self.slots);
                    if slots.get(&key).is_some_and(|slot| slot.want == want) {
                        slots.remove(&key);
                        return;
                    }
                    continue;
                }
                Step::Again(pause) => pause,
                Step::Stale => match self.pause(&key) {
                    Some(pause) => pause,
                    None => return,
                },
                Step::Failed(trouble) => {
                    add(&self.shared.counters.status_failed);
                    let class = trouble.rsplit('(').next().unwrap_or_default().to_owned();
                    self.shared.troubles.met(want.what(), class, &trouble);
                    match self.pause(&key) {
                        Some(pause) => pause,
                        None => return,
                    }
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// How long to wait before the next try; `None` when there is to be none.
    fn pause(&self, key: &Key) -> Option<Duration> {
        let mut slots = lock(&self.slots);
        if self.shared.draining() {
            slots.remove(key);
            return None;
        }
        let slot = slots.get_mut(key)?;
        slot.failures += 1;
        Some(pause_after(slot.failures.saturating_mul(3)).min(LONGEST_PAUSE))
    }

    async fn step(&self, want: &Want, since: Instant) -> Step {
        let shared = &*self.shared;
        let Ok(_slot) = shared.status_slots.acquire().await else {
            return Step::Settled;
        };
        let change = match want {
            Want::Group(group, status) => match shared.store.group(group) {
                Some(known) => group::merged(known.json.get(), status),
                None => return Step::Settled,
            },
            Want::Condition(pod, reason, message) => match shared.store.pod(pod) {
                Some(known) => condition::scheduled(&known, reason, message, &now()),
                None => return Step::Settled,
            },
            Want::Queue(name, allocated) => match shared.store.queue(name) {
                Some(known) => queue::merged(known.json.get(), allocated),
                None => return Step::Settled,
            },
        };
        let body = match change {
            None | Some(Change::None) => return Step::Settled,
            Some(Change::Wording(_)) if shared.draining() => return Step::Settled,
            Some(Change::Wording(_)) if since.elapsed() < WORDING_HOLDS => return Step::Again(LOOK),
            Some(Change::Wording(body) | Change::Substance(body)) => body,
        };
        if !shared.settings.permit.holds() {
            return if shared.draining() {
                Step::Settled
            } else {
                Step::Again(LOOK)
            };
        }
        shared.limiter.wait(Class::Status).await;
        match want {
            Want::Group(group, _) => {
                let answer = shared.door.put_group(group, &body).await;
                self.conclude(want, answer, |json| shared.store.replace_group(json))
            }
            Want::Condition(pod, _, message) => {
                let Some(known) = shared.store.pod(pod) else {
                    return Step::Settled;
                };
                let answer = shared.door.put_pod_status(pod, &known.metadata, &body).await;
                if matches!(answer, Answer::Done(_)) {
                    shared.events.tell(
                        &shared.counters,
                        Said {
                            about: About::Pod(pod.clone()),
                            warning: true,
                            reason: "FailedScheduling".into(),
                            message: message.clone(),
                        },
                    );
                }
                self.conclude(want, answer, |json| shared.store.replace_pod(json))
            }
            Want::Queue(name, _) => {
                let answer = shared.door.put_queue_status(name, &body).await;
                self.conclude(want, answer, |json| shared.store.replace_queue(json))
            }
        }
    }

    fn conclude(
        &self,
        want: &Want,
        answer: Answer,
        keep: impl FnOnce(&str) -> Result<(), serde_json::Error>,
    ) -> Step {
        let counters = &self.shared.counters;
        match answer {
            Answer::Done(json) => {
                add(match want {
                    Want::Group(..) => &counters.groups,
                    Want::Condition(..) => &counters.conditions,
                    Want::Queue(..) => &counters.queues,
                });
                self.shared.troubles.over(want.what());
                if let Err(error) = keep(&json) {
                    tracing::warn!("the answer to {} cannot be read: {error}", want.what());
                }
                Step::Settled
            }
            // A newer version is on its way by the watch.
            Answer::Conflict(_) => Step::Stale,
            Answer::Gone(_) => Step::Settled,
            Answer::Throttled(pause) => Step::Again(pause),
            // Whether it was lost on the way there or back shows when it is sent again at the same version.
            other => Step::Failed(other.trouble().unwrap_or_default()),
        }
    }
}
