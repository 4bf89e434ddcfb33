//! What a session would tell about objects, as Kubernetes events: the same reasons that stand in conditions, addressed to
//! the objects they concern. Whether an event is worth a write is for the shell to say.

use crate::close::{SessionOutcome, TaskOutcome};
use crate::reason::Reason;
use mco_model::event::PodGroupPhase;
use mco_model::status::TaskStatus;
use mco_model::{Cluster, JobId, TaskId};

/// An event about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEvent {
    /// The object.
    pub about: About,
    /// `Warning`, otherwise `Normal`.
    pub warning: bool,
    /// Reason.
    pub reason: &'static str,
    /// Message.
    pub message: String,
}

/// An object that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The job's PodGroup.
    PodGroup(JobId),
    /// The task's pod.
    Pod(TaskId),
}

/// The events of a session: for each job why it was passed over and where it stands, then for each pod left waiting why.
#[must_use]
pub fn events(cluster: &Cluster, outcome: &SessionOutcome) -> Vec<ObjectEvent> {
    let mut events = Vec::new();
    for job in &outcome.jobs {
        let about = About::PodGroup(job.job);
        let mut tell = |warning, reason, message| {
            events.push(ObjectEvent {
                about,
                warning,
                reason,
                message,
            })
        };
        for note in &job.notes {
            if let Some(words) = words_for_group(note) {
                tell(false, "Unschedulable", words.to_owned());
            }
        }
        if matches!(
            job.status.phase,
            PodGroupPhase::Unknown | PodGroupPhase::Pending | PodGroupPhase::Inqueue
        ) {
            tell(true, "Unschedulable", job.summary.clone());
        } else if job.changed {
            tell(false, "Scheduled", "pod group is ready".to_owned());
        }
    }
    for task in &outcome.waiting {
        if is_news(cluster, task) {
            events.push(ObjectEvent {
                about: About::Pod(task.task),
                warning: true,
                reason: "FailedScheduling",
                message: task.message.clone(),
            });
        }
    }
    events
}

/// What a PodGroup is told of a note about its job. As in Volcano that is a refused admission alone, without the resource
/// that was short: the rest is for explanations. What a namespace's quota lacks is told in full.
fn words_for_group(note: &Reason) -> Option<&str> {
    let words = [
        "resource in cluster is overused",
        "queue resource quota insufficient",
    ];
    if note.text.starts_with("resource quota insufficient") {
        return Some(&note.text);
    }
    words.into_iter().find(|words| note.text.starts_with(words))
}

/// The task's pod does not say yet, by its condition `PodScheduled`, why it waits.
#[must_use]
pub fn is_news(cluster: &Cluster, task: &TaskOutcome) -> bool {
    let known = &cluster.task(task.task).scheduled_condition;
    let told_before = known.as_ref().is_some_and(|(placed, reason, message)| {
        !placed && **reason == *task.reason && **message == *task.message
    });
    // Of a gated pod the API server itself says why it waits.
    let is_gated = !cluster.spec(task.task).scheduling_gates.is_empty();
    !told_before && !is_gated && task.status != TaskStatus::Binding
}
