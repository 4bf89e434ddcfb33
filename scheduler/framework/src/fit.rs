//! Why tasks and jobs were refused in this session: counts per reason while it runs, Volcano's texts at the edge.

use crate::reason::Reason;
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::{Cluster, JobId, NodeId, TaskId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What all nodes together said to a task: how many refused for which reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitErrors {
    /// Reasons with the number of nodes, in the order in which they were met.
    pub counts: Vec<(Reason, usize)>,
    /// An error that concerns the task as a whole and takes the place of the first words.
    pub common: Option<String>,
}

impl FitErrors {
    /// All of `nodes` nodes refused for the same reason.
    #[must_use]
    pub fn everywhere(reason: Reason, nodes: usize) -> Self {
        let counts = if nodes == 0 {
            Vec::new()
        } else {
            vec![(reason, nodes)]
        };
        Self { counts, common: None }
    }

    /// Counts one more node that refused for `reason`.
    pub fn count(&mut self, reason: &Reason) {
        match self
            .counts
            .iter_mut()
            .find(|(known, _)| known.text == reason.text && known.code == reason.code)
        {
            Some((_, nodes)) => *nodes += 1,
            None => self.counts.push((reason.clone(), 1)),
        }
    }

    /// Number of nodes that refused.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.counts.iter().map(|(_, nodes)| nodes).sum()
    }

    /// Volcano's message: how many nodes refused and, sorted as text, for which reasons.
    #[must_use]
    pub fn message(&self) -> String {
        let nodes = self.nodes();
        let opening = self
            .common
            .clone()
            .unwrap_or_else(|| format!("0/{nodes} nodes are unavailable"));
        if nodes == 0 {
            return opening;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (reason, nodes) in &self.counts {
            *counts.entry(&reason.text).or_default() += nodes;
        }
        let lines = counts.iter().map(|(text, nodes)| format!("{nodes} {text}"));
        format!("{opening}: {}.", sorted(lines))
    }
}

/// Reason and message of a task, as its pod's condition shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskMessage {
    /// `Schedulable`, `Unschedulable` or the name of a status.
    pub reason: &'static str,
    /// The text.
    pub message: String,
}

/// What this session found out about tasks and jobs it could not serve.
#[derive(Clone, Debug, Default)]
pub struct FitLog {
    tasks: HashMap<TaskId, TaskFit>,
    jobs: HashMap<JobId, JobFit>,
}

#[derive(Clone, Debug, Default)]
struct TaskFit {
    errors: Option<Arc<FitErrors>>,
    note: Option<Reason>,
    last_transaction: Option<(TaskStatus, Option<NodeId>)>,
}

#[derive(Clone, Debug, Default)]
struct JobFit {
    notes: Vec<Reason>,
    message: String,
}

impl FitLog {
    /// What nodes said to the task.
    #[must_use]
    pub fn errors(&self, task: TaskId) -> Option<&Arc<FitErrors>> {
        self.tasks.get(&task)?.errors.as_ref()
    }

    /// Why the task was passed over before any node was asked.
    #[must_use]
    pub fn note(&self, task: TaskId) -> Option<&Reason> {
        self.tasks.get(&task)?.note.as_ref()
    }

    /// Why the job was passed over.
    #[must_use]
    pub fn job_notes(&self, job: JobId) -> &[Reason] {
        self.jobs.get(&job).map_or(&[], |fit| &fit.notes)
    }

    /// What the job as a whole is told; empty when nothing was said.
    #[must_use]
    pub fn job_message(&self, job: JobId) -> &str {
        self.jobs.get(&job).map_or("", |fit| &fit.message)
    }

    /// Where the task stood when its last statement was discarded.
    #[must_use]
    pub fn last_transaction(&self, task: TaskId) -> Option<(TaskStatus, Option<NodeId>)> {
        self.tasks.get(&task)?.last_transaction
    }

    /// Records what nodes said to the task.
    pub fn set_errors(&mut self, task: TaskId, errors: Arc<FitErrors>) {
        self.tasks.entry(task).or_default().errors = Some(errors);
    }

