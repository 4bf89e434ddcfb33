//! The plugin `priority`: more important jobs and tasks first, and nobody gives way to an equal.

use mco_framework::{
    Evictable, Eviction, JobOrder, JobStarving, OpenContext, PluginError, PluginFactory, SessionPlugin,
    TaskOrder, View,
};
use mco_model::{JobId, TaskId};
use std::cmp::Ordering;

/// Makes the plugin `priority`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityFactory;

impl PluginFactory for PriorityFactory {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn open(&self, _context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Priority))
    }
}

struct Priority;

impl SessionPlugin for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }
    fn task_order(&self) -> Option<&dyn TaskOrder> {
        Some(self)
    }
    fn job_order(&self) -> Option<&dyn JobOrder> {
        Some(self)
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn job_starving(&self) -> Option<&dyn JobStarving> {
        Some(self)
    }
}

impl TaskOrder for Priority {
    fn compare(&self, view: View<'_>, left: TaskId, right: TaskId) -> Ordering {
        view.task(right).priority.cmp(&view.task(left).priority)
    }
}

impl JobOrder for Priority {
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering {
        view.job(right).priority.cmp(&view.job(left).priority)
    }
}

impl Evictable for Priority {
    /// Between jobs the priority of the jobs counts, within a job that of the tasks.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let evictor = view.task(evictor);
        let priority = evictor.job.map_or(0, |job| view.job(job).priority);
        let gives_way = |id: &TaskId| {
            let candidate = view.task(*id);
            if candidate.job == evictor.job {
                return candidate.priority < evictor.priority;
            }
            candidate.job.is_some_and(|job| view.job(job).priority < priority)
        };
        Eviction::Victims(candidates.iter().copied().filter(gives_way).collect())
    }
}

impl JobStarving for Priority {
    /// Some task neither holds nor waits for a place; tasks that failed or are going count among them.
    fn starving(&self, view: View<'_>, job: JobId) -> bool {
        let job = view.job(job);
        job.ready_count() + job.waiting_count() < job.task_count() as i64
    }
}

#[cfg(test)]
mod tests;
