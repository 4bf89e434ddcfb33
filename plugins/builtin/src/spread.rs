//! Topology spread constraints as filter and score share them.

use crate::matching::{NodeRule, Selector, SelectorError, tolerations};
use mco_model::spec::{Labels, PodSpec, TopologySpreadConstraint};
use mco_model::{Cluster, Id, NodeId};

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

/// Nodes whose pods count for a constraint.
pub struct Inclusion<'s> {
    spec: &'s PodSpec,
    rule: NodeRule,
}

impl<'s> Inclusion<'s> {
    /// For constraints of a pod with this spec.
    #[must_use]
    pub fn of(spec: &'s PodSpec) -> Self {
        Self {
            spec,
            rule: NodeRule::of(spec),
        }
    }

    /// By node slot: the node has all labels of `keys`, and the constraint's policies include it.
    pub fn eligible<'k>(
        &self,
        cluster: &Cluster,
        constraint: &TopologySpreadConstraint,
        keys: impl Iterator<Item = &'k str> + Clone,
    ) -> Vec<bool> {
        let mut eligible = vec![false; cluster.nodes.slots()];
        for node in cluster.nodes.ready() {
            let labels = &cluster.nodes.row(*node).labels;
            eligible[node.slot()] =
                keys.clone().all(|key| labels.contains_key(key)) && self.includes(cluster, constraint, *node);
        }
        eligible
    }

    fn includes(&self, cluster: &Cluster, constraint: &TopologySpreadConstraint, node: NodeId) -> bool {
        let row = cluster.nodes.row(node);
        (!constraint.honor_node_affinity || self.rule.admits(&row.name, &row.labels))
            && (!constraint.honor_node_taints
                || tolerations::untolerated(&row.taints, &self.spec.tolerations).is_none())
    }
}
