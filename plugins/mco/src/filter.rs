//! The filter: nodes over a hard limit, and nodes not ready for Kata pods.

use crate::nodes::NodeStates;
use crate::share::Share;
use crate::{Mco, NAME, locked};
use mco_framework::{Dependence, NodeCheck, Predicate, Reason, Refusal, Verdicts, View};
use mco_model::node::Nodes;
use mco_model::{NodeId, TaskId};
use std::collections::HashMap;
use std::sync::Mutex;

const KATA_PREFIX: &str = "kata-";
/// Labels of a node that runs Kata pods; both must be `true`.
const KATA_LABELS: [&str; 2] = ["katacontainers.io/kata-runtime", "mco.many-core.io/kata-ready"];

impl Predicate for Mco {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        let states = self.states(view);
        let runtime = view.spec(task).runtime_class.as_deref();
        let mut filter = Filter {
            nodes: &view.cluster().nodes,
            states,
            kata: runtime.is_some_and(|name| name.starts_with(KATA_PREFIX)),
            limits: states.any_over,
            rejections: &self.rejections,
        };
        if filter.limits && self.settings.max_excluded_ratio < 1.0 {
            let share = self
                .shares
                .of(view.task(task).class, || filter.excluded(view, task));
            filter.limits = share.ratio() <= self.settings.max_excluded_ratio;
        }
        Box::new(filter)
    }
}

struct Filter<'v> {
    nodes: &'v Nodes,
    states: &'v NodeStates,
    /// The pod runs in a Kata sandbox.
    kata: bool,
    /// Hard limits hold.
    limits: bool,
    rejections: &'v Mutex<HashMap<(NodeId, &'static str), u64>>,
}

impl Filter<'_> {
    fn refusal(&self, node: NodeId) -> Option<Refusal> {
        if self.kata && !self.runs_kata(node) {
            return Some(Refusal::unresolvable(Reason::fixed(
                NAME,
                "kata_not_ready",
                "node(s) were not ready for Kata pods (kata_not_ready)",
            )));
        }
        // Evictions would not calm the node before the next report.
        let over = self.limits.then(|| self.states.over(node)).flatten();
        over.map(|reason| Refusal::unresolvable(reason.clone()))
    }

    fn runs_kata(&self, node: NodeId) -> bool {
        let labels = &self.nodes.row(node).labels;
        let is_true = |label: &str| labels.get(label).is_some_and(|value| &**value == "true");
        KATA_LABELS.into_iter().all(is_true)
    }

    /// How many of the nodes that the pod could go to, as far as the size of the node, cordons and Kata say, are over a
    /// hard limit. It stays the same for the whole session, whatever is placed.
    fn excluded(&self, view: View<'_>, task: TaskId) -> Share {
        let request = &view.task(task).request;
        let could_go = |node: &&NodeId| {
            !self.nodes.row(**node).unschedulable
                && self.nodes.allocatable.covers(**node, request)
                && (!self.kata || self.runs_kata(**node))
        };
        let mut share = Share::default();
        for node in self.nodes.ready().iter().filter(could_go) {
            share.all += 1;
            share.excluded += u32::from(self.states.over(*node).is_some());
        }
        share
    }
}

impl NodeCheck for Filter<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        if self.kata || self.limits {
            verdicts.each(nodes, |node| {
                let refusal = self.refusal(node)?;
                *locked(self.rejections)
                    .entry((node, refusal.reason.code))
                    .or_default() += 1;
                Some(refusal)
            });
        }
    }
}
