//! The report on paper: tables for people, JSON and YAML for programs.

use super::Output;
use super::report::{ReasonReport, Report};
use anyhow::{Context, Result};
use comfy_table::{Table, presets};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

/// Prints the report to standard output.
pub fn print(report: &Report, output: Output) -> Result<()> {
    let text = match output {
        Output::Json => serde_json::to_string_pretty(report)? + "\n",
        Output::Yaml => serde_saphyr::to_string(report)?,
        Output::Wide => wide(report),
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

fn wide(report: &Report) -> String {
    let mut text = String::new();
    let places = report
        .binds
        .iter()
        .map(|(pod, node)| [pod.clone(), "bind".to_owned(), node.clone()]);
    let waits = report
        .pipelined
        .iter()
        .map(|(pod, node)| [pod.clone(), "pipelined".to_owned(), node.clone()]);
    let evictions = report
        .evicts
        .iter()
        .map(|pod| [pod.clone(), "evict".to_owned(), String::new()]);
    section(
        &mut text,
        ["POD", "DECISION", "NODE"],
        places.chain(waits).chain(evictions),
    );
    let groups = report.podgroups.iter().map(|(name, group)| {
        let condition = group.conditions.last();
        let why = group.reasons.iter().map(reason).next();
        let message = condition
            .map(|condition| condition.message.clone())
            .filter(|text| !text.is_empty());
        [
            name.clone(),
            group.phase.to_owned(),
            condition
                .map(|condition| condition.kind.clone())
                .unwrap_or_default(),
            why.or(message).unwrap_or_default(),
        ]
    });
    section(&mut text, ["PODGROUP", "PHASE", "CONDITION", "WHY"], groups);
    let pending = report.pending.iter().map(|(pod, told)| {
        let why = told.reasons.iter().map(reason).collect::<Vec<_>>().join("; ");
        [
            pod.clone(),
            told.status.to_owned(),
            if why.is_empty() { told.message.clone() } else { why },
        ]
    });
    section(&mut text, ["PENDING", "STATUS", "WHY"], pending);
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(timing) = &report.timing {
        let _ = writeln!(
            text,
            "cycle: {:.3} s wall, {:.3} s CPU, {:.0} MiB, {} binds, {} evictions",
            timing.cycle_wall_seconds,
            timing.cycle_cpu_seconds,
            timing.peak_rss_mi_b,
            timing.binds,
            timing.evicts
        );
        let _ = writeln!(text, "  open {:.3} s", timing.open_seconds);
        for (action, seconds) in &timing.actions {
            let _ = writeln!(text, "  {action} {seconds:.3} s");
        }
        let _ = writeln!(text, "  close {:.3} s", timing.close_seconds);
    }
    text
}

fn section<const N: usize>(text: &mut String, head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head);
    table.add_rows(rows);
    if table.row_count() > 0 {
        let _ = writeln!(text, "{}\n", table.trim_fmt());
    }
}

fn reason(reason: &ReasonReport) -> String {
    let refused = &reason.refused;
    let mut text = refused.text.clone();
    if let (Some(value), Some(threshold)) = (refused.value, refused.threshold) {
        let _ = write!(text, " ({value:.1} > {threshold:.1}");
        if let Some(age) = refused.age_seconds {
            let _ = write!(text, ", {age:.0} s old");
        }
        text.push(')');
    }
    match reason.nodes {
        Some(nodes) => format!("{nodes} × {text}"),
        None => text,
    }
}
