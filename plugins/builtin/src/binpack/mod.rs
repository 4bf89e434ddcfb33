//! The plugin `binpack`: fills nodes up, so that others stay free for large pods.

mod weights;

pub use weights::Weights;

use mco_framework::{
    Dependence, NodeOrder, NodeScore, OpenContext, PluginError, PluginFactory, Scores, SessionPlugin, View,
};
use mco_model::node::Nodes;
use mco_model::resource::Dimension;
use mco_model::{NodeId, TaskId};
use weights::NAME;

const MAX_NODE_SCORE: f64 = 100.0;

/// Makes the plugin `binpack`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinpackFactory;

impl PluginFactory for BinpackFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (weights, warnings) = Weights::from_arguments(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(Binpack { weights }))
    }
}

struct Binpack {
    weights: Weights,
}

impl SessionPlugin for Binpack {
    fn name(&self) -> &'static str {
        NAME
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        (self.weights.score != 0).then_some(self)
    }
}

impl NodeOrder for Binpack {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v> {
        let request = &view.task(task).request;
        let wanted: Vec<Wanted> = request
            .dimensions()
            .filter_map(|dimension| {
                Some(Wanted {
                    dimension,
                    amount: request.get(dimension),
                    weight: self.weights.of(dimension.name(&view.scalars))? as f64,
                })
            })
            .collect();
        let weights: f64 = wanted.iter().map(|wanted| wanted.weight).sum();
        Box::new(Packing {
            nodes: &view.cluster().nodes,
            wanted,
            weights: if weights > 0.0 { weights } else { 1.0 },
            factor: MAX_NODE_SCORE * self.weights.score as f64,
        })
    }
}

/// What the task asks for of the resources that count.
struct Wanted {
    dimension: Dimension,
    amount: f64,
    weight: f64,
}

struct Packing<'v> {
    nodes: &'v Nodes,
    wanted: Vec<Wanted>,
    weights: f64,
    /// The score of a node that is full.
    factor: f64,
}

impl Packing<'_> {
    /// How full the node would be, 100 for full to the brim; 0 when it would be more than full.
    fn score(&self, node: NodeId) -> f64 {
        let mut sum = 0.0;
        for wanted in &self.wanted {
            let capacity = self.nodes.allocatable.get(node, wanted.dimension);
            if capacity == 0.0 || wanted.weight == 0.0 {
                continue;
            }
            let used = wanted.amount + self.nodes.used.get(node, wanted.dimension);
            if used > capacity {
                return 0.0;
            }
            sum += used * wanted.weight / capacity;
        }
        sum / self.weights * self.factor
    }
}

impl NodeScore for Packing<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        for (index, node) in nodes.iter().enumerate() {
            scores.add(index, Packing::score(self, *node));
        }
    }
}

#[cfg(test)]
mod tests;
