//! Who comes first: jobs in a queue, queues, tasks in a job, clusters. The first plugin with an opinion decides.

use crate::view::View;
use mco_model::{JobId, QueueId, TaskId};
use std::cmp::Ordering;

/// Orders the jobs of a queue; `Less` means that `left` is served first.
pub trait JobOrder {
    /// Which of two jobs is served first.
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering;
}

/// Orders queues.
pub trait QueueOrder {
    /// Which of two queues is served first.
    fn compare(&self, view: View<'_>, left: QueueId, right: QueueId) -> Ordering;
}

/// Orders the tasks of a job.
pub trait TaskOrder {
    /// Which of two tasks is placed first.
    fn compare(&self, view: View<'_>, left: TaskId, right: TaskId) -> Ordering;
}

/// Orders clusters by name, for schedulers that have several to choose from. Nothing in this project asks it.
pub trait ClusterOrder {
    /// Which of two clusters comes first.
    fn compare(&self, view: View<'_>, left: &str, right: &str) -> Ordering;
}
