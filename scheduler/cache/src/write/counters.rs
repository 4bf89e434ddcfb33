//! What was written and what came of it, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Counters {
    /// Binds that took effect, those included whose answer was lost and that were found.
    pub bound: AtomicU64,
    /// Binds that failed.
    pub bind_failed: AtomicU64,
    /// Binds whose answer was lost, and that were looked up.
    pub bind_looked_up: AtomicU64,
    /// Binds under way.
    pub binding: AtomicU64,
    /// Evictions that took effect.
    pub evicted: AtomicU64,
    /// Evictions that failed.
    pub evict_failed: AtomicU64,
    /// Status writes of PodGroups.
    pub groups: AtomicU64,
    /// Status writes of pods.
    pub conditions: AtomicU64,
    /// Status writes of queues.
    pub queues: AtomicU64,
    /// Status writes that failed, whatever the kind.
    pub status_failed: AtomicU64,
    /// Events written, repetitions included.
    pub events: AtomicU64,
    /// Events that were dropped because too many waited, or the object had too many, or they could not be written.
    pub events_dropped: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
