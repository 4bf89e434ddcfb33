//! Shares of jobs: from what the cluster counts for each, and from what this session changed.

use super::share::Whole;
use mco_framework::View;
use mco_model::resource::Resource;
use mco_model::status::TaskStatus;
use mco_model::{Id, JobId, TaskId};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Shares of jobs. A session that compares no jobs never looks at them.
#[derive(Debug, Default)]
pub struct JobShares {
    whole: Whole,
    /// What jobs hold that this session placed or took something of. Tasks that wait for room to be freed count too,
    /// which is where this differs from what the cluster counts.
    changed: HashMap<JobId, Resource>,
    /// Shares by slot of the job, once somebody asked.
    shares: OnceLock<Vec<f64>>,
}

impl JobShares {
    /// Shares of `whole`.
    #[must_use]
    pub fn of(whole: Whole) -> Self {
        Self {
            whole,
            ..Self::default()
        }
    }

    /// What the cluster has.
    #[must_use]
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// What the job holds.
    #[must_use]
    pub fn allocated<'a>(&'a self, view: View<'a>, job: JobId) -> &'a Resource {
        match self.changed.get(&job) {
            Some(allocated) => allocated,
            None => view.cluster().job(job).allocated(),
        }
    }

    /// The dominant share of what the job holds.
    #[must_use]
    pub fn share(&self, view: View<'_>, job: JobId) -> f64 {
        let shares = self.shares.get_or_init(|| self.all(view));
        match shares.get(job.slot()) {
            Some(share) => *share,
            None => self.whole.dominant_share(self.allocated(view, job)),
        }
    }

    /// Shares of the jobs that this session changed.
    pub fn changed<'a>(&'a self) -> impl Iterator<Item = (JobId, f64)> + 'a {
        self.changed
            .iter()
            .map(|(job, allocated)| (*job, self.whole.dominant_share(allocated)))
    }

    fn all(&self, view: View<'_>) -> Vec<f64> {
        let mut shares = Vec::new();
        for (id, _) in view.session_jobs() {
            if shares.len() <= id.slot() {
                shares.resize(id.slot() + 1, 0.0);
            }
            shares[id.slot()] = self.whole.dominant_share(self.allocated(view, id));
        }
        shares
    }

    /// The task was placed; `view` shows it so already.
    pub fn allocate(&mut self, view: View<'_>, job: JobId, task: TaskId) {
        let task = view.task(task);
        let before_is_known = self.changed.contains_key(&job);
        let allocated = known_or_counted(&mut self.changed, view, job);
        if before_is_known || task.status == TaskStatus::Pipelined {
            allocated.add(&task.request);
        }
        self.update(job);
    }

    /// The task was taken away; `view` shows it so already.
    pub fn deallocate(&mut self, view: View<'_>, job: JobId, task: TaskId) {
        let before_is_known = self.changed.contains_key(&job);
        let allocated = known_or_counted(&mut self.changed, view, job);
        if before_is_known {
            allocated.sub_unchecked(&view.task(task).request);
        }
        self.update(job);
    }

    fn update(&mut self, job: JobId) {
        let share = self
            .changed
            .get(&job)
            .map(|allocated| self.whole.dominant_share(allocated));
        if let (Some(shares), Some(share)) = (self.shares.get_mut(), share)
            && let Some(entry) = shares.get_mut(job.slot())
        {
            *entry = share;
        }
    }
}

/// What is noted for the job, or else what the cluster counts for it by now.
fn known_or_counted<'a>(
    changed: &'a mut HashMap<JobId, Resource>,
    view: View<'_>,
    job: JobId,
) -> &'a mut Resource {
    changed
        .entry(job)
        .or_insert_with(|| view.job(job).allocated().clone())
}
