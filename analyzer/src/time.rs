//! The analyzer's clock: a monotonic one for order and age, a wall clock only for what people read.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds on the analyzer's monotonic clock, from an arbitrary start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    /// The time from `earlier` to here; negative when `earlier` is later.
    pub fn nanos_since(self, earlier: Moment) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A duration in nanoseconds, cut to what an `i64` holds.
pub fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Where the analyzer gets its time from.
pub trait Clock: Send + Sync + 'static {
    /// Now, monotonic.
    fn now(&self) -> Moment;
    /// Now, in microseconds since 1970.
    fn wall_micros(&self) -> i64;
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Moment(nanos(self.start.elapsed()))
    }

    fn wall_micros(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| {
            i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
        })
    }
}

/// A clock that stands still until told otherwise, for tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: std::sync::atomic::AtomicI64,
}

impl ManualClock {
    /// Moves on.
    pub fn advance(&self, by: Duration) {
        self.now.fetch_add(nanos(by), std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment(self.now.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn wall_micros(&self) -> i64 {
        self.now.load(std::sync::atomic::Ordering::SeqCst) / 1000
    }
}

/// Places a node's monotonic readings on the analyzer's clock.
///
/// The smallest difference between arrival and the node's reading belongs to the message that was delayed least, so
/// a backlog that arrives in one burst after an outage keeps its true ages. Only recent differences count, since
/// two clocks drift apart.
#[derive(Clone, Debug, Default)]
pub struct ClockOffset {
    current: Option<Smallest>,
    previous: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Smallest {
    since: Moment,
    difference: i64,
}

/// For how long a difference counts at least; at most twice that.
const RECENT_NANOS: i64 = 15_000_000_000;

impl ClockOffset {
    /// Learns from a message.
    pub fn observe(&mut self, arrived: Moment, node_nanos: i64) {
        let difference = arrived.0.saturating_sub(node_nanos);
        match &mut self.current {
            Some(smallest) if arrived.nanos_since(smallest.since) < RECENT_NANOS => {
                smallest.difference = smallest.difference.min(difference);
            }
            current => {
                self.previous = current.map(|smallest| smallest.difference);
                *current = Some(Smallest {
                    since: arrived,
                    difference,
                });
            }
        }
    }

    /// When the node took the reading; never after it arrived.
    pub fn place(&self, arrived: Moment, node_nanos: i64) -> Moment {
        let Some(current) = self.current else {
            return arrived;
        };
        let difference = self
            .previous
            .map_or(current.difference, |previous| previous.min(current.difference));
        Moment(node_nanos.saturating_add(difference)).min(arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_backlog_keeps_its_ages() {
        let mut offset = ClockOffset::default();
        let arrived = Moment(100 * SECOND);
        // Thirty samples, one a second, all arriving at once; the last one is fresh.
        for node in 1..=30 {
            offset.observe(arrived, node * SECOND);
        }
        assert_eq!(offset.place(arrived, 30 * SECOND), arrived);
        assert_eq!(offset.place(arrived, 10 * SECOND), Moment(80 * SECOND));
    }

    #[test]
    fn a_drifting_clock_does_not_age_its_samples() {
        let mut offset = ClockOffset::default();
        // The node's clock is 1 % slow, far worse than any real one.
        for second in 0..1000 {
            let (arrived, node) = (Moment(second * SECOND), second * SECOND / 100 * 99);
            offset.observe(arrived, node);
            let age = arrived.nanos_since(offset.place(arrived, node));
            assert!((0..SECOND / 2).contains(&age), "{age} ns at {second} s");
        }
    }
}
