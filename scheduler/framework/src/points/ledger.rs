//! What a plugin counts while statements place tasks and take them back.

use crate::view::View;
use mco_model::TaskId;

/// Is told of every change a statement makes, and of every undo. What it counts must come out the same when a change
/// and its undo have passed.
pub trait Ledger {
    /// The task was allocated or pipelined, or its eviction was undone.
    fn allocated(&mut self, view: View<'_>, task: TaskId);

    /// The task was evicted, or its placement was undone.
    fn deallocated(&mut self, view: View<'_>, task: TaskId);
}
