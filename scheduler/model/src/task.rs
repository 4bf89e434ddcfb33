//! A task: the scheduler's row for a pod, and the class it shares with pods that are alike.

use crate::event::{PodRecord, WorkloadKind};
use crate::extra::PodExtra;
use crate::ids::{ClassId, JobId, NodeId};
use crate::node::Accounting;
use crate::resource::{ExactResource, Resource};
use crate::spec::{Labels, PodSpec, Text};
use crate::status::TaskStatus;
use crate::time::Time;
use std::sync::Arc;

/// A pod as the scheduler sees it.
#[derive(Clone, Debug)]
pub struct Task {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Text,
    /// The job it belongs to; a pod in no group has none and is never scheduled.
    pub job: Option<JobId>,
    /// Role inside the job (annotation `volcano.sh/task-spec`).
    pub role: Text,
    /// Annotation `volcano.sh/template-uid`.
    pub template_uid: Text,
    /// What only some plugins read.
    pub extra: PodExtra,
    /// Status; only the cluster changes it, with everything that is counted by status.
    pub status: TaskStatus,
    /// Where it is or is to go.
    pub node: Option<NodeId>,
    /// What it shares with pods that are alike.
    pub class: ClassId,
    /// What it asks for; the same for all tasks of the class.
    pub request: Resource,
    /// It asks for nothing but a place.
    pub best_effort: bool,
    /// Priority among the tasks of a job.
    pub priority: i32,
    /// Number at the end of a name with at least two dashes: `job-role-7` has 7.
    pub ordinal: Option<i64>,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// May be evicted for others.
    pub preemptable: bool,
    /// Labels.
    pub labels: Arc<Labels>,
    /// Controlling owner, when it is a kind that selects pods.
    pub controller: Option<(WorkloadKind, Text)>,
    /// `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// The pod's `PodScheduled` condition as last seen: status is True, reason, message.
    pub scheduled_condition: Option<(bool, Text, Text)>,
    /// Its place in the job's list of its status.
    pub(crate) position: u32,
    /// How it is counted on its node, when it is.
    pub(crate) accounting: Option<Accounting>,
}

/// What alike pods share. Filters and scores that look at nothing else give one answer for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodClass {
    /// What placement rules read.
    pub spec: PodSpec,
    /// What each asks for.
    pub request: ExactResource,
    /// Nothing but a place.
    pub best_effort: bool,
}

/// The number at the end of `name` when it has at least three parts separated by dashes.
pub(crate) fn ordinal(name: &str) -> Option<i64> {
    if name.split('-').count() < 3 {
        return None;
    }
    name.rsplit('-').next().and_then(|part| part.parse().ok())
}

/// Status that the API server shows for the pod.
pub(crate) fn status_of(pod: &PodRecord) -> TaskStatus {
    TaskStatus::of_pod(pod.phase, pod.deleting, !pod.node.is_empty())
}
