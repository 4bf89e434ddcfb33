//! From assessments to the report object: entries, since when detections are active, and the summary.

mod entry;
mod fit;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mco_crds::decode::format_time_micros;
use mco_crds::{NodeEntry, NodeStatus, Summary};

use crate::detect::{self, DetectionKind};
use crate::nodes::NodeView;
use crate::rules::Rules;
use crate::time::Moment;
use entry::entry;

pub use fit::fit;

/// The moment of an evaluation on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationTime {
    /// Monotonic.
    pub now: Moment,
    /// Microseconds since 1970.
    pub wall_micros: i64,
}

impl EvaluationTime {
    /// A past moment as text.
    fn text_of(&self, moment: Moment) -> String {
        format_time_micros(
            self.wall_micros
                .saturating_sub(self.now.nanos_since(moment) / 1000),
        )
    }
}

/// Remembers since when each detection has been active without a break.
#[derive(Debug, Default)]
pub struct Since {
    active: HashMap<Arc<str>, Vec<(DetectionKind, i64)>>,
}

impl Since {
    /// Judges all nodes and makes their entries.
    pub fn entries(
        &mut self,
        nodes: &[NodeView],
        rules: &Rules,
        time: EvaluationTime,
        window_seconds: f64,
    ) -> BTreeMap<String, NodeEntry> {
        let mut active = HashMap::new();
        let mut entries = BTreeMap::new();
        for node in nodes {
            let assessment = detect::assess(node.view.readings.as_ref(), rules);
            let before = self.active.get(&node.name);
            let since: Vec<_> = assessment
                .detections
                .iter()
                .map(|found| {
                    let earlier = before.and_then(|list| list.iter().find(|(kind, _)| *kind == found.kind));
                    (found.kind, earlier.map_or(time.wall_micros, |(_, since)| *since))
                })
                .collect();
            entries.insert(
                node.name.to_string(),
                entry(node, &assessment, &since, time, window_seconds),
            );
            if !since.is_empty() {
                active.insert(node.name.clone(), since);
            }
        }
        self.active = active;
        entries
    }
}

/// The figures of kubectl's columns.
pub fn summary(entries: &BTreeMap<String, NodeEntry>) -> Summary {
    let count = |of: &dyn Fn(&NodeEntry) -> bool| {
        u32::try_from(entries.values().filter(|entry| of(entry)).count()).unwrap_or(u32::MAX)
    };
    Summary {
        nodes: count(&|_| true),
        max_level: entries
            .values()
            .filter_map(|entry| entry.interference_level)
            .reduce(f64::max)
            // As many digits as a column of kubectl is read with.
            .map(|level| (level * 1000.0).round() / 1000.0),
        hot: count(&|entry| !entry.detections.is_empty()),
        stale: count(&|entry| entry.status == NodeStatus::Stale),
        error: count(&|entry| entry.status == NodeStatus::Error),
    }
}
