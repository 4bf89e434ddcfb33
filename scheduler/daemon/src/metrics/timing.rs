//! How long the parts of a cycle took.

use super::series::Series;
use mco_registry::Phase;
use std::time::{Duration, Instant};

/// The times of one cycle.
pub struct CycleTiming {
    began: Instant,
    last: Instant,
    /// Plugins are parts of the phase that ends after them.
    plugin: Instant,
    laps: Vec<(Lap, Duration)>,
}

enum Lap {
    Phase(&'static str),
    Action(String),
    Plugin(String, &'static str),
}

impl CycleTiming {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            last: now,
            plugin: now,
            laps: Vec::new(),
        }
    }

    /// A part has just ended.
    pub fn lap(&mut self, phase: Phase<'_>) {
        let lap = match phase {
            Phase::Open => Lap::Phase("open"),
            Phase::Close => Lap::Phase("close"),
            Phase::Action(name) => Lap::Action(name.to_owned()),
            Phase::PluginOpen(name) => Lap::Plugin(name.to_owned(), "OnSessionOpen"),
            Phase::PluginClose(name) => Lap::Plugin(name.to_owned(), "OnSessionClose"),
        };
        let now = Instant::now();
        let since = match lap {
            Lap::Plugin(..) => std::mem::replace(&mut self.plugin, now),
            _ => {
                self.plugin = now;
                std::mem::replace(&mut self.last, now)
            }
        };
        self.laps.push((lap, now - since));
    }

    pub(super) fn observe(self, series: &Series) {
        let micros = |took: Duration| took.as_secs_f64() * 1e6;
        for (lap, took) in &self.laps {
            match lap {
                Lap::Phase(name) => series
                    .session
                    .with_label_values(&[name])
                    .observe(took.as_secs_f64()),
                Lap::Action(name) => {
                    series.action.with_label_values(&[name]).observe(micros(*took));
                    series
                        .session
                        .with_label_values(&[name])
                        .observe(took.as_secs_f64());
                }
                Lap::Plugin(name, when) => {
                    let values = [("plugin", name.as_str()), ("OnSession", *when)];
                    let values = std::collections::HashMap::from(values);
                    series.plugin.with(&values).observe(micros(*took));
                }
            }
        }
        series.e2e.observe(self.began.elapsed().as_secs_f64() * 1e3);
    }
}
