//! How long a cycle takes: wall time by part, CPU time of the process, and its greatest size so far.

use mco_framework::close::SessionOutcome;
use mco_model::Decision;
use mco_registry::Phase;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Times of one cycle.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// Opening the session.
    pub open_seconds: f64,
    /// Each action; one that runs twice is added up.
    pub actions: BTreeMap<String, f64>,
    /// Closing the session.
    pub close_seconds: f64,
    /// The whole cycle, wall time.
    pub cycle_wall_seconds: f64,
    /// The whole cycle, CPU time of all threads.
    pub cycle_cpu_seconds: f64,
    /// The process's greatest size so far, in MiB, reading of the files included.
    pub peak_rss_mi_b: f64,
    /// Pods bound.
    pub binds: usize,
    /// Pods evicted.
    pub evicts: usize,
}

/// Takes the times of a cycle.
pub struct Stopwatch {
    started: Instant,
    cpu_started: f64,
    lap: Instant,
    timing: Timing,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            cpu_started: cpu_seconds(),
            lap: now,
            timing: Timing::default(),
        }
    }

    /// A part of the cycle has just ended.
    pub fn lap(&mut self, phase: Phase<'_>) {
        if matches!(phase, Phase::PluginOpen(_) | Phase::PluginClose(_)) {
            return; // Parts of what follows.
        }
        let now = Instant::now();
        let seconds = now.duration_since(self.lap).as_secs_f64();
        self.lap = now;
        match phase {
            Phase::Open => self.timing.open_seconds = seconds,
            Phase::Action(name) => *self.timing.actions.entry(name.to_owned()).or_default() += seconds,
            Phase::Close => self.timing.close_seconds = seconds,
            Phase::PluginOpen(_) | Phase::PluginClose(_) => {}
        }
    }

    /// The cycle has ended.
    pub fn stop(mut self, outcome: &SessionOutcome) -> Timing {
        self.timing.cycle_wall_seconds = self.lap.duration_since(self.started).as_secs_f64();
        self.timing.cycle_cpu_seconds = cpu_seconds() - self.cpu_started;
        self.timing.peak_rss_mi_b = peak_rss_mib();
        let is_bind = |decision: &&Decision| matches!(decision, Decision::Bind { .. });
        let is_evict = |decision: &&Decision| matches!(decision, Decision::Evict { .. });
        self.timing.binds = outcome.decisions.iter().filter(is_bind).count();
        self.timing.evicts = outcome.decisions.iter().filter(is_evict).count();
        self.timing
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// `VmHWM` of this process; 0 where the kernel does not tell.
fn peak_rss_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
