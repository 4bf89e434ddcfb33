//! Decisions: the only way out. The shell that drives the core carries them out and answers with events.

use crate::event::PodGroupStatus;
use crate::ids::{JobId, NodeId, TaskId};

/// What a session decided, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Bind the pod to the node.
    Bind {
        /// The pod.
        task: TaskId,
        /// Where to.
        node: NodeId,
    },
    /// Evict the pod.
    Evict {
        /// The pod.
        task: TaskId,
        /// `preempt`, `reclaim`, `evict` or `shuffle`.
        reason: &'static str,
    },
    /// Write the status of a PodGroup that changed.
    PodGroupStatus {
        /// The group.
        job: JobId,
        /// The whole status.
        status: PodGroupStatus,
    },
}
