//! Who may be evicted for others.

use crate::view::View;
use mco_model::TaskId;

/// A plugin's answer to the question who may go. No opinion differs from "nobody".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Others decide.
    Abstain,
    /// These may go; none ends the question in this tier.
    Victims(Vec<TaskId>),
}

/// Names those who may be evicted for a task: within its queue when asked as preemptable, from other queues when asked
/// as reclaimable.
pub trait Evictable {
    /// Who of `candidates` may go for `evictor`.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction;
}

/// Names tasks that should go for reasons of their own.
pub trait VictimTasks {
    /// Who should go; `tasks` is what the action asks about.
    fn victims(&self, view: View<'_>, tasks: &[TaskId]) -> Vec<TaskId>;
}
