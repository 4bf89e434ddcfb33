//! The end of a session: plugins have their last word, PodGroups get their phase, and what was not committed is undone.

use super::Session;
use crate::close::{self, CloseReport, JobOutcome, SessionOutcome, TaskOutcome};
use crate::fit::FitErrors;
use crate::statement::Operation;
use crate::view::View;
use mco_model::event::PodGroupPhase;
use mco_model::status::TaskStatus;
use mco_model::{Decision, JobId, NodeId, TaskId};
use std::collections::HashMap;
use std::sync::Arc;

impl Session<'_> {
    /// Closes the session: plugins have their last word, PodGroups get their phase, and what was not committed is undone.
    #[must_use]
    pub fn close(self) -> SessionOutcome {
        self.close_with(&mut |_| {})
    }

    /// Likewise, and calls `closed` with the name of each plugin that has had its last word.
    #[must_use]
    pub fn close_with(mut self, closed: &mut dyn FnMut(&str)) -> SessionOutcome {
        let mut report = CloseReport::default();
        for plugin in &mut self.plugins {
            plugin.close(View::new(self.cluster, &self.facts, &self.fits), &mut report);
            closed(plugin.name());
        }
        self.warnings.append(&mut report.warnings);
        for (job, message) in std::mem::take(&mut report.job_messages) {
            self.fits.set_job_message(job, message);
        }
        for (task, message) in std::mem::take(&mut report.task_messages) {
            if self.fits.errors(task).is_none() {
                let told = FitErrors {
                    common: Some(message),
                    ..FitErrors::default()
                };
                self.fits.set_errors(task, Arc::new(told));
            }
        }
        let mut gifts = std::mem::take(&mut report.gifts);
        gifts.retain(|gift| self.cluster.task(gift.task).status == TaskStatus::Binding);
        gifts.sort_by(|l, r| self.cluster.task(l.task).uid.cmp(&self.cluster.task(r.task).uid));
        for gift in &gifts {
            self.cluster.set_cards(gift.task, gift.cards.clone());
        }
        let jobs = self.close_jobs(&report);
        let waiting = self.waiting_tasks();
        let pipelined = self.pipelined();
        self.undo_kept();
        SessionOutcome {
            decisions: self.decisions,
            gifts,
            pipelined,
            jobs,
            waiting,
            warnings: self.warnings,
            figures: report.figures,
        }
    }

    fn close_jobs(&mut self, report: &CloseReport) -> Vec<JobOutcome> {
        let mut conditions: HashMap<JobId, Vec<usize>> = HashMap::new();
        for (index, (job, _)) in report.conditions.iter().enumerate() {
            conditions.entry(*job).or_default().push(index);
        }
        let ids: Vec<JobId> = self.cluster.session_jobs().map(|(id, _)| id).collect();
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            let job = self.cluster.job(id);
            let Some(group) = &job.group else { continue };
            let mut status = group.status.clone();
            for index in conditions.get(&id).into_iter().flatten() {
                let condition = &report.conditions[*index].1;
                close::put_condition(&mut status, condition, &self.facts.uid, self.facts.now);
            }
            let status = close::group_status(job, status, &self.facts.uid);
            let before = self.group_before.get(&id).unwrap_or(&group.status);
            let changed = close::differs(before, &status);
            if changed {
                self.decisions.push(Decision::PodGroupStatus {
                    job: id,
                    status: status.clone(),
                });
                self.cluster.set_group_status(id, status.clone());
            }
            let notes = self.fits.job_notes(id).to_vec();
            let summary = self.summary_of_waiting(id, status.phase);
            outcomes.push(JobOutcome {
                job: id,
                status,
                changed,
                notes,
                summary,
            });
        }
        outcomes
    }

    fn summary_of_waiting(&self, id: JobId, phase: PodGroupPhase) -> String {
        if matches!(phase, PodGroupPhase::Running | PodGroupPhase::Completed) {
            return String::new();
        }
        let job = self.cluster.job(id);
        let (pending, all) = (job.count(TaskStatus::Pending), job.task_count());
        format!(
            "{pending}/{all} tasks in gang unschedulable: {}",
            self.fits.job_summary(self.cluster, id)
        )
    }

    fn waiting_tasks(&self) -> Vec<TaskOutcome> {
        let mut waiting = Vec::new();
        for (_, job) in self.cluster.session_jobs() {
            let mut tasks: Vec<TaskId> = [TaskStatus::Allocated, TaskStatus::Pending, TaskStatus::Pipelined]
                .iter()
                .flat_map(|status| job.tasks(*status))
                .copied()
                .collect();
            tasks.sort_by(|l, r| self.cluster.task(*l).uid.cmp(&self.cluster.task(*r).uid));
            waiting.extend(tasks.into_iter().map(|task| self.task_outcome(task)));
        }
        waiting
    }

    fn task_outcome(&self, task: TaskId) -> TaskOutcome {
        let row = self.cluster.task(task);
        let told = self.fits.task_message(self.cluster, task);
        let message = if told.message.is_empty() {
            "all nodes are unavailable".to_owned()
        } else {
            told.message
        };
        TaskOutcome {
            task,
            status: row.status,
            node: row.node,
            reason: told.reason,
            message,
            errors: self.fits.errors(task).cloned(),
            note: self.fits.note(task).cloned(),
        }
    }

    fn pipelined(&self) -> Vec<(TaskId, NodeId)> {
        let placed = self.kept.iter().filter_map(|operation| match operation {
            Operation::Pipeline { task } => Some(*task),
            _ => None,
        });
        placed
            .filter(|task| self.cluster.task(*task).status == TaskStatus::Pipelined)
            .filter_map(|task| Some((task, self.cluster.task(task).node?)))
            .collect()
    }

    /// Reservations last for one session. Plugins are not told: their state ends here too.
    fn undo_kept(&mut self) {
        for operation in std::mem::take(&mut self.kept).into_iter().rev() {
            let (Operation::Pipeline { task } | Operation::Allocate { task }) = operation else {
                continue;
            };
            let row = self.cluster.task(task);
            if !matches!(row.status, TaskStatus::Allocated | TaskStatus::Pipelined) {
                continue;
            }
            if let Some(node) = row.node {
                self.cluster.vacate(task, node);
            }
            self.cluster.set_status(task, TaskStatus::Pending);
            self.cluster.uncount(task);
        }
        for (task, node) in std::mem::take(&mut self.unseen) {
            self.cluster.occupy(task, node);
        }
        for task in std::mem::take(&mut self.evicted) {
            if let Some(node) = self.cluster.task(task).node {
                // Still there when the next session looks, until its deletion is seen.
                self.cluster.vacate(task, node);
                self.cluster.occupy(task, node);
            }
        }
    }
}
