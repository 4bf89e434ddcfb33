//! What a queue may still do.

use crate::reason::Reason;
use crate::view::View;
use mco_model::{QueueId, TaskId};

/// Says that a queue has used up what it deserves.
pub trait Overused {
    /// Why the queue gets nothing in this action; `None` when it may go on.
    fn overused(&self, view: View<'_>, queue: QueueId) -> Option<Reason>;
}

/// Says that a queue may take from others.
pub trait Preemptive {
    /// Whether the queue may take from others.
    fn preemptive(&self, view: View<'_>, queue: QueueId) -> bool;
}

/// Says that a task fits into its queue's limits.
pub trait Allocatable {
    /// Refuses the task on behalf of its queue.
    ///
    /// # Errors
    /// The reason.
    fn allocatable(&self, view: View<'_>, queue: QueueId, task: TaskId) -> Result<(), Reason>;
}
