//! What the scheduler wants written, by names: ids of the cluster mean nothing here.

use mco_model::event::{Amounts, PodGroupStatus};
use mco_model::spec::Text;

/// A pod. Its UID goes with every write, so that a pod of the same name that came later is never touched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodRef {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Text,
}

/// A PodGroup.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupRef {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Text,
}

/// What a Kubernetes event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum About {
    /// A pod.
    Pod(PodRef),
    /// A PodGroup.
    PodGroup(GroupRef),
    /// The Lease of this scheduler.
    Lease {
        /// `metadata.namespace`.
        namespace: Text,
        /// `metadata.name`.
        name: Text,
    },
}

/// One thing to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Bind the pod. Answered by `Event::Bound` or `Event::BindFailed`, always and once. A successful one is told on the pod.
    Bind {
        /// The pod.
        pod: PodRef,
        /// The node's name.
        node: Text,
        /// Annotations that the pod gets with the binding, beside its own.
        annotations: Vec<(Text, Text)>,
    },
    /// Evict the pod: tell, set its condition `Ready=False`, delete it. Answered by `Event::EvictFailed` when it failed.
    Evict {
        /// The pod.
        pod: PodRef,
        /// `preempt`, `reclaim`, `evict` or `shuffle`.
        reason: &'static str,
        /// Its PodGroup, which is told too.
        group: Option<GroupRef>,
    },
    /// Give the PodGroup this status. It is tried until it succeeds, the group is gone, or another status is wanted.
    GroupStatus {
        /// The group.
        group: GroupRef,
        /// The whole status.
        status: PodGroupStatus,
    },
    /// Set the pod's condition `PodScheduled` to False, and tell it with a `FailedScheduling` event. Tried like a group's status.
    PodCondition {
        /// The pod.
        pod: PodRef,
        /// Reason.
        reason: Text,
        /// Message.
        message: Text,
    },
    /// Give the queue this `status.allocated`, unless it has it.
    QueueAllocated {
        /// The queue's name.
        queue: Text,
        /// In the units of [`Amounts`].
        allocated: Amounts,
    },
    /// Write a core/v1 Event. The last that can wait, and may be dropped when too many wait.
    Tell {
        /// The object.
        about: About,
        /// `Warning`, otherwise `Normal`.
        warning: bool,
        /// Reason.
        reason: Text,
        /// Message.
        message: Text,
    },
}
