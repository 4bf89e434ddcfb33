//! Topology spread constraints as filter and score share them.

use crate::matching::{NodeRule, Selector, SelectorError, tolerations};
use crate::sight::{RuleColumns, Topologies, Topology};
use mco_model::spec::{Labels, PodSpec, Text, TopologySpreadConstraint};
use mco_model::{Cluster, Id, NodeId};
use std::sync::Arc;

/// The selector of a constraint, with what `matchLabelKeys` take over from the pod's labels.
///
/// # Errors
/// A selector that cannot be used.
pub fn selector(constraint: &TopologySpreadConstraint, labels: &Labels) -> Result<Selector, SelectorError> {
    let selector = Selector::of_pods(constraint.selector.as_ref())?;
    Ok(selector.and_pairs(
        constraint
            .match_label_keys
            .iter()
            .filter_map(|key| labels.get_key_value(key)),
    ))
}

/// Nodes whose pods count for constraints.
pub struct Inclusion<'s> {
    spec: &'s PodSpec,
    rule: RuleColumns,
    /// The topologies of all constraints that a node must be in.
    needed: Vec<Arc<Topology>>,
}

impl<'s> Inclusion<'s> {
    /// For constraints of a pod with this spec. Nodes count that have all labels of `keys`.
    #[must_use]
    pub fn of<'k>(
        cluster: &Cluster,
        topologies: &mut Topologies,
        spec: &'s PodSpec,
        keys: impl Iterator<Item = &'k Text>,
    ) -> Self {
        let rule = RuleColumns::of(cluster, topologies, &NodeRule::of(spec));
        Self {
            spec,
            rule,
            needed: keys.map(|key| topologies.get(cluster, key)).collect(),
        }
    }

    /// Whether the node counts for the constraint, by node slot.
    #[must_use]
    pub fn eligible(&self, cluster: &Cluster, constraint: &TopologySpreadConstraint) -> Vec<bool> {
        let mut eligible = vec![false; cluster.nodes.slots()];
        for node in cluster.nodes.ready() {
            let is_in_all = self
                .needed
                .iter()
                .all(|topology| topology.domain(*node).is_some());
            eligible[node.slot()] = is_in_all && self.includes(cluster, constraint, *node);
        }
        eligible
    }

    fn includes(&self, cluster: &Cluster, constraint: &TopologySpreadConstraint, node: NodeId) -> bool {
        let row = cluster.nodes.row(node);
        (!constraint.honor_node_affinity || self.rule.admits(node, &row.name))
            && (!constraint.honor_node_taints
                || tolerations::untolerated(&row.taints, &self.spec.tolerations).is_none())
    }
}
