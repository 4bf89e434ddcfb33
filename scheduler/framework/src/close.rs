//! What a session leaves behind: phases and conditions of PodGroups, and what became of every task.

use crate::figures::Figures;
use crate::fit::FitErrors;
use crate::reason::Reason;
use mco_model::event::{PodGroupCondition, PodGroupPhase, PodGroupStatus};
use mco_model::extra::HeldCards;
use mco_model::job::Job;
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::time::Time;
use mco_model::{Decision, JobId, NodeId, TaskId};
use std::sync::Arc;

/// What plugins have to say at the end of a session.
#[derive(Clone, Debug, Default)]
pub struct CloseReport {
    pub(crate) conditions: Vec<(JobId, GroupCondition)>,
    pub(crate) job_messages: Vec<(JobId, String)>,
    pub(crate) task_messages: Vec<(TaskId, String)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) gifts: Vec<Gift>,
    /// What is counted for metrics.
    pub figures: Figures,
}

/// What a pod gets together with its binding.
#[derive(Clone, Debug, PartialEq)]
pub struct Gift {
    /// The pod.
    pub task: TaskId,
    /// Cards that are its own from now on.
    pub cards: HeldCards,
    /// Annotations that tell the node's agents so.
    pub annotations: Vec<(&'static str, String)>,
}

/// A condition that a plugin sets on a PodGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCondition {
    /// `Unschedulable` or `Scheduled`.
    pub kind: &'static str,
    /// Reason.
    pub reason: &'static str,
    /// Message.
    pub message: String,
}

impl CloseReport {
    /// Sets a condition of the job's PodGroup to True, replacing the one of the same kind.
    pub fn set_condition(&mut self, job: JobId, condition: GroupCondition) {
        self.conditions.push((job, condition));
    }

    /// Tells the job as a whole why it is not served; tasks without a reason of their own repeat it.
    pub fn tell_job(&mut self, job: JobId, message: String) {
        self.job_messages.push((job, message));
    }

    /// Tells a task, unless nodes have told it something already.
    pub fn tell_task(&mut self, task: TaskId, message: String) {
        self.task_messages.push((task, message));
    }

    /// Gives a pod that is bound something on its way.
    pub fn give(&mut self, gift: Gift) {
        self.gifts.push(gift);
    }

    /// What pods get so far.
    #[must_use]
    pub fn gifts(&self) -> &[Gift] {
        &self.gifts
    }

    /// Tells of something odd about the session as a whole.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// What came of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionOutcome {
    /// Binds, evictions and status writes, in the order in which they were decided.
    pub decisions: Vec<Decision>,
    /// What pods that are bound get together with their binding.
    pub gifts: Vec<Gift>,
    /// Tasks that wait on a node for room to be freed, in the order in which they were placed.
    pub pipelined: Vec<(TaskId, NodeId)>,
    /// Every job of the session, by UID.
    pub jobs: Vec<JobOutcome>,
    /// Every task that was left waiting, job by job.
    pub waiting: Vec<TaskOutcome>,
    /// What was odd about configuration and arguments, and what plugins had to say about the session as a whole.
    pub warnings: Vec<String>,
    /// What was counted on the way.
    pub figures: Figures,
}

/// What became of a job.
#[derive(Clone, Debug)]
pub struct JobOutcome {
    /// The job.
    pub job: JobId,
    /// Status of its PodGroup after the session.
    pub status: PodGroupStatus,
    /// The status differs from the one before, times and ids of conditions aside.
    pub changed: bool,
    /// Why the job was passed over.
    pub notes: Vec<Reason>,
    /// How many of its tasks wait and what became of them; empty once the group runs.
    pub summary: String,
}

/// What became of a task that was left waiting.
#[derive(Clone, Debug)]
pub struct TaskOutcome {
    /// The task.
    pub task: TaskId,
    /// Its status when the session closed: Pending, Allocated without its gang, or Pipelined.
    pub status: TaskStatus,
    /// Where it was, if anywhere.
    pub node: Option<NodeId>,
    /// Reason for its pod's condition.
    pub reason: &'static str,
    /// Message for its pod's condition.
    pub message: String,
    /// What nodes said.
    pub errors: Option<Arc<FitErrors>>,
    /// Why it was passed over before any node was asked.
    pub note: Option<Reason>,
}

/// Phase and counters of a PodGroup, from the tasks as the session leaves them.
#[must_use]
pub fn group_status(job: &Job, mut status: PodGroupStatus, session: &str) -> PodGroupStatus {
    let unschedulable = status.conditions.iter().any(|condition| {
        &*condition.kind == "Unschedulable" && condition.status && &*condition.transition_id == session
    });
    let (running, succeeded) = (job.count(TaskStatus::Running), job.count(TaskStatus::Succeeded));
    let held = job.allocated_count() + succeeded;
    if running > 0 && unschedulable {
        status.phase = PodGroupPhase::Unknown;
    } else if held as i64 >= job.min_available() {
        status.phase = if succeeded == held {
            PodGroupPhase::Completed
        } else {
            PodGroupPhase::Running
        };
    } else if status.phase != PodGroupPhase::Inqueue {
        status.phase = PodGroupPhase::Pending;
    }
    status.running = running as i32;
    status.failed = job.count(TaskStatus::Failed) as i32;
    status.succeeded = succeeded as i32;
    status
}

/// Replaces the condition of the same kind, or appends.
pub(crate) fn put_condition(
    status: &mut PodGroupStatus,
    condition: &GroupCondition,
    session: &Text,
    now: Time,
) {
    let condition = PodGroupCondition {
        kind: condition.kind.into(),
        status: true,
        transition_id: session.clone(),
        last_transition: Some(now),
        reason: condition.reason.into(),
        message: condition.message.as_str().into(),
    };
    match status
        .conditions
        .iter_mut()
        .find(|known| known.kind == condition.kind)
    {
        Some(known) => *known = condition,
        None => status.conditions.push(condition),
    }
}

/// The two differ in more than times and ids of conditions.
pub(crate) fn differs(before: &PodGroupStatus, after: &PodGroupStatus) -> bool {
    let same_condition = |l: &PodGroupCondition, r: &PodGroupCondition| {
        l.kind == r.kind && l.status == r.status && l.reason == r.reason && l.message == r.message
    };
    before.phase != after.phase
        || (before.running, before.succeeded, before.failed) != (after.running, after.succeeded, after.failed)
        || before.conditions.len() != after.conditions.len()
        || before
            .conditions
            .iter()
            .zip(&after.conditions)
            .any(|(l, r)| !same_condition(l, r))
}
