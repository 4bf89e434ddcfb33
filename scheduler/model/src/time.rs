//! Moments and spans as events carry them; the core never asks a clock.

use std::ops::Sub;

/// A moment in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The moment `seconds` after the Unix epoch.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Whole seconds since the Unix epoch, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

impl Sub for Time {
    /// Seconds; negative when `other` lies later.
    type Output = f64;

    fn sub(self, other: Self) -> f64 {
        (self.0.saturating_sub(other.0)) as f64 / 1000.0
    }
}
