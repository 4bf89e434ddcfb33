//! Leave to write: without a lease to hold, always; with one, until a little before it may end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No writes are started so close to the end of the lease.
const MARGIN: Duration = Duration::from_secs(2);

/// Whether writes may be started. Clones share it.
#[derive(Clone, Debug)]
pub struct Permit {
    began: Instant,
    /// Milliseconds after `began` until which it holds.
    until: Arc<AtomicU64>,
}

impl Permit {
    /// Always.
    #[must_use]
    pub fn always() -> Self {
        Self {
            began: Instant::now(),
            until: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Not before it is granted.
    #[must_use]
    pub fn none() -> Self {
        let permit = Self::always();
        permit.revoke();
        permit
    }

    /// Until shortly before the end of a lease.
    pub fn grant_until(&self, end: Instant) {
        let last = end.saturating_duration_since(self.began).saturating_sub(MARGIN);
        self.until.store(
            u64::try_from(last.as_millis()).unwrap_or(u64::MAX),
            Ordering::Release,
        );
    }

    /// No longer.
    pub fn revoke(&self) {
        self.until.store(0, Ordering::Release);
    }

    /// Whether a write may be started now.
    #[must_use]
    pub fn holds(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == u64::MAX || self.began.elapsed().as_millis() < u128::from(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_before_the_lease_does() {
        let permit = Permit::none();
        assert!(!permit.holds());
        permit.grant_until(Instant::now() + Duration::from_secs(3600));
        assert!(permit.holds());
        permit.grant_until(Instant::now() + Duration::from_secs(1));
        assert!(!permit.holds(), "within the margin");
        permit.grant_until(Instant::now() + Duration::from_secs(3600));
        permit.revoke();
        assert!(!permit.holds());
        assert!(Permit::always().holds());
    }
}
