//! The interference report.

use mco_crds::{EntryError, NodeEntry, decode_report};
use mco_model::event::Event;
use mco_model::interference::{InterferenceReport, NodeInterference};
use mco_model::time::Time;
use serde_json::Value;

use crate::decode::{DecodeError, Decoded, Kind, Options};

/// Reads a report entry by entry: a broken one is named and its node left without data.
pub(crate) fn convert(object: &Value, options: &Options) -> Decoded {
    let name = object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if name != &*options.report_name {
        return Decoded::default();
    }
    let decoded = decode_report(object);
    let mut problems: Vec<_> = decoded
        .problems
        .iter()
        .map(|problem| error(name, problem))
        .collect();
    let mut report = InterferenceReport {
        last_update: decoded
            .last_update_micros()
            .map(|micros| Time(micros.div_euclid(1000))),
        ..InterferenceReport::default()
    };
    for (node, entry) in &decoded.nodes {
        match entry {
            Ok(entry) => {
                report.nodes.insert(node.as_str().into(), interference(entry));
            }
            Err(problem) => problems.push(error(name, problem)),
        }
    }
    Decoded {
        event: Some(Event::ReportSet(Box::new(report))),
        problems,
    }
}

fn interference(entry: &NodeEntry) -> NodeInterference {
    NodeInterference {
        ok: entry.status.is_ok(),
        level: entry
            .interference_level
            .filter(|level| (0.0..=1.0).contains(level)),
        psi_available: entry.psi_available,
        psi_memory_full_avg10: entry.metrics.psi_memory_full_avg10,
        psi_io_some_avg10: entry.metrics.psi_io_some_avg10,
        cache_index: entry.indices.cache,
        memory_index: entry.indices.memory,
        io_index: entry.indices.io,
    }
}

fn error(name: &str, problem: &EntryError) -> DecodeError {
    DecodeError {
        kind: Kind::NodeInterferenceReport.name().into(),
        namespace: Box::default(),
        name: name.into(),
        field: problem.field.clone(),
        problem: problem.problem.clone(),
        offset: None,
    }
}
