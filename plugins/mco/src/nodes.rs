//! What the report says of each node, looked up once for a session.

use crate::freshness::Freshness;
use crate::limits::{LastOver, Limits};
use crate::memory::Memory;
use crate::settings::Settings;
use mco_framework::{Reason, View};
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
    /// The interference level, 0 to 1, when it is known.
    level: Option<f64>,
    over: Option<Reason>,
}

const UNKNOWN: NodeState = NodeState {
    level: None,
    over: None,
};

impl NodeStates {
    /// Looks the nodes of the report up; of a report that is not fresh nothing is taken. With a memory, a node that was
    /// over a limit before may still be.
    pub fn look_up(
        view: View<'_>,
        freshness: Freshness,
        settings: &Settings,
        mut memory: Option<&mut Memory>,
    ) -> Self {
        let (Some(age), Some(report)) = (freshness.age(), view.report()) else {
            return Self::default();
        };
        let limits = Limits::of(settings);
        let mut states = vec![UNKNOWN; view.nodes.slots()];
        let mut any_over = false;
        for (name, entry) in &report.nodes {
            if let Some(node) = view.nodes.find(name)
                && let Some(state) = states.get_mut(node.slot())
            {
                let judge = |last_over: &mut LastOver| limits.judge(entry, last_over, view.now(), age);
                state.level = known_level(entry);
                state.over = match &mut memory {
                    Some(memory) => memory.node(name, judge),
                    None => judge(&mut LastOver::default()),
                };
                any_over |= state.over.is_some();
            }
        }
        Self { states, any_over }
    }

    fn state(&self, node: NodeId) -> &NodeState {
        self.states.get(node.slot()).unwrap_or(&UNKNOWN)
    }

    /// The interference level, 0 to 1, when it is known.
    pub fn level(&self, node: NodeId) -> Option<f64> {
        self.state(node).level
    }

    /// The hard limit that the node is over.
    pub fn over(&self, node: NodeId) -> Option<&Reason> {
        self.state(node).over.as_ref()
    }
}

fn known_level(entry: &NodeInterference) -> Option<f64> {
    entry
        .level
        .filter(|level| entry.ok && (0.0..=1.0).contains(level))
}
