//! The score: the calmer the node, the better.

use crate::Mco;
use crate::nodes::NodeStates;
use mco_framework::{Dependence, NodeOrder, NodeScore, Scores, View};
use mco_model::{NodeId, TaskId};

impl NodeOrder for Mco {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, _task: TaskId) -> Box<dyn NodeScore + 'v> {
        Box::new(Calm(self.states(view)))
    }
}

struct Calm<'v>(&'v NodeStates);

impl NodeScore for Calm<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        for (index, node) in nodes.iter().enumerate() {
            scores.add(index, self.0.score(*node));
        }
    }
}
