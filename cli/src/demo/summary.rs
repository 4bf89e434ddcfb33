//! How it ended, for people and for programs.

use super::checks::Check;
use super::heat::{Heat, Limits, heat};
use super::host::Host;
use super::jobs::Job;
use super::load::Done;
use super::stage::Stage;
use super::story::Phase;
use mco_crds::NodeEntry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything the demo knows at its end.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// `held`, `failed`, `notShown` or `interrupted`.
    pub outcome: &'static str,
    /// What the process exits with.
    pub exit_code: u8,
    /// Every claim with its verdict.
    pub checks: Vec<Check>,
    /// This machine.
    pub host: Host,
    /// Seconds from beginning to end.
    pub seconds: f64,
    /// Parts of the story and when each began.
    pub phases: Vec<Part>,
    /// All nodes, this machine first.
    pub nodes: Vec<Node>,
    /// All gangs that came.
    pub jobs: Vec<Job>,
    /// Where the gangs of the second part would have gone if this machine were calm: pod to node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_calm: Option<BTreeMap<String, String>>,
    /// The load, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Done>,
    /// Scheduling cycles.
    pub cycles: u64,
    /// Memory of this process, in MiB: at the end and at most.
    pub memory: Memory,
    /// What could not be read or was odd.
    pub warnings: Vec<String>,
}

/// When a part of the story began.
#[derive(Debug, Serialize)]
pub struct Part {
    /// Which.
    pub phase: Phase,
    /// Seconds since the beginning.
    pub at: f64,
}

/// A node at the end.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its name.
    pub name: String,
    /// It has a simulated collector, or none.
    pub simulated: bool,
    /// `calm`, `warm`, `hot` or `none`.
    pub state: &'static str,
    /// Pods on it.
    pub pods: usize,
    /// Its entry in the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<NodeEntry>,
}

/// Resident memory in MiB.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Now.
    pub rss_mi_b: Option<f64>,
    /// At most so far.
    pub peak_rss_mi_b: Option<f64>,
}

impl Memory {
    /// Looks at this process.
    pub fn look() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
            Some((kib / 102.4).round() / 10.0)
        };
        Self {
            rss_mi_b: mib("VmRSS:"),
            peak_rss_mi_b: mib("VmHWM:"),
        }
    }
}

/// The word for an exit code.
pub fn outcome(code: u8) -> &'static str {
    match code {
        0 => "held",
        1 => "failed",
        3 => "notShown",
        _ => "interrupted",
    }
}

/// Phases with the times they began.
pub fn parts(log: &[(Phase, Duration)]) -> Vec<Part> {
    log.iter()
        .map(|(phase, at)| Part {
            phase: *phase,
            at: at.as_secs_f64(),
        })
        .collect()
}

/// Nodes as they are now.
pub fn nodes(stage: &Stage, names: &[String], host: &str, limits: Option<Limits>) -> Vec<Node> {
    let nodes = names.iter().map(|name| {
        let report = stage.last_report().nodes.get(name).cloned();
        let state: Heat = heat(report.as_ref(), limits);
        Node {
            name: name.clone(),
            simulated: name != host,
            state: state.word(),
            pods: stage.room(name).map_or(0, |(pods, _, _)| pods),
            report,
        }
    });
    nodes.collect()
}

impl Summary {
    /// The summary in lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        lines.extend(
            self.checks
                .iter()
                .map(|check| format!("{:<9}  {}: {}", check.verdict.word(), check.claim, check.detail)),
        );
        if let Some(load) = self.load.as_ref().filter(|load| load.failed.is_none()) {
            lines.push(format!(
                "load: {} threads, {} reads, {:.1} GiB in {:.1} s from a file of {} MiB in {}{}; it has ended and its file is gone",
                load.threads,
                load.reads,
                load.read_bytes as f64 / f64::from(1 << 30),
                load.seconds.unwrap_or_default(),
                load.file_bytes >> 20,
                load.directory.as_deref().unwrap_or("-"),
                if load.direct { "" } else { " (this file system refuses O_DIRECT: through the page cache)" },
            ));
        }
        let mib = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| format!("{value:.1}"));
        lines.push(format!(
            "{:.1} s, {} cycles, {} MiB resident (peak {}): collector, analyzer and scheduler in one process",
            self.seconds,
            self.cycles,
            mib(self.memory.rss_mi_b),
            mib(self.memory.peak_rss_mi_b)
        ));
        lines.push(match self.exit_code {
            0 => "What was shown held.".to_owned(),
            1 => "Something did not hold; see above.".to_owned(),
            3 => "Nothing failed, but not all of it could be shown on this machine; see above (exit code 3)."
                .to_owned(),
            _ => "Interrupted. The load has ended and its file is gone.".to_owned(),
        });
        lines
    }
}
