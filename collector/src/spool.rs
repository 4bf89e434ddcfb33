//! The samples that wait for the analyzer: bounded, the newest kept, what is lost counted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use mco_proto::v1::MetricsSnapshot;
use tokio::sync::Notify;

use crate::metrics::{DropReason, Metrics};

/// After this the analyzer's window is past a sample, and sending it only delays newer ones.
pub(crate) const USEFUL_FOR: Duration = Duration::from_secs(10);

/// A sample and when it was taken.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    pub(crate) snapshot: MetricsSnapshot,
    pub(crate) taken: Instant,
}

/// Samples between the thread that takes them and the task that sends them.
pub(crate) struct Spool {
    inner: Mutex<Inner>,
    filled: Notify,
    capacity: usize,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<Queued>,
    closed: bool,
}

impl Spool {
    pub(crate) fn new(capacity: usize, metrics: Arc<Metrics>) -> Self {
        Self {
            inner: Mutex::default(),
            filled: Notify::new(),
            capacity: capacity.max(1),
            metrics,
        }
    }

    /// Adds the newest sample; a full spool loses its oldest.
    pub(crate) fn push(&self, snapshot: MetricsSnapshot) {
        let mut inner = self.lock();
        inner.queue.push_back(Queued {
            snapshot,
            taken: Instant::now(),
        });
        self.trim(&mut inner);
        self.filled.notify_one();
    }

    /// Puts back, in order, what was sent without an answer.
    pub(crate) fn put_back(&self, unanswered: impl DoubleEndedIterator<Item = Queued>) {
        let mut inner = self.lock();
        for queued in unanswered.rev() {
            inner.queue.push_front(queued);
        }
        self.trim(&mut inner);
    }

    /// The oldest sample that is still of use. What is too old is dropped, except for the newest sample of all.
    pub(crate) fn pop(&self) -> Option<Queued> {
        let mut inner = self.lock();
        loop {
            let oldest = inner.queue.pop_front()?;
            if inner.queue.is_empty() || oldest.taken.elapsed() < USEFUL_FOR {
                return Some(oldest);
            }
            self.metrics.dropped(DropReason::Expired, 1);
        }
    }

    /// Returns when there is a sample to take, or when none will come any more.
    pub(crate) async fn wait(&self) {
        loop {
            let filled = self.filled.notified();
            {
                let inner = self.lock();
                if !inner.queue.is_empty() || inner.closed {
                    return;
                }
            }
            filled.await;
        }
    }

    /// No sample will come any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Whether none will come and none is left.
    pub(crate) fn is_finished(&self) -> bool {
        let inner = self.lock();
        inner.closed && inner.queue.is_empty()
    }

    fn trim(&self, inner: &mut Inner) {
        let excess = inner.queue.len().saturating_sub(self.capacity);
        inner.queue.drain(..excess);
        self.metrics.dropped(DropReason::BacklogFull, excess as u64);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while this lock is held cannot leave the queue half changed.
        self.inner
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(sequence: u64) -> MetricsSnapshot {
        MetricsSnapshot {
            sequence,
            ..Default::default()
        }
    }

    fn spool(capacity: usize) -> (Spool, Arc<Metrics>) {
        let metrics = Arc::new(Metrics::new());
        (Spool::new(capacity, metrics.clone()), metrics)
    }

    fn drain(spool: &Spool) -> Vec<u64> {
        std::iter::from_fn(|| spool.pop())
            .map(|queued| queued.snapshot.sequence)
            .collect()
    }

    #[test]
    fn a_full_spool_keeps_the_newest_and_counts_the_rest() {
        let (spool, metrics) = spool(3);
        (1..=5).for_each(|n| spool.push(sample(n)));
        assert_eq!(metrics.dropped_so_far(DropReason::BacklogFull), 2);
        assert_eq!(drain(&spool), [3, 4, 5]);
    }

    #[test]
    fn unanswered_samples_come_first_again_as_far_as_there_is_room() {
        let (spool, metrics) = spool(3);
        (1..=3).for_each(|n| spool.push(sample(n)));
        let unanswered = [spool.pop().unwrap(), spool.pop().unwrap()];
        spool.push(sample(4));
        spool.put_back(unanswered.into_iter());
        assert_eq!(drain(&spool), [2, 3, 4]);
        assert_eq!(metrics.dropped_so_far(DropReason::BacklogFull), 1);
    }

    #[test]
    fn samples_past_the_window_are_dropped_but_never_the_newest() {
        let (spool, metrics) = spool(5);
        let Some(long_ago) = Instant::now().checked_sub(USEFUL_FOR) else {
            return println!("booted seconds ago");
        };
        spool.put_back(
            (1..=3)
                .map(|n| Queued {
                    snapshot: sample(n),
                    taken: long_ago,
                })
                .collect::<Vec<_>>()
                .into_iter(),
        );
        assert_eq!(drain(&spool), [3]);
        assert_eq!(metrics.dropped_so_far(DropReason::Expired), 2);
    }
}