    /// Records why the task was passed over before any node was asked.
    pub fn set_note(&mut self, task: TaskId, reason: Reason) {
        self.tasks.entry(task).or_default().note = Some(reason);
    }

    /// Records why the job was passed over; a reason is kept once.
    pub fn add_job_note(&mut self, job: JobId, reason: Reason) {
        let notes = &mut self.jobs.entry(job).or_default().notes;
        if !notes.contains(&reason) {
            notes.push(reason);
        }
    }

    pub(crate) fn set_job_message(&mut self, job: JobId, message: String) {
        self.jobs.entry(job).or_default().message = message;
    }

    pub(crate) fn set_last_transaction(&mut self, task: TaskId, at: Option<(TaskStatus, Option<NodeId>)>) {
        self.tasks.entry(task).or_default().last_transaction = at;
    }

    /// Reason and message of a task, from its last discarded statement or else from where it stands.
    #[must_use]
    pub fn task_message(&self, cluster: &Cluster, task: TaskId) -> TaskMessage {
        let row = cluster.task(task);
        let (status, node) = self.last_transaction(task).unwrap_or((row.status, row.node));
        let place = || node.map_or_else(Text::default, |node| cluster.nodes.row(node).name.clone());
        let job_message = || row.job.map_or("", |job| self.job_message(job)).to_owned();
        let assigned = |tail: &str| {
            format!(
                "Pod {}/{} can possibly be assigned to {}{tail}",
                row.namespace,
                row.name,
                place()
            )
        };
        match status {
            TaskStatus::Allocated => TaskMessage {
                reason: "Schedulable",
                message: assigned(""),
            },
            TaskStatus::Pipelined => TaskMessage {
                reason: "Unschedulable",
                message: assigned(", once resource is released"),
            },
            TaskStatus::Pending => TaskMessage {
                reason: "Unschedulable",
                message: self
                    .errors(task)
                    .map_or_else(job_message, |errors| errors.message()),
            },
            other => TaskMessage {
                reason: other.as_str(),
                message: job_message(),
            },
        }
    }

    /// Volcano's summary of a job that is not ready: how many tasks are in which status, and what became of those that
    /// wait.
    #[must_use]
    pub fn job_summary(&self, cluster: &Cluster, job: JobId) -> String {
        let row = cluster.job(job);
        let counts = TaskStatus::ALL
            .iter()
            .map(|status| (status.as_str(), row.count(*status) as i64))
            .filter(|(_, count)| *count > 0)
            .chain([("minAvailable", row.min_available())]);
        let mut text = format!(
            "pod group is not ready, {}",
            sorted(counts.map(|(name, count)| format!("{count} {name}")))
        );
        let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
        for task in row.tasks(TaskStatus::Pending) {
            *waiting.entry(self.task_reason(cluster, *task)).or_default() += 1;
        }
        if !waiting.is_empty() {
            let lines = sorted(waiting.iter().map(|(reason, count)| format!("{count} {reason}")));
            text.push_str(&format!("; Pending: {lines}"));
        }
        text
    }

    fn task_reason(&self, cluster: &Cluster, task: TaskId) -> &'static str {
        let status = self
            .last_transaction(task)
            .map_or(cluster.task(task).status, |(status, _)| status);
        match status {
            TaskStatus::Allocated => "Schedulable",
            TaskStatus::Pipelined | TaskStatus::Pending => "Unschedulable",
            other => other.as_str(),
        }
    }
}

fn sorted(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    lines.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_sorted_as_text() {
        let mut errors = FitErrors::default();
        let taint = Reason::fixed("predicates", "taint", "node(s) had untolerated taint");
        let cpu = Reason::about("resources", "insufficient", "Insufficient cpu".to_owned());
        for _ in 0..10 {
            errors.count(&cpu);
        }
        for _ in 0..2 {
            errors.count(&taint);
        }
        assert_eq!(
            errors.message(),
            "0/12 nodes are unavailable: 10 Insufficient cpu, 2 node(s) had untolerated taint."
        );
    }

    #[test]
    fn without_nodes_only_the_opening_is_said() {
        assert_eq!(FitErrors::default().message(), "0/0 nodes are unavailable");
    }
}
