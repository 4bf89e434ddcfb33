//! What is known of all watches together: which have listed, which fail and why; and what is said of it, once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mco_objects::Kind;
use tracing::{info, warn};

use super::resource::Resource;

/// How a watch is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not listed yet, and nothing went wrong.
    Starting,
    /// It listed, and goes on.
    Listed,
    /// 404: the API server does not serve the kind. Looked for again and again.
    Absent,
    /// 403: the right to list and watch is missing. What was seen before stays. Tried again and again.
    Forbidden(String),
    /// It fails, and is tried again.
    Failing(String),
}

/// One watch.
#[derive(Clone, Debug)]
pub struct KindStatus {
    /// What it watches.
    pub kind: Kind,
    /// How it is doing.
    pub state: State,
    /// For how long it has been so.
    pub since: Duration,
    /// Objects known.
    pub objects: usize,
    /// Objects among them that cannot be read.
    pub unreadable: usize,
    /// How often all objects were listed.
    pub lists: u64,
    /// Changes seen.
    pub changes: u64,
    /// Calls that failed.
    pub failures: u64,
}

/// All watches, for health and metrics.
#[derive(Clone, Debug)]
pub struct Status {
    /// Every kind has been listed, or is known not to be there to list.
    pub complete: bool,
    /// Kind by kind.
    pub kinds: Vec<KindStatus>,
}

impl Status {
    /// What stands in the way of the first cycle; empty when nothing does.
    #[must_use]
    pub fn missing(&self) -> Vec<&KindStatus> {
        if self.complete {
            return Vec::new();
        }
        let missing = |kind: &&KindStatus| matches!(kind.state, State::Starting | State::Failing(_));
        self.kinds.iter().filter(missing).collect()
    }
}

/// What tells one reason to fail from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server answered with this code.
    Refused(u16),
    /// There was no answer, or none that can be understood.
    Unanswered,
}

/// Counts of one watch, changed without a lock.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    objects: AtomicUsize,
    unreadable: AtomicUsize,
    lists: AtomicU64,
    changes: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    resource: Resource,
    state: State,
    since: Instant,
    /// It listed or is not there to list.
    settled: bool,
    failing: Option<Failure>,
    counts: Counts,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Board(Mutex<Vec<Entry>>);

impl Board {
    pub(crate) fn new(resources: &[Resource]) -> Self {
        let entry = |resource: &Resource| Entry {
            resource: *resource,
            state: State::Starting,
            since: Instant::now(),
            settled: false,
            failing: None,
            counts: Counts::default(),
        };
        Self(Mutex::new(resources.iter().map(entry).collect()))
    }

    pub(crate) fn status(&self) -> Status {
        let entries = self.lock();
        let kinds = entries.iter().map(|entry| KindStatus {
            kind: entry.resource.kind,
            state: entry.state.clone(),
            since: entry.since.elapsed(),
            objects: entry.counts.objects.load(Ordering::Relaxed),
            unreadable: entry.counts.unreadable.load(Ordering::Relaxed),
            lists: entry.counts.lists.load(Ordering::Relaxed),
            changes: entry.counts.changes.load(Ordering::Relaxed),
            failures: entry.counts.failures.load(Ordering::Relaxed),
        });
        Status {
            complete: entries.iter().all(|entry| entry.settled),
            kinds: kinds.collect(),
        }
    }

