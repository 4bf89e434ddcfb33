//! Which nodes fit: one answer per node, kept together with the state of the node it was given for.

use super::{Room, by_block};
use mco_framework::points::{NodeCheck, Verdicts};
use mco_framework::reason::{Reason, Refusal};
use mco_framework::{Session, View};
use mco_model::resource::{Dimension, Missing, Resource};
use mco_model::{Id, NodeId, TaskId};
use std::sync::Arc;

/// Answers by node slot.
#[derive(Default)]
pub(super) struct Filtered {
    /// The node's change counter plus one at the time of the answer; 0 when there is none.
    stamps: Vec<u64>,
    answers: Vec<Option<Arc<Refusal>>>,
}

/// What a node says while it is asked.
type Answer = Option<Box<Refusal>>;

impl Filtered {
    /// Forgets all answers.
    pub(super) fn forget(&mut self) {
        self.stamps.clear();
    }

    /// Why the node does not fit.
    pub(super) fn refusal(&self, node: NodeId) -> Option<&Arc<Refusal>> {
        self.answers[node.slot()].as_ref()
    }

    /// Asks the nodes that changed since they were asked.
    pub(super) fn update(&mut self, session: &Session<'_>, task: TaskId, room: Room, threads: usize) {
        let view = session.view();
        let slots = view.nodes.slots();
        self.stamps.resize(slots, 0);
        self.answers.resize(slots, None);
        let ready = view.nodes.ready();
        let changed = |node: &NodeId| self.stamps[node.slot()] != view.nodes.change(*node) + 1;
        let stale: Vec<NodeId> = ready.iter().copied().filter(changed).collect();
        if stale.is_empty() {
            return;
        }
        let checks: Vec<Box<dyn NodeCheck + '_>> = session
            .predicates()
            .map(|predicate| predicate.prepare(view, task))
            .collect();
        let mut fresh: Vec<Answer> = vec![None; stale.len()];
        by_block(threads, &stale, &mut fresh, |nodes, answers| {
            if room == Room::Future {
                refuse_without_room(view, task, nodes, answers);
            }
            for check in &checks {
                check.check(nodes, &mut Verdicts::new(answers));
            }
        });
        for (node, answer) in stale.into_iter().zip(fresh) {
            self.stamps[node.slot()] = view.nodes.change(node) + 1;
            self.answers[node.slot()] = answer.map(Arc::from);
        }
    }
}

fn refuse_without_room(view: View<'_>, task: TaskId, nodes: &[NodeId], answers: &mut [Answer]) {
    let request = &view.task(task).request;
    let mut verdicts = Verdicts::new(answers);
    for (index, node) in nodes.iter().enumerate() {
        if !view.nodes.future_covers(*node, request) {
            verdicts.refuse(index, Refusal::unschedulable(shortage(view, *node, request)));
        }
    }
}

/// Names the first dimension that is short: CPU, memory, then scalars by name.
fn shortage(view: View<'_>, node: NodeId, request: &Resource) -> Reason {
    let short = request.less_equal_failing(&view.nodes.future_idle(node), Missing::Zero);
    let rank = |dimension: &Dimension| match dimension {
        Dimension::Cpu => (0, ""),
        Dimension::Memory => (1, ""),
        Dimension::Scalar(id) => (2, view.cluster().scalars.name(*id)),
    };
    let first = short.into_iter().min_by_key(rank);
    let name = first.map_or("resources", |dimension| dimension.name(&view.cluster().scalars));
    Reason::about("resources", "insufficient", format!("Insufficient {name}"))
}
