//! The tables of nodes and gangs as lines of text.

use super::heat::{self, Heat, Limits};
use super::jobs::{Job, State};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use mco_crds::NodeEntry;

/// A node as the table shows it.
pub struct NodeRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// It has a simulated collector, or none.
    pub simulated: bool,
    /// Its entry in the report.
    pub entry: Option<&'a NodeEntry>,
    /// Pods on it, and its CPU in milli: free and all.
    pub room: Option<(usize, f64, f64)>,
}

/// Columns of the table of nodes, each with the width of terminal from which on it is shown.
const COLUMNS: [(&str, u16); 12] = [
    ("STATE", 0),
    ("NODE", 0),
    ("KIND", 0),
    ("LEVEL", 0),
    ("CACHE", 0),
    ("MEMORY", 0),
    ("IO", 0),
    ("PSI IO", 120),
    ("P99 MS", 120),
    ("PODS", 100),
    ("CPU FREE", 140),
    ("WHY", 0),
];

/// The table of nodes, at most `width` columns wide.
pub fn nodes(rows: &[NodeRow<'_>], limits: Option<Limits>, width: u16) -> Vec<String> {
    let is_shown = |least: u16| width >= least;
    let head = COLUMNS.iter().filter(|(_, least)| is_shown(*least));
    let mut table = new(width, head.map(|(name, _)| *name).collect());
    for row in rows {
        let cells = cells(row, limits).into_iter().zip(COLUMNS);
        table.add_row(
            cells
                .filter(|(_, (_, least))| is_shown(*least))
                .map(|(cell, _)| cell),
        );
    }
    lines(&mut table)
}

fn cells(row: &NodeRow<'_>, limits: Option<Limits>) -> [String; COLUMNS.len()] {
    let entry = row.entry.filter(|entry| entry.status.is_ok());
    let index = |of: fn(&NodeEntry) -> Option<f64>| figure(entry.and_then(of), 2);
    let dash = || "-".to_owned();
    [
        heat::heat(row.entry, limits).word().to_owned(),
        row.name.to_owned(),
        if row.simulated { "simulated" } else { "real" }.to_owned(),
        index(|entry| entry.interference_level),
        index(|entry| entry.indices.cache),
        index(|entry| entry.indices.memory),
        index(|entry| entry.indices.io),
        figure(entry.and_then(|entry| entry.metrics.psi_io_some_avg10), 1),
        figure(entry.and_then(|entry| entry.metrics.bio_latency_p99_ms), 1),
        row.room.map_or_else(dash, |(pods, _, _)| pods.to_string()),
        row.room.map_or_else(dash, |(_, free, all)| {
            format!("{:.1}/{:.0}", free / 1000.0, all / 1000.0)
        }),
        heat::why_in_short(row.entry, limits),
    ]
}

/// The table of gangs.
pub fn jobs<'a>(jobs: impl Iterator<Item = &'a Job>, host: &str, width: u16) -> Vec<String> {
    let mut table = new(width, vec!["STATE", "GANG", "PLACED", "WHERE, OR WHY NOT"]);
    for job in jobs {
        let placed = format!("{}/{}", job.placed(), job.pods.len());
        table.add_row([word(job).to_owned(), job.name.clone(), placed, place(job, host)]);
    }
    lines(&mut table)
}

/// A gang in one line.
pub fn job(job: &Job, host: &str) -> String {
    let (placed, pods) = (job.placed(), job.pods.len());
    format!("{} {} {placed}/{pods}: {}", job.name, word(job), place(job, host))
}

fn word(job: &Job) -> &'static str {
    match job.state {
        State::Waiting => "waits",
        State::Placed => "placed",
        State::Part => "PART",
    }
}

fn place(job: &Job, host: &str) -> String {
    match job.state {
        State::Waiting if job.message.is_empty() => "not looked at yet".to_owned(),
        State::Waiting => job.message.clone(),
        State::Placed | State::Part => placed(job, host),
    }
}

/// Where a gang is, and which nodes interference kept it off.
fn placed(job: &Job, host: &str) -> String {
    let mut text = job.nodes().join(", ");
    let refused = job.candidates.iter().filter_map(|candidate| {
        let refused = candidate
            .refused
            .as_ref()
            .filter(|refused| refused.is_interference())?;
        Some(format!("{} ({refused})", candidate.node))
    });
    let off: Vec<_> = refused.collect();
    if !off.is_empty() {
        text = format!("{text}; kept off {}", off.join(", "));
    }
    let score = job.candidate(host).and_then(|candidate| candidate.score);
    match score.filter(|_| !job.nodes().contains(&host)) {
        Some(score) => format!("{text}; {host} scored {score:.0}"),
        None => text,
    }
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn new(width: u16, head: Vec<&str>) -> Table {
    let last = head.len() - 1;
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(head);
    // Only the last column wraps: it has the sentences.
    for at in 0..last {
        if let Some(column) = table.column_mut(at) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    if let Some(column) = table.column_mut(last) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(20)));
    }
    table
}

fn lines(table: &mut Table) -> Vec<String> {
    table.trim_fmt().lines().map(str::to_owned).collect()
}

/// Colours the words of state that begin lines.
pub fn paint(line: &str) -> String {
    let trimmed = line.trim_start();
    let word = trimmed.split(' ').next().unwrap_or_default();
    let known = [Heat::Unknown, Heat::Calm, Heat::Detected, Heat::Excluded]
        .into_iter()
        .find(|heat| heat.word() == word);
    let colour = match (known, word) {
        (Some(Heat::Unknown), _) => 90,
        (Some(Heat::Calm), _) | (_, "placed" | "held") => 32,
        (Some(Heat::Detected), _) | (_, "waits" | "not") => 33,
        (Some(Heat::Excluded), _) | (_, "PART" | "FAILED") => 31,
        _ => return line.to_owned(),
    };
    let indent = &line[..line.len() - trimmed.len()];
    format!("{indent}\x1b[{colour}m{word}\x1b[0m{}", &trimmed[word.len()..])
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