    /// The kind has been listed. Returns whether this makes all complete, which happens once.
    pub(crate) fn listed(&self, kind: Kind) -> bool {
        let mut entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return false;
        };
        entries[at].counts.lists.fetch_add(1, Ordering::Relaxed);
        let resource = entries[at].resource;
        match entries[at].state {
            State::Absent => info!("{} are served now", resource.full_name()),
            State::Forbidden(_) => info!("{} may be watched now", resource.full_name()),
            State::Starting | State::Listed | State::Failing(_) => {}
        }
        over(&mut entries, at);
        entries[at].enter(State::Listed);
        settle(&mut entries, at)
    }

    /// A watch that had listed was taken up again.
    pub(crate) fn resumed(&self, kind: Kind) {
        let mut entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return;
        };
        over(&mut entries, at);
        entries[at].enter(State::Listed);
    }

    /// The kind is not served. Returns whether this makes all complete.
    pub(crate) fn absent(&self, kind: Kind, again: Duration) -> bool {
        let mut entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return false;
        };
        let resource = entries[at].resource;
        entries[at].counts.failures.fetch_add(1, Ordering::Relaxed);
        if entries[at].state != State::Absent {
            warn!(
                "{} are not served by the API server: {}; going on without them, looking again every {} s",
                resource.full_name(),
                resource.how_to_install(),
                again.as_secs(),
            );
        }
        over(&mut entries, at);
        entries[at].enter(State::Absent);
        settle(&mut entries, at)
    }

    /// The right to watch the kind is missing. Returns whether this makes all complete.
    pub(crate) fn forbidden(&self, kind: Kind, message: &str, again: Duration) -> bool {
        let mut entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return false;
        };
        let resource = entries[at].resource;
        entries[at].counts.failures.fetch_add(1, Ordering::Relaxed);
        if !matches!(entries[at].state, State::Forbidden(_)) {
            warn!(
                "may not watch {}: {message}; add to the scheduler's ClusterRole: apiGroups [{:?}], resources [{:?}], verbs \
                 [\"list\", \"watch\"]; going on without, trying again every {} s",
                resource.full_name(),
                resource.group,
                resource.plural,
                again.as_secs(),
            );
        }
        over(&mut entries, at);
        entries[at].enter(State::Forbidden(message.to_owned()));
        settle(&mut entries, at)
    }

    /// A call failed. What all watches suffer from is said once, by the first.
    pub(crate) fn failing(&self, kind: Kind, failure: Failure, message: String) {
        let mut entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return;
        };
        entries[at].counts.failures.fetch_add(1, Ordering::Relaxed);
        if entries[at].failing != Some(failure) {
            let told = entries.iter().any(|entry| entry.failing == Some(failure));
            over_with(&mut entries, at, Some(failure));
            if !told {
                warn!(
                    "cannot watch {}, trying again: {message}{}",
                    entries[at].resource.full_name(),
                    advice(failure)
                );
            }
        }
        entries[at].failing = Some(failure);
        entries[at].enter(State::Failing(message));
    }

    pub(crate) fn changed(&self, kind: Kind, objects: usize, unreadable: usize) {
        let entries = self.lock();
        let Some(at) = position(&entries, kind) else {
            return;
        };
        let counts = &entries[at].counts;
        counts.changes.fetch_add(1, Ordering::Relaxed);
        counts.objects.store(objects, Ordering::Relaxed);
        counts.unreadable.store(unreadable, Ordering::Relaxed);
    }

    /// A panic elsewhere leaves entries as they were: nothing is changed in two steps.
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn enter(&mut self, state: State) {
        if std::mem::discriminant(&self.state) != std::mem::discriminant(&state) {
            self.since = Instant::now();
        }
        self.state = state;
    }
}

fn position(entries: &[Entry], kind: Kind) -> Option<usize> {
    entries.iter().position(|entry| entry.resource.kind == kind)
}

/// Returns whether this was the last that was not settled.
fn settle(entries: &mut [Entry], at: usize) -> bool {
    let news = !std::mem::replace(&mut entries[at].settled, true);
    news && entries.iter().all(|entry| entry.settled)
}

fn over(entries: &mut [Entry], at: usize) {
    over_with(entries, at, None);
}

/// The watch no longer fails as it did; said when it was the last that did.
fn over_with(entries: &mut [Entry], at: usize, next: Option<Failure>) {
    let Some(failure) = std::mem::replace(&mut entries[at].failing, next) else {
        return;
    };
    if entries.iter().any(|entry| entry.failing == Some(failure)) {
        return;
    }
    match failure {
        Failure::Unanswered => info!("the API server answers all watches again"),
        Failure::Refused(code) => info!("no watch is refused with {code} any more"),
    }
}

fn advice(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused(401) => {
            " (401: the API server does not know the credentials; check the service account's token)"
        }
        Failure::Refused(429) => " (429: the API server is busy)",
        Failure::Refused(_) | Failure::Unanswered => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::resource;

    fn board() -> Board {
        Board::new(&resource::ALL[..3])
    }

    const AGAIN: Duration = Duration::from_secs(10);

    #[test]
    fn all_are_complete_once_when_each_was_listed_or_is_not_there_to_list() {
        let board = board();
        board.failing(Kind::Namespace, Failure::Unanswered, "refused".to_owned());
        assert!(!board.listed(Kind::Queue));
        assert!(!board.absent(Kind::PriorityClass, AGAIN));
        assert!(!board.absent(Kind::PriorityClass, AGAIN));
        let status = board.status();
        assert!(!status.complete);
        let missing: Vec<Kind> = status.missing().iter().map(|kind| kind.kind).collect();
        assert_eq!(missing, [Kind::Namespace]);
        assert!(board.listed(Kind::Namespace));
        assert!(!board.listed(Kind::Namespace), "only once");
        assert!(board.status().complete && board.status().missing().is_empty());
    }

    #[test]
    fn a_failure_after_completion_is_seen_but_takes_nothing_back() {
        let board = board();
        for kind in [Kind::Queue, Kind::PriorityClass, Kind::Namespace] {
            board.listed(kind);
        }
        board.failing(Kind::Queue, Failure::Refused(500), "broken".to_owned());
        let status = board.status();
        assert!(status.complete);
        assert_eq!(status.kinds[0].state, State::Failing("broken".to_owned()));
        assert_eq!(status.kinds[0].failures, 1);
        board.resumed(Kind::Queue);
        assert_eq!(board.status().kinds[0].state, State::Listed);
    }
}
