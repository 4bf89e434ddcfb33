//! How long to wait before trying again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(400);
/// An API server that comes back is noticed within this.
const LONGEST: Duration = Duration::from_secs(10);

/// Doubling pauses, each a little different by who waits, so that not all come at once.
pub(crate) struct Pause {
    failures: u32,
    /// From 1 to 1.5.
    stretch: f64,
}

impl Pause {
    pub(crate) fn new(who: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        who.hash(&mut hasher);
        std::process::id().hash(&mut hasher);
        let part = (hasher.finish() % 1024) as f64 / 1024.0;
        Self {
            failures: 0,
            stretch: 1.0 + part / 2.0,
        }
    }

    /// The pause after one more failure.
    pub(crate) fn next(&mut self) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        doubled.min(LONGEST).mul_f64(self.stretch).min(LONGEST)
    }

    /// It worked.
    pub(crate) fn over(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_ten_seconds_and_begin_anew_after_success() {
        let mut pause = Pause::new("pods");
        let pauses: Vec<Duration> = (0..40).map(|_| pause.next()).collect();
        assert!(pauses[0] >= FIRST && pauses[0] < FIRST * 2);
        assert!(pauses.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(pauses[39], LONGEST);
        pause.over();
        assert_eq!(pause.next(), pauses[0]);
    }
}
