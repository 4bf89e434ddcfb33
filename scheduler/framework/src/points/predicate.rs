//! Where a task may go.

use crate::reason::{Reason, Refusal};
use crate::view::View;
use mco_model::{NodeId, TaskId};

/// What an answer depends on, which says how long it can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// On the task's class and the node alone: shared by all tasks of the class, asked again only for nodes that
    /// changed.
    ClassAndNode,
    /// On the task itself or on other nodes: asked again for each task.
    Task,
}

/// Looks at a task before any node is looked at.
pub trait PrePredicate {
    /// Refuses the task for every node.
    ///
    /// # Errors
    /// The reason, which is recorded for all nodes.
    fn check(&self, view: View<'_>, task: TaskId) -> Result<(), Reason>;
}

/// Filters nodes.
pub trait Predicate {
    /// What the answers for this task depend on.
    fn dependence(&self, view: View<'_>, task: TaskId) -> Dependence;

    /// Does once what is the same for all nodes.
    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v>;
}

/// A filter made ready for one task.
pub trait NodeCheck: Sync {
    /// Looks at a block of nodes and refuses those where the task may not go. Nodes that others refused already are
    /// skipped.
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>);
}

/// The answers for a block of nodes: `None` as long as nobody refused.
pub struct Verdicts<'a> {
    refusals: &'a mut [Option<Box<Refusal>>],
}

impl<'a> Verdicts<'a> {
    /// Answers for as many nodes as `refusals` is long.
    pub fn new(refusals: &'a mut [Option<Box<Refusal>>]) -> Self {
        Self { refusals }
    }

    /// True while nobody refused the node at `index` of the block.
    #[must_use]
    pub fn open(&self, index: usize) -> bool {
        self.refusals[index].is_none()
    }

    /// Refuses the node at `index` of the block; the first refusal stays.
    pub fn refuse(&mut self, index: usize, refusal: Refusal) {
        self.refusals[index].get_or_insert_with(|| Box::new(refusal));
    }

    /// Asks `check` for each node that is still open.
    pub fn each(&mut self, nodes: &[NodeId], mut check: impl FnMut(NodeId) -> Option<Refusal>) {
        for (index, node) in nodes.iter().enumerate() {
            if self.open(index)
                && let Some(refusal) = check(*node)
            {
                self.refuse(index, refusal);
            }
        }
    }
}
