//! What the report says of each node, looked up once for a session.

use crate::freshness::Freshness;
use crate::settings::Settings;
use crate::{NAME, NEUTRAL_SCORE};
use mco_framework::{Measured, Reason, View};
use mco_model::interference::NodeInterference;
use mco_model::{Id, NodeId};

/// What the report says, by slot of the node.
#[derive(Debug, Default)]
pub struct NodeStates {
    states: Vec<NodeState>,
    /// Some node is over a hard limit.
    pub any_over: bool,
}

#[derive(Clone, Debug)]
struct NodeState {
    score: f64,
    over: Option<Reason>,
}

const UNKNOWN: NodeState = NodeState {
    score: NEUTRAL_SCORE,
    over: None,
};

impl NodeStates {
    /// Looks the nodes of the report up; of a report that is not fresh nothing is taken.
    pub fn look_up(view: View<'_>, freshness: Freshness, settings: &Settings) -> Self {
        let (Some(age), Some(report)) = (freshness.age(), view.report()) else {
            return Self::default();
        };
        let mut states = vec![UNKNOWN; view.nodes.slots()];
        let mut any_over = false;
        for (name, entry) in &report.nodes {
            if let Some(node) = view.nodes.find(name)
                && let Some(state) = states.get_mut(node.slot())
            {
                state.score = score(entry);
                state.over = over_limit(entry, settings, age);
                any_over |= state.over.is_some();
            }
        }
        Self { states, any_over }
    }

    fn state(&self, node: NodeId) -> &NodeState {
        self.states.get(node.slot()).unwrap_or(&UNKNOWN)
    }

    /// 0 to 100; 100 on a calm node.
    pub fn score(&self, node: NodeId) -> f64 {
        self.state(node).score
    }

    /// The hard limit that the node is over.
    pub fn over(&self, node: NodeId) -> Option<&Reason> {
        self.state(node).over.as_ref()
    }
}

fn score(entry: &NodeInterference) -> f64 {
    let level = entry
        .level
        .filter(|level| entry.ok && (0.0..=1.0).contains(level));
    level.map_or(NEUTRAL_SCORE, |level| 100.0 * (1.0 - level))
}

fn over_limit(entry: &NodeInterference, settings: &Settings, age_seconds: f64) -> Option<Reason> {
    if !entry.ok || !entry.psi_available {
        return None;
    }
    let over = |code, text, value: Option<f64>, threshold: f64| {
        let value = value.filter(|value| *value > threshold)?;
        Some(Reason::fixed(NAME, code, text).with(Measured {
            value,
            threshold,
            age_seconds,
        }))
    };
    over(
        "psi_memory_full",
        "node(s) had memory pressure above the limit (psi_memory_full)",
        entry.psi_memory_full_avg10,
        settings.psi_memory_full_avg10,
    )
    .or_else(|| {
        over(
            "psi_io_some",
            "node(s) had I/O pressure above the limit (psi_io_some)",
            entry.psi_io_some_avg10,
            settings.psi_io_some_avg10,
        )
    })
}
