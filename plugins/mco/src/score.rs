//! The score: the calmer the node, the better.

use crate::expected::Expected;
use crate::nodes::NodeStates;
use crate::{Mco, NEUTRAL_SCORE};
use mco_framework::{Dependence, NodeOrder, NodeScore, Scores, View};
use mco_model::{NodeId, TaskId};

impl NodeOrder for Mco {
    /// Expected load holds for that too: a placement and its undo change the node.
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, _task: TaskId) -> Box<dyn NodeScore + 'v> {
        Box::new(Calm {
            states: self.states(view),
            expected: self.expected.as_ref(),
        })
    }
}

struct Calm<'v> {
    states: &'v NodeStates,
    expected: Option<&'v Expected>,
}

impl Calm<'_> {
    /// 0 to 100; 100 on a calm node.
    fn score_of(&self, node: NodeId) -> f64 {
        let Some(level) = self.states.level(node) else {
            return NEUTRAL_SCORE;
        };
        let expected = self.expected.map_or(0.0, |expected| expected.level(node));
        100.0 * (1.0 - (level + expected).min(1.0))
    }
}

impl NodeScore for Calm<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        for (index, node) in nodes.iter().enumerate() {
            scores.add(index, self.score_of(*node));
        }
    }
}
