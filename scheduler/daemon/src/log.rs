//! The log: to standard error, as loud as `-v` says, or as somebody asks for meanwhile.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::error;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, reload};

/// How loud the log is. Clones are the same.
#[derive(Clone)]
pub struct Loudness {
    set: Arc<dyn Fn(EnvFilter) + Send + Sync>,
    /// What the log started with: `RUST_LOG` where given.
    start: Arc<str>,
    verbosity: i64,
    current: Arc<AtomicI64>,
    /// Counts changes, so that one that is to be undone later is not undone after another.
    changes: Arc<Mutex<u64>>,
}

/// Starts the log. `RUST_LOG` wins over the verbosity, `LOG_FORMAT=json` writes lines for machines. A panic anywhere is
/// logged with its place.
pub fn start(verbosity: i64) -> Loudness {
    let given = std::env::var(EnvFilter::DEFAULT_ENV)
        .ok()
        .filter(|text| !text.is_empty() && EnvFilter::try_new(text).is_ok());
    let start = given.unwrap_or_else(|| directives(verbosity));
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (filter, handle) = reload::Layer::new(EnvFilter::new(&start));
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !no_color);
    let json = std::env::var("LOG_FORMAT").is_ok_and(|format| format == "json");
    let lines = if json { lines.json().boxed() } else { lines.boxed() };
    tracing_subscriber::registry().with(filter).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let what = panic.payload_as_str().unwrap_or("no message");
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        error!("thread {name} broke at {place}: {what}");
    }));
    Loudness {
        // It fails once the log is gone, when nobody needs it.
        set: Arc::new(move |filter| drop(handle.reload(filter))),
        start: start.into(),
        verbosity,
        current: Arc::new(AtomicI64::new(verbosity)),
        changes: Arc::default(),
    }
}

impl Loudness {
    /// The verbosity in force.
    #[must_use]
    pub fn current(&self) -> i64 {
        self.current.load(Ordering::Acquire)
    }

    /// Makes it this loud. Returns what takes it back to how it was at the start, unless it is set anew before.
    pub fn set(&self, verbosity: i64) -> impl FnOnce() -> bool + use<> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        *changes += 1;
        self.apply(&directives(verbosity), verbosity);
        let (this, change) = (self.clone(), *changes);
        move || {
            let changes = this.changes.lock().unwrap_or_else(PoisonError::into_inner);
            if *changes == change {
                this.apply(&this.start, this.verbosity);
            }
            *changes == change
        }
    }

    fn apply(&self, directives: &str, verbosity: i64) {
        (self.set)(EnvFilter::new(directives));
        self.current.store(verbosity, Ordering::Release);
    }

    #[cfg(test)]
    pub(crate) fn of_no_log(verbosity: i64) -> Self {
        Self {
            set: Arc::new(|_| {}),
            start: directives(verbosity).into(),
            verbosity,
            current: Arc::new(AtomicI64::new(verbosity)),
            changes: Arc::default(),
        }
    }
}

fn directives(verbosity: i64) -> String {
    let level = match verbosity {
        ..=3 => "info",
        4 => "info,mco_daemon=debug,mco_cache=debug",
        5 => "debug",
        _ => "trace",
    };
    // What the client library says of its tries is said once, and better, above it.
    format!("{level},{}", mco_cache::LOG_DIRECTIVES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_taken_back_unless_another_came_after_it() {
        let loudness = Loudness::of_no_log(3);
        let first = loudness.set(5);
        let second = loudness.set(8);
        assert!(!first(), "the second is in force");
        assert_eq!(loudness.current(), 8);
        assert!(second());
        assert_eq!(loudness.current(), 3);
    }

    #[test]
    fn every_verbosity_is_a_filter() {
        for verbosity in [-1, 0, 3, 4, 5, 10] {
            let text = directives(verbosity);
            assert!(EnvFilter::try_new(&text).is_ok(), "{text}");
        }
    }
}
