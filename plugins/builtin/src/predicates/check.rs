//! The filters in their order, made ready for one task.

use super::arguments::Switches;
use super::cache::TemplateAnswers;
use super::pod_affinity::PodAffinityRules;
use super::proportional;
use super::reasons::*;
use super::topology_spread::SpreadRules;
use crate::matching::{host_ports, tolerations};
use crate::sight::RuleColumns;
use mco_framework::{NodeCheck, Reason, Refusal, Verdicts, View};
use mco_model::NodeId;
use mco_model::node::Node;
use mco_model::resource::Resource;
use mco_model::spec::{HostPort, Toleration};

/// All filters for one task.
pub(super) struct Filters<'v> {
    pub(super) view: View<'v>,
    pub(super) switches: &'v Switches,
    pub(super) request: &'v Resource,
    pub(super) tolerations: &'v [Toleration],
    /// `None` when the pod takes any node.
    pub(super) node_rule: Option<RuleColumns>,
    /// `None` when answers are not shared with other pods.
    pub(super) template: Option<TemplateAnswers>,
    /// Empty when the pod takes no port, or nobody looks.
    pub(super) ports: &'v [HostPort],
    pub(super) pod_affinity: Option<PodAffinityRules>,
    pub(super) spread: Option<SpreadRules>,
}

/// A task that no node will take.
pub(super) struct RefusedEverywhere(pub(super) Reason);

impl NodeCheck for RefusedEverywhere {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        verdicts.each(nodes, |_| Some(Refusal::unresolvable(self.0.clone())));
    }
}

impl NodeCheck for Filters<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        verdicts.each(nodes, |node| {
            let row = self.view.cluster().nodes.row(node);
            // A full node is asked on: what else it says may be more final.
            let full = row.max_pods <= row.occupants.len() as i64;
            self.first_refusal(node, row).or_else(|| full.then(too_many_pods))
        });
    }
}

impl Filters<'_> {
    fn first_refusal(&self, node: NodeId, row: &Node) -> Option<Refusal> {
        self.by_node_alone(node, row)
            .or_else(|| self.by_ports(row))
            .or_else(|| self.pod_affinity.as_ref()?.check(node))
            .or_else(|| self.spread.as_ref()?.check(node))
            .or_else(|| {
                let proportions = self.switches.proportions.as_ref()?;
                proportional::check(self.view, node, self.request, proportions)
            })
    }

    /// What the node's object says, by an answer kept where there is one.
    fn by_node_alone(&self, node: NodeId, row: &Node) -> Option<Refusal> {
        let Some(template) = &self.template else {
            return self.by_object(node, row);
        };
        match template.get(node) {
            Some(fits) => (!fits).then(refused_before),
            None => {
                let refusal = self.by_object(node, row);
                template.set(node, refusal.is_none());
                refusal
            }
        }
    }

    fn by_object(&self, node: NodeId, row: &Node) -> Option<Refusal> {
        if row.unschedulable && !tolerations::tolerate_cordon(self.tolerations) {
            return Some(cordoned());
        }
        if let Some(rule) = &self.node_rule
            && !rule.admits(node, &row.name)
        {
            return Some(not_selected());
        }
        if self.switches.taint_toleration && !row.taints.is_empty() {
            return tolerations::untolerated(&row.taints, self.tolerations).map(tainted);
        }
        None
    }

    fn by_ports(&self, row: &Node) -> Option<Refusal> {
        if self.ports.is_empty() {
            return None;
        }
        let taken = |pod: &mco_model::TaskId| {
            host_ports::clash(self.ports, &self.view.cluster().spec(*pod).host_ports)
        };
        row.occupants.iter().any(taken).then(port_taken)
    }
}
