//! Whether a job is admitted, so that its controller makes its pods.

use crate::points::Vote;
use crate::view::View;
use mco_model::JobId;

/// Votes on admitting a job. Voters may write down what they promised: Volcano 1.9's proportion counts a job it
/// permits at once, even when another voter refuses it.
pub trait JobEnqueueable {
    /// The vote.
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote;
}

/// Is told of every job that was admitted.
pub trait JobEnqueued {
    /// The job was admitted.
    fn enqueued(&mut self, view: View<'_>, job: JobId);
}
