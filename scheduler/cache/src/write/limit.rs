//! How many calls a second, and who goes first: one bucket of tokens, of which the less urgent may not take the last.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Urgency of a call, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Binds.
    Bind,
    /// Evictions.
    Evict,
    /// Status of PodGroups, pods and queues.
    Status,
    /// Events.
    Event,
}

impl Class {
    /// The part of the burst that is left to those more urgent.
    fn reserve(self) -> f64 {
        match self {
            Self::Bind => 0.0,
            Self::Evict => 0.05,
            Self::Status => 0.2,
            Self::Event => 0.4,
        }
    }
}

/// `--kube-api-qps` and `--kube-api-burst`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Calls a second; 0 and less do not limit.
    pub qps: f64,
    /// Calls at once; at least 1.
    pub burst: f64,
}

/// A bucket of tokens; times are seconds on any clock that only goes forward.
#[derive(Debug)]
pub(crate) struct Bucket {
    limits: Limits,
    tokens: f64,
    filled_at: f64,
}

impl Bucket {
    pub(crate) fn new(limits: Limits) -> Self {
        let burst = limits.burst.max(1.0);
        Self {
            limits: Limits { burst, ..limits },
            tokens: burst,
            filled_at: 0.0,
        }
    }

    /// Takes a token, or says in how many seconds there may be one.
    pub(crate) fn take(&mut self, now: f64, class: Class) -> Result<(), f64> {
        if self.limits.qps <= 0.0 {
            return Ok(());
        }
        let passed = (now - self.filled_at).max(0.0);
        self.tokens = (self.tokens + passed * self.limits.qps).min(self.limits.burst);
        self.filled_at = now;
        let reserved = (self.limits.burst * class.reserve()).min(self.limits.burst - 1.0);
        if self.tokens >= reserved + 1.0 {
            self.tokens -= 1.0;
            Ok(())
        } else {
            Err((reserved + 1.0 - self.tokens) / self.limits.qps)
        }
    }
}

/// A bucket that callers wait at.
#[derive(Debug)]
pub(crate) struct Limiter {
    bucket: Mutex<Bucket>,
    began: Instant,
}

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            bucket: Mutex::new(Bucket::new(limits)),
            began: Instant::now(),
        }
    }

    pub(crate) async fn wait(&self, class: Class) {
        loop {
            let taken = super::lock(&self.bucket).take(self.began.elapsed().as_secs_f64(), class);
            match taken {
                Ok(()) => return,
                Err(seconds) => tokio::time::sleep(Duration::from_secs_f64(seconds.max(0.001))).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_the_last_tokens_to_binds() {
        let mut bucket = Bucket::new(Limits {
            qps: 10.0,
            burst: 10.0,
        });
        let events = std::iter::repeat_with(|| bucket.take(0.0, Class::Event))
            .take_while(Result::is_ok)
            .count();
        assert_eq!(events, 6);
        let binds = std::iter::repeat_with(|| bucket.take(0.0, Class::Bind))
            .take_while(Result::is_ok)
            .count();
        assert_eq!(binds, 4);
        assert_eq!(bucket.take(0.0, Class::Bind), Err(0.1));
        assert_eq!(bucket.take(0.1, Class::Bind), Ok(()));
        assert_eq!(bucket.take(1.0, Class::Event), Ok(()), "nothing starves");
    }

    #[test]
    fn a_burst_of_one_serves_every_class_and_no_rate_is_no_limit() {
        let mut single = Bucket::new(Limits { qps: 1.0, burst: 0.0 });
        assert_eq!(single.take(0.0, Class::Event), Ok(()));
        assert!(single.take(0.5, Class::Bind).is_err());
        let mut open = Bucket::new(Limits { qps: 0.0, burst: 1.0 });
        assert!((0..1000).all(|_| open.take(0.0, Class::Event).is_ok()));
    }
}
