//! Whether the analyzer is alive and ready, with reasons.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::time::{Moment, nanos};

/// Alive means that evaluations go on; ready means that everything that had to be loaded at start was.
#[derive(Debug)]
pub struct Health {
    period: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    last_tick: Moment,
    waiting_for: BTreeMap<&'static str, bool>,
}

/// The answer to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Whether all is well.
    pub ok: bool,
    /// One line per thing that was looked at.
    pub lines: Vec<String>,
}

impl Health {
    /// Expects a tick every `period`.
    pub fn new(period: Duration, now: Moment) -> Self {
        Self {
            period,
            inner: Mutex::new(Inner {
                last_tick: now,
                waiting_for: BTreeMap::new(),
            }),
        }
    }

    /// The main loop went round.
    pub fn tick(&self, now: Moment) {
        self.lock().last_tick = now;
    }

    /// Readiness waits for this from now on.
    pub fn wait_for(&self, what: &'static str) {
        self.lock().waiting_for.insert(what, false);
    }

    /// What readiness waited for is there.
    pub fn arrived(&self, what: &'static str) {
        self.lock().waiting_for.insert(what, true);
    }

    /// Alive: the main loop went round within its last three periods, and at least within 3 s.
    pub fn live(&self, now: Moment) -> Probe {
        let allowed = nanos(self.period).saturating_mul(3).max(3_000_000_000);
        let since = now.nanos_since(self.lock().last_tick);
        let ok = since <= allowed;
        Probe {
            ok,
            lines: vec![line(
                "evaluation",
                ok,
                &format!("last one {} ms ago", since / 1_000_000),
            )],
        }
    }

    /// Ready: alive, and nothing is waited for.
    pub fn ready(&self, now: Moment) -> Probe {
        let mut probe = self.live(now);
        for (what, arrived) in &self.lock().waiting_for {
            probe.ok &= arrived;
            probe.lines.push(line(
                what,
                *arrived,
                if *arrived { "loaded" } else { "not loaded yet" },
            ));
        }
        probe
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn line(what: &str, ok: bool, detail: &str) -> String {
    format!("[{}] {what}: {detail}", if ok { '+' } else { '-' })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_loop_is_not_alive_and_not_ready() {
        let health = Health::new(Duration::from_secs(1), Moment(0));
        assert!(health.live(Moment(3_000_000_000)).ok);
        assert!(!health.live(Moment(3_000_000_001)).ok);
        health.tick(Moment(3_000_000_000));
        assert!(health.ready(Moment(4_000_000_000)).ok);
        assert!(!health.ready(Moment(9_000_000_000)).ok);
    }

    #[test]
    fn readiness_waits_for_what_it_was_told() {
        let health = Health::new(Duration::from_secs(1), Moment(0));
        health.wait_for("rules");
        let probe = health.ready(Moment(0));
        assert_eq!(
            (probe.ok, probe.lines[1].as_str()),
            (false, "[-] rules: not loaded yet")
        );
        health.arrived("rules");
        assert!(health.ready(Moment(0)).ok);
    }
}
