//! The `nodeorder` plugin: which of the nodes that fit is best, by the scores of Kubernetes 1.29 as Volcano 1.9 adds them
//! up.

mod images;
mod owners;
mod pod_affinity;
mod resources;
mod taints;
#[cfg(test)]
mod tests;
mod topology_spread;
mod weights;

pub use weights::Weights;

use crate::matching::NodeTerm;
use crate::sight::{HeldKind, Sight, TermColumns};
use images::Images;
use mco_framework::{
    BatchNodeOrder, Dependence, NodeOrder, NodeScore, OpenContext, PluginError, PluginFactory, ScoreError,
    Scores, SessionPlugin, View,
};
use mco_model::{NodeId, TaskId};
use owners::Owners;
use resources::Demand;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Name of the plugin, as configurations spell it.
const NAME: &str = "nodeorder";

/// The best score of one kind, before its weight.
const MOST: i64 = 100;

/// Makes the plugin.
pub struct NodeOrderFactory;

impl PluginFactory for NodeOrderFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (weights, warnings) = Weights::read(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(NodeOrderPlugin {
            weights,
            sight: Mutex::new(Sight::open(context.view.cluster(), HeldKind::Preferred)),
            owners: Owners::read(context.view),
        }))
    }
}

struct NodeOrderPlugin {
    weights: Weights,
    sight: Mutex<Sight>,
    owners: Owners,
}

impl SessionPlugin for NodeOrderPlugin {
    fn name(&self) -> &'static str {
        NAME
    }

    fn node_order(&self) -> Option<&dyn NodeOrder> {
        Some(self)
    }

    fn batch_node_order(&self) -> Option<&dyn BatchNodeOrder> {
        Some(self)
    }
}

impl NodeOrder for NodeOrderPlugin {
    fn dependence(&self, _: View<'_>, _: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v> {
        let cluster = view.cluster();
        let (row, spec) = (cluster.task(task), cluster.spec(task));
        let preferred = if self.weights.node_affinity == 0 {
            Some(Vec::new())
        } else {
            NodeTerm::preferred(spec)
                .ok()
                .map(|terms| self.over_columns(view, terms))
        };
        Box::new(ScoreByNode {
            view,
            weights: self.weights,
            demand: Demand::of(view, &row.request, spec),
            images: (self.weights.image_locality != 0).then(|| Images::of(view, &spec.images)),
            preferred,
        })
    }
}

impl NodeOrderPlugin {
    fn over_columns(&self, view: View<'_>, terms: Vec<(i64, NodeTerm)>) -> Vec<(i64, TermColumns)> {
        if terms.is_empty() {
            return Vec::new();
        }
        let mut sight = self.sight();
        let over = |(weight, term)| (weight, sight.node_term(view.cluster(), term));
        terms.into_iter().map(over).collect()
    }

    fn sight(&self) -> MutexGuard<'_, Sight> {
        self.sight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scores that look at one node at a time.
struct ScoreByNode<'v> {
    view: View<'v>,
    weights: Weights,
    demand: Demand<'v>,
    images: Option<Images>,
    /// `None` when a preferred term cannot be used: then no node has a score.
    preferred: Option<Vec<(i64, TermColumns)>>,
}

impl NodeScore for ScoreByNode<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        let Some(preferred) = &self.preferred else {
            (0..nodes.len()).for_each(|index| scores.fail(index));
            return;
        };
        for (index, node) in nodes.iter().enumerate() {
            scores.add(index, self.of_node(*node, preferred));
        }
    }
}

impl ScoreByNode<'_> {
    fn of_node(&self, node: NodeId, preferred: &[(i64, TermColumns)]) -> f64 {
        let weights = &self.weights;
        let mut sum = 0.0;
        let mut add = |weight: i64, score: i64| sum += score as f64 * weight as f64;
        if let Some(images) = &self.images {
            add(weights.image_locality, images.score(self.view, node));
        }
        if weights.least_requested != 0 {
            add(weights.least_requested, self.demand.least_requested(node));
        }
        if weights.most_requested != 0 {
            add(weights.most_requested, self.demand.most_requested(node));
        }
        if weights.balanced_resource != 0 {
            add(weights.balanced_resource, self.demand.balanced(node));
        }
        if !preferred.is_empty() {
            let row = self.view.cluster().nodes.row(node);
            let matching = preferred.iter().filter(|(_, term)| term.matches(node, &row.name));
            add(weights.node_affinity, matching.map(|(weight, _)| weight).sum());
        }
        sum
    }
}

impl BatchNodeOrder for NodeOrderPlugin {
    fn score(
        &self,
        view: View<'_>,
        task: TaskId,
        nodes: &[NodeId],
        scores: &mut [f64],
    ) -> Result<(), ScoreError> {
        let cluster = view.cluster();
        let broken = |why: String| ScoreError { plugin: NAME, why };
        let mut sight = self.sight();
        let company = pod_affinity::scores(cluster, &mut sight, task, nodes)
            .map_err(|error| broken(format!("failed to parse pod: {error}")))?;
        let advice = taints::scores(view, &cluster.spec(task).tolerations, nodes);
        let spread = topology_spread::scores(cluster, &mut sight, &self.owners, task, nodes)
            .map_err(|error| broken(error.to_string()))?;
        for (index, score) in scores.iter_mut().enumerate() {
            let part = |scores: &Option<Vec<i64>>, weight: i64| {
                scores
                    .as_ref()
                    .map_or(0.0, |scores| scores[index].wrapping_mul(weight) as f64)
            };
            let advice = advice[index].wrapping_mul(self.weights.taint_toleration) as f64;
            *score += part(&company, self.weights.pod_affinity)
                + advice
                + part(&spread, self.weights.topology_spread);
        }
        Ok(())
    }
}
