//! The hard limits, and how long a node that was over one stays filtered out.

use crate::NAME;
use crate::settings::Settings;
use mco_framework::{Measured, Reason};
use mco_model::interference::NodeInterference;
use mco_model::time::Time;

/// The hard limits, in the order in which they are looked at.
#[derive(Debug)]
pub struct Limits {
    limits: [Limit; 2],
    hold_seconds: f64,
}

/// When the node was last seen over each limit that it has not left since.
pub type LastOver = [Option<Time>; 2];

/// A figure and what it may be at most.
#[derive(Debug)]
struct Limit {
    code: &'static str,
    figure: fn(&NodeInterference) -> Option<f64>,
    /// Above it, the node is over the limit.
    threshold: f64,
    /// At or below it, the node may leave the limit.
    release: f64,
    texts: Texts,
}

/// What is said of a node that is over the limit, that is not back at the release value, and that is back, but not for
/// long enough.
#[derive(Debug)]
struct Texts {
    over: &'static str,
    unreleased: &'static str,
    held: &'static str,
}

impl Limits {
    pub fn of(settings: &Settings) -> Self {
        let memory = Limit {
            code: "psi_memory_full",
            figure: |entry| entry.psi_memory_full_avg10,
            threshold: settings.psi_memory_full_avg10,
            release: settings.psi_memory_full_avg10_release,
            texts: Texts {
                over: "node(s) had memory pressure above the limit (psi_memory_full)",
                unreleased: "node(s) had memory pressure above the release value after being over the limit \
                             (psi_memory_full)",
                held: "node(s) had memory pressure above the limit a short while ago (psi_memory_full)",
            },
        };
        let io = Limit {
            code: "psi_io_some",
            figure: |entry| entry.psi_io_some_avg10,
            threshold: settings.psi_io_some_avg10,
            release: settings.psi_io_some_avg10_release,
            texts: Texts {
                over: "node(s) had I/O pressure above the limit (psi_io_some)",
                unreleased: "node(s) had I/O pressure above the release value after being over the limit (psi_io_some)",
                held: "node(s) had I/O pressure above the limit a short while ago (psi_io_some)",
            },
        };
        Self {
            limits: [memory, io],
            hold_seconds: settings.hold_seconds,
        }
    }

    /// Why the node is filtered out, by figures of age `age_seconds`. Without figures nothing is known: the node is not
    /// filtered, and what it was over before stays as it is.
    pub fn judge(
        &self,
        entry: &NodeInterference,
        last_over: &mut LastOver,
        now: Time,
        age_seconds: f64,
    ) -> Option<Reason> {
        if !entry.ok || !entry.psi_available {
            return None;
        }
        let mut first = None;
        for (limit, last_over) in self.limits.iter().zip(last_over) {
            let Some(value) = (limit.figure)(entry).filter(|value| !value.is_nan()) else {
                continue;
            };
            let broken = limit.broken(value, last_over, now, self.hold_seconds);
            first = first.or(broken.map(|(text, threshold)| {
                Reason::fixed(NAME, limit.code, text).with(Measured {
                    value,
                    threshold,
                    age_seconds,
                })
            }));
        }
        first
    }
}

impl Limit {
    /// Why the limit excludes a node with this figure, and the value that the figure is held against.
    fn broken(
        &self,
        value: f64,
        last_over: &mut Option<Time>,
        now: Time,
        hold_seconds: f64,
    ) -> Option<(&'static str, f64)> {
        if value > self.threshold {
            *last_over = Some(now);
            return Some((self.texts.over, self.threshold));
        }
        // The own clock may have been set back since.
        let since = (*last_over)?.min(now);
        *last_over = Some(since);
        if value > self.release {
            return Some((self.texts.unreleased, self.release));
        }
        if now.seconds_since(since) < hold_seconds {
            return Some((self.texts.held, self.threshold));
        }
        *last_over = None;
        None
    }
}
