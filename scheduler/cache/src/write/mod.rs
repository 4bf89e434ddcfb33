//! Commands into API calls. Each kind has a lane of its own, so that a storm in one does not hold up another; what is owed an
//! answer gets exactly one.

mod bind;
mod condition;
mod counters;
mod evict;
mod group;
mod limit;
mod permit;
mod queue;
mod status;
mod tell;
mod trouble;

pub use counters::Counters;
pub use limit::Limits;
pub use permit::Permit;

use crate::command::Command;
use crate::delta::Delta;
use crate::door::Door;
use crate::store::Store;
use limit::Limiter;
use mco_model::Event;
use mco_model::spec::Text;
use mco_objects::{Kind, Options};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use trouble::Troubles;

/// Binds under way at once. More gain nothing: the API server is busy with fewer.
const BINDS_AT_ONCE: usize = 64;
/// Evictions under way at once.
const EVICTS_AT_ONCE: usize = 16;
/// Status writes under way at once.
const STATUS_AT_ONCE: usize = 32;

/// How writes are made.
#[derive(Clone, Debug)]
pub struct WriteSettings {
    /// Calls a second.
    pub limits: Limits,
    /// Who events come from: the first scheduler name.
    pub component: String,
    /// How objects in answers are read.
    pub options: Options,
    /// When writes may be started.
    pub permit: Permit,
}

/// Carries commands out.
#[derive(Clone)]
pub struct Writer {
    shared: Arc<Shared>,
    status: status::Lane,
}

/// What every lane needs.
pub(crate) struct Shared {
    pub(crate) door: Door,
    pub(crate) store: Arc<Store>,
    pub(crate) deltas: UnboundedSender<Delta>,
    pub(crate) settings: WriteSettings,
    pub(crate) limiter: Limiter,
    pub(crate) counters: Counters,
    pub(crate) troubles: Troubles,
    pub(crate) events: tell::Queue,
    binds: bind::Binds,
    bind_slots: Semaphore,
    evict_slots: Semaphore,
    status_slots: Semaphore,
    draining: AtomicBool,
}

impl Writer {
    /// Starts the lanes on the current runtime. Answers go to `deltas`.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        door: Door,
        store: Arc<Store>,
        deltas: UnboundedSender<Delta>,
        settings: WriteSettings,
    ) -> Self {
        let shared = Arc::new(Shared {
            door,
            store,
            deltas,
            limiter: Limiter::new(settings.limits),
            events: tell::Queue::new(settings.component.clone()),
            settings,
            counters: Counters::default(),
            troubles: Troubles::default(),
            binds: bind::Binds::default(),
            bind_slots: Semaphore::new(BINDS_AT_ONCE),
            evict_slots: Semaphore::new(EVICTS_AT_ONCE),
            status_slots: Semaphore::new(STATUS_AT_ONCE),
            draining: AtomicBool::new(false),
        });
        tell::start(&shared);
        Self {
            status: status::Lane::new(Arc::clone(&shared)),
            shared,
        }
    }

    /// Takes a command on. Never waits. To be called within the runtime that the writer was started on.
    pub fn send(&self, command: Command) {
        match command {
            Command::Bind {
                pod,
                node,
                annotations,
            } => {
                tokio::spawn(bind::bind(Arc::clone(&self.shared), pod, node, annotations));
            }
            Command::Evict { pod, reason, group } => {
                tokio::spawn(evict::evict(Arc::clone(&self.shared), pod, reason, group));
            }
            Command::GroupStatus { group, status } => self.status.want(status::Want::Group(group, status)),
            Command::PodCondition { pod, reason, message } => {
                self.status.want(status::Want::Condition(pod, reason, message));
            }
            Command::QueueAllocated { queue, allocated } => {
                self.status.want(status::Want::Queue(queue, allocated));
            }
            Command::Tell {
                about,
                warning,
                reason,
                message,
            } => self.shared.events.tell(
                &self.shared.counters,
                tell::Said {
                    about,
                    warning,
                    reason,
                    message,
                },
            ),
        }
    }

    /// Starts no bind and no eviction any more, answers those that wait as failed, and waits for those under way and for the
    /// last events, at most so long. Returns whether all ended.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.shared.draining.store(true, Ordering::Release);
        let ended = async {
            let all = |slots: usize| u32::try_from(slots).unwrap_or(u32::MAX);
            let _binds = self.shared.bind_slots.acquire_many(all(BINDS_AT_ONCE)).await;
            let _evicts = self.shared.evict_slots.acquire_many(all(EVICTS_AT_ONCE)).await;
            self.status.quiet().await;
            self.shared.events.quiet().await;
        };
        tokio::time::timeout(patience, ended).await.is_ok()
    }

    /// What was written so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

impl Shared {
    pub(crate) fn draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Nobody listens any more only when the process ends.
    pub(crate) fn answer(&self, event: Event) {
        let _ = self.deltas.send(Delta::Event(event));
    }

    /// An object as the API server has it comes in as if it was watched.
    pub(crate) fn answer_object(&self, kind: Kind, json: &str) {
        match mco_objects::decode_as(kind, json.as_bytes(), &self.settings.options) {
            Ok(decoded) => {
                if let Some(event) = decoded.event {
                    self.answer(event);
                }
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }

    /// Why a write may not be started now.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        if self.draining() {
            Some("the scheduler is stopping")
        } else if !self.settings.permit.holds() {
            Some("the lease is not held")
        } else {
            None
        }
    }
}

/// A panic elsewhere leaves what the lock guards as it was: nothing is changed in two steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// RFC 3339 in whole seconds.
pub(crate) fn now() -> String {
    moment(jiff::Timestamp::now())
}

fn moment(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(crate) fn moment_of(time: mco_model::time::Time) -> String {
    jiff::Timestamp::from_second(time.seconds()).map_or_else(|_| now(), moment)
}

/// Doubling pauses, per pod: 5 ms for the first failure, at most a minute.
pub(crate) fn pause_after(failures: u32) -> Duration {
    let millis = 5_u64.saturating_mul(1 << failures.saturating_sub(1).min(20));
    Duration::from_millis(millis.min(60_000))
}

/// A key of a pod that survives its name.
pub(crate) type Uid = Text;

#[cfg(test)]
mod tests;
