//! What a job needs to be started, kept or skipped.

use crate::reason::Reason;
use crate::view::View;
use mco_model::{JobId, NodeId};

/// A vote on a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Vote {
    /// In favour: ends the question after this tier.
    Permit,
    /// No opinion.
    Abstain,
    /// Against: ends the question at once.
    Reject(Reason),
}

/// Says that a job can be scheduled at all.
pub trait JobValid {
    /// Refuses the job.
    ///
    /// # Errors
    /// The reason.
    fn valid(&self, view: View<'_>, job: JobId) -> Result<(), Reason>;
}

/// Says that enough of a job is placed for it to be bound.
pub trait JobReady {
    /// Whether the job can be bound.
    fn ready(&self, view: View<'_>, job: JobId) -> bool;
}

/// Votes on keeping the places of a job that is not ready, because room is being freed.
pub trait JobPipelined {
    /// The vote.
    fn pipelined(&self, view: View<'_>, job: JobId) -> Vote;
}

/// Says that a job has less than its minimum and may take from others.
pub trait JobStarving {
    /// Whether the job starves.
    fn starving(&self, view: View<'_>, job: JobId) -> bool;
}

/// Chooses the job that nodes are reserved for.
pub trait TargetJob {
    /// The job, if any; the answer of the first plugin counts even when it is none.
    fn target(&self, view: View<'_>, jobs: &[JobId]) -> Option<JobId>;
}

/// Reserves nodes for the target job.
pub trait ReservedNodes {
    /// Which nodes to reserve.
    fn reserve(&self, view: View<'_>) -> Vec<NodeId>;
}
