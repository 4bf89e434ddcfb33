//! Whether the process lives and is ready, as its parts report it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A loop that has not turned for so many periods is dead. A long cycle is not: it has this much time at least.
const PERIODS: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(120);

/// What the pages show.
#[derive(Debug)]
pub struct Health {
    began: Instant,
    period: Duration,
    /// Milliseconds after the start when the loop last turned.
    turned: AtomicU64,
    complete: AtomicBool,
    conf_read: AtomicBool,
    leading: AtomicBool,
    note: Mutex<String>,
}

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// It is well.
    pub well: bool,
    /// One line per part, `[+]` for what is well and `[-]` for what is not.
    pub lines: Vec<String>,
}

impl Health {
    /// Of a process that has just begun, with cycles this far apart.
    #[must_use]
    pub fn new(period: Duration) -> Self {
        Self {
            began: Instant::now(),
            period,
            turned: AtomicU64::new(0),
            complete: AtomicBool::new(false),
            conf_read: AtomicBool::new(false),
            leading: AtomicBool::new(false),
            note: Mutex::default(),
        }
    }

    /// The loop turned, be it that there was nothing to do.
    pub fn turned(&self) {
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.turned.store(millis, Ordering::Release);
    }

    /// Everything has been listed once.
    pub fn complete(&self) {
        self.complete.store(true, Ordering::Release);
    }

    /// The configuration was read, or is not in a file.
    pub fn conf_read(&self) {
        self.conf_read.store(true, Ordering::Release);
    }

    /// The process writes.
    pub fn leading(&self, leading: bool) {
        self.leading.store(leading, Ordering::Release);
    }

    /// What is known of watches, for `?verbose`.
    pub fn note(&self, note: String) {
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = note;
    }

    /// The loop turns. A server that is away kills nobody.
    #[must_use]
    pub fn live(&self) -> Probe {
        let turned = Duration::from_millis(self.turned.load(Ordering::Acquire));
        let ago = self.began.elapsed().saturating_sub(turned);
        let patience = PATIENCE.max(self.period.saturating_mul(PERIODS));
        probe(vec![(
            ago <= patience,
            format!("cycle: the loop turned {} s ago", ago.as_secs()),
        )])
    }

    /// Everything has been listed and the configuration read. Who waits for the Lease is ready.
    #[must_use]
    pub fn ready(&self) -> Probe {
        let flag = |flag: &AtomicBool| flag.load(Ordering::Acquire);
        let mut probe = probe(vec![
            (
                flag(&self.complete),
                "caches: everything has been listed once".to_owned(),
            ),
            (flag(&self.conf_read), "configuration: it was read".to_owned()),
        ]);
        let leading = if flag(&self.leading) {
            "it decides"
        } else {
            "another decides"
        };
        probe.lines.push(format!("[i] lease: {leading}"));
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        probe.lines.extend(note.lines().map(|line| format!("[i] {line}")));
        probe
    }
}

fn probe(parts: Vec<(bool, String)>) -> Probe {
    Probe {
        well: parts.iter().all(|(well, _)| *well),
        lines: parts
            .into_iter()
            .map(|(well, line)| format!("[{}] {line}", if well { '+' } else { '-' }))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_once_everything_was_listed_and_read() {
        let health = Health::new(Duration::from_secs(1));
        assert!(!health.ready().well);
        health.complete();
        assert_eq!(health.ready().lines[1], "[-] configuration: it was read");
        health.conf_read();
        assert!(health.ready().well, "without the lease too");
    }

    #[test]
    fn it_lives_while_the_loop_turns() {
        let health = Health::new(Duration::ZERO);
        assert!(health.live().well);
        let stuck = Health {
            began: Instant::now()
                .checked_sub(PATIENCE * 2)
                .expect("the host is up for longer"),
            ..Health::new(Duration::from_secs(1))
        };
        assert!(!stuck.live().well);
        stuck.turned();
        assert!(stuck.live().well);
    }
}
