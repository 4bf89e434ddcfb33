//! The plugin `gang`: a job runs with its minimum of tasks or not at all.

use mco_framework::close::{CloseReport, GroupCondition};
use mco_framework::{
    Evictable, Eviction, JobOrder, JobPipelined, JobReady, JobStarving, JobValid, OpenContext, PluginError,
    PluginFactory, Reason, SessionPlugin, View, Vote,
};
use mco_model::status::TaskStatus;
use mco_model::{JobId, TaskId};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Makes the plugin `gang`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct GangFactory;

impl PluginFactory for GangFactory {
    fn name(&self) -> &'static str {
        "gang"
    }

    fn open(&self, _context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Gang))
    }
}

struct Gang;

impl SessionPlugin for Gang {
    fn name(&self) -> &'static str {
        "gang"
    }
    fn job_valid(&self) -> Option<&dyn JobValid> {
        Some(self)
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn job_order(&self) -> Option<&dyn JobOrder> {
        Some(self)
    }
    fn job_ready(&self) -> Option<&dyn JobReady> {
        Some(self)
    }
    fn job_pipelined(&self) -> Option<&dyn JobPipelined> {
        Some(self)
    }
    fn job_starving(&self) -> Option<&dyn JobStarving> {
        Some(self)
    }

    fn close(&mut self, view: View<'_>, report: &mut CloseReport) {
        let mut unready = Vec::new();
        for (id, job) in view.session_jobs() {
            if job.is_ready() {
                report.set_condition(
                    id,
                    GroupCondition {
                        kind: "Scheduled",
                        reason: "tasks in gang are ready to be scheduled",
                        message: String::new(),
                    },
                );
            } else {
                unready.push((id, tell_unready(view, id, report)));
            }
        }
        report.figures.unready_jobs = Some(unready);
    }
}

/// Tells a job that is short of its minimum, and the tasks that had a place but may not use it. Returns how many it lacks.
fn tell_unready(view: View<'_>, id: JobId, report: &mut CloseReport) -> i64 {
    let job = view.job(id);
    let could_hold = |task: &&TaskId| {
        let last = view.fits().last_transaction(**task);
        last.is_some_and(|(status, _)| status.is_allocated())
    };
    let placed = job.tasks(TaskStatus::Pending).iter().filter(could_hold).count() as i64;
    let lacking = job.min_available() - (job.ready_count() + placed);
    let message = format!(
        "{}/{} tasks in gang unschedulable: {}",
        lacking,
        job.task_count(),
        view.fits().job_summary(&view, id)
    );
    for task in job.tasks(TaskStatus::Allocated) {
        report.tell_task(*task, message.clone());
    }
    report.tell_job(id, message.clone());
    report.set_condition(
        id,
        GroupCondition {
            kind: "Unschedulable",
            reason: "NotEnoughResources",
            message,
        },
    );
    lacking
}

impl JobValid for Gang {
    fn valid(&self, view: View<'_>, job: JobId) -> Result<(), Reason> {
        let job = view.job(job);
        if !job.roles_valid() {
            return Err(Reason::fixed(
                "gang",
                "NotEnoughPodsOfTask",
                "Not enough valid pods of each task for gang-scheduling",
            ));
        }
        let (valid, min) = (job.valid_count(), job.min_available());
        if valid < min {
            let text = format!("Not enough valid tasks for gang-scheduling, valid: {valid}, min: {min}");
            return Err(Reason::about("gang", "NotEnoughTasks", text));
        }
        Ok(())
    }
}

impl Evictable for Gang {
    /// What each job holds above its minimum may go, in the order in which candidates come.
    fn victims(&self, view: View<'_>, _evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let mut spare: HashMap<JobId, i64> = HashMap::new();
        let mut takes_spare = |id: &TaskId| {
            let Some(job) = view.task(*id).job else {
                return false;
            };
            let spare = spare
                .entry(job)
                .or_insert_with(|| view.job(job).ready_count() - view.job(job).min_available());
            let takes = *spare > 0;
            *spare -= i64::from(takes);
            takes
        };
        Eviction::Victims(candidates.iter().copied().filter(|id| takes_spare(id)).collect())
    }
}

impl JobOrder for Gang {
    /// Jobs that lack tasks come before those that have their minimum.
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering {
        view.job(left).is_ready().cmp(&view.job(right).is_ready())
    }
}

impl JobReady for Gang {
    fn ready(&self, view: View<'_>, job: JobId) -> bool {
        let job = view.job(job);
        job.roles_ready() && job.is_ready()
    }
}

impl JobPipelined for Gang {
    fn pipelined(&self, view: View<'_>, job: JobId) -> Vote {
        let job = view.job(job);
        if job.roles_pipelined() && job.is_pipelined() {
            return Vote::Permit;
        }
        Vote::Reject(Reason::fixed(
            "gang",
            "NotEnoughTasks",
            "fewer tasks than the minimum hold or wait for a place",
        ))
    }
}

impl JobStarving for Gang {
    /// Only the job's own minimum counts; minimums of roles do not.
    fn starving(&self, view: View<'_>, job: JobId) -> bool {
        view.job(job).is_starving()
    }
}

#[cfg(test)]
mod tests;
