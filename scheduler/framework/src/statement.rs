//! A statement: a transaction over the session. Operations take effect at once and are written down, so that they can be
//! sent, kept for the rest of the session, or undone exactly.

use crate::session::Session;
use mco_model::status::TaskStatus;
use mco_model::{NodeId, TaskId};

/// One change, with what its undo needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The task was placed on a node with enough room.
    Allocate {
        /// The task.
        task: TaskId,
    },
    /// The task waits on a node for room that is being freed.
    Pipeline {
        /// The task.
        task: TaskId,
    },
    /// The task is to go.
    Evict {
        /// The task.
        task: TaskId,
        /// What it did before.
        before: TaskStatus,
        /// Why it goes.
        reason: &'static str,
    },
}

/// A place in a statement to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(usize);

/// An open statement. Dropping it undoes what it did.
pub struct Statement<'s, 'c> {
    session: &'s mut Session<'c>,
    operations: Vec<Operation>,
}

impl<'s, 'c> Statement<'s, 'c> {
    pub(crate) fn new(session: &'s mut Session<'c>) -> Self {
        Self {
            session,
            operations: Vec::new(),
        }
    }

    /// The session, with everything this statement did so far.
    #[must_use]
    pub fn session(&self) -> &Session<'c> {
        self.session
    }

    /// The session, to write down reasons.
    pub fn session_mut(&mut self) -> &mut Session<'c> {
        self.session
    }

    /// What was done so far.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Places a pending task on a node.
    pub fn allocate(&mut self, task: TaskId, node: NodeId) {
        self.session.place(task, node, TaskStatus::Allocated);
        self.operations.push(Operation::Allocate { task });
    }

    /// Lets a pending task wait on a node for room that is being freed.
    pub fn pipeline(&mut self, task: TaskId, node: NodeId) {
        self.session.place(task, node, TaskStatus::Pipelined);
        self.operations.push(Operation::Pipeline { task });
    }

    /// Lets a task go.
    pub fn evict(&mut self, task: TaskId, reason: &'static str) {
        let before = self.session.view().task(task).status;
        self.session.evict(task);
        self.operations.push(Operation::Evict { task, before, reason });
    }

    /// Marks the place reached.
    #[must_use]
    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.operations.len())
    }

    /// Undoes what was done after `savepoint`, last first.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        while self.operations.len() > savepoint.0 {
            match self.operations.pop() {
                Some(Operation::Allocate { task } | Operation::Pipeline { task }) => {
                    self.session.take_back(task)
                }
                Some(Operation::Evict { task, before, .. }) => self.session.reinstate(task, before),
                None => {}
            }
        }
    }

    /// Sends everything.
    pub fn commit(mut self) {
        for operation in std::mem::take(&mut self.operations) {
            match operation {
                Operation::Allocate { task } => self.session.bind(task),
                Operation::Evict { task, reason, .. } => self.session.send_eviction(task, reason),
                // Waiting places are not sent; they last as long as the session.
                Operation::Pipeline { .. } => self.session.keep(vec![operation]),
            }
        }
    }

    /// Sends nothing, and keeps every place until the session closes.
    pub fn keep(mut self) {
        let operations = std::mem::take(&mut self.operations);
        self.session.keep(operations);
    }

    /// Undoes everything; each task remembers where it stood, for the message on its pod.
    pub fn discard(mut self) {
        for operation in &self.operations {
            let (Operation::Allocate { task } | Operation::Pipeline { task } | Operation::Evict { task, .. }) =
                operation;
            self.session.remember_transaction(*task);
        }
        self.rollback_to(Savepoint(0));
    }
}

impl Drop for Statement<'_, '_> {
    fn drop(&mut self) {
        self.rollback_to(Savepoint(0));
    }
}
