//! The plugin `drf`: jobs share the cluster by their dominant share; with `enableHierarchy` queues do so along a tree.

pub mod jobs;
pub mod share;
pub mod tree;

use jobs::JobShares;
use mco_framework::close::CloseReport;
use mco_framework::{
    Evictable, Eviction, JobOrder, Ledger, OpenContext, PluginError, PluginFactory, QueueOrder,
    SessionPlugin, View,
};
use mco_model::resource::Resource;
use mco_model::{JobId, QueueId, TaskId};
use share::Whole;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tree::Tree;

const NAME: &str = "drf";

/// Shares closer than this count as equal when victims are chosen.
const SHARE_DELTA: f64 = 1e-6;

/// Makes the plugin `drf`, which takes no arguments. Whether it works hierarchically is said by the first entry of that
/// name in the configuration, wherever it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrfFactory;

impl PluginFactory for DrfFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let view = context.view;
        let whole = Whole::of(view.nodes.total_allocatable());
        let first = context.conf.plugins().find(|option| option.name == NAME);
        let hierarchy = first
            .is_some_and(|option| option.enabled.hierarchy())
            .then(|| Hierarchy::plant(view, whole.clone()));
        Ok(Box::new(Drf {
            shares: JobShares::of(whole),
            hierarchy,
        }))
    }
}

struct Drf {
    shares: JobShares,
    hierarchy: Option<Hierarchy>,
}

/// The tree of queues; settled when somebody looks, since many tasks are placed between two looks.
struct Hierarchy {
    whole: Whole,
    tree: Mutex<Tree>,
}

impl Hierarchy {
    fn plant(view: View<'_>, whole: Whole) -> Self {
        let mut tree = Tree::default();
        for (id, job) in view.session_jobs() {
            let Some(queue) = job.queue.map(|queue| view.queue(queue)) else {
                continue;
            };
            let request = job.total_request().clone();
            tree.add_job(
                id,
                &queue.hierarchy,
                &queue.hierarchy_weights,
                job.allocated(),
                request,
            );
        }
        Self {
            whole,
            tree: Mutex::new(tree),
        }
    }

    fn settled(&self) -> MutexGuard<'_, Tree> {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.settle(&self.whole);
        tree
    }

    fn tree_mut(&mut self) -> &mut Tree {
        self.tree.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionPlugin for Drf {
    fn name(&self) -> &'static str {
        NAME
    }
    fn job_order(&self) -> Option<&dyn JobOrder> {
        Some(self)
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn queue_order(&self) -> Option<&dyn QueueOrder> {
        self.hierarchy
            .as_ref()
            .map(|hierarchy| hierarchy as &dyn QueueOrder)
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        self.hierarchy
            .as_ref()
            .map(|hierarchy| hierarchy as &dyn Evictable)
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        Some(self)
    }
    fn close(&mut self, _view: View<'_>, report: &mut CloseReport) {
        report.figures.job_shares = self.shares.changed().collect();
    }
}

impl JobOrder for Drf {
    /// The job with the smaller share comes first.
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering {
        let order = self
            .shares
            .share(view, left)
            .partial_cmp(&self.shares.share(view, right));
        order.unwrap_or(Ordering::Equal)
    }
}

impl Evictable for Drf {
    /// A task may go when its job, without it, still has no smaller share than the evictor's job would have. What was
    /// looked at before counts as gone, chosen or not.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let whole = self.shares.whole();
        let evictor = view.task(evictor);
        let mut with_evictor = evictor
            .job
            .map_or_else(Resource::default, |job| self.shares.allocated(view, job).clone());
        with_evictor.add(&evictor.request);
        let share = whole.dominant_share(&with_evictor);
        let mut left: HashMap<JobId, Resource> = HashMap::new();
        let mut may_go = |id: &TaskId| {
            let task = view.task(*id);
            let Some(job) = task.job else { return false };
            let left = left
                .entry(job)
                .or_insert_with(|| self.shares.allocated(view, job).clone());
            left.sub_unchecked(&task.request);
            let without = whole.dominant_share(left);
            share < without || (share - without).abs() <= SHARE_DELTA
        };
        Eviction::Victims(candidates.iter().copied().filter(|id| may_go(id)).collect())
    }
}

impl QueueOrder for Hierarchy {
    fn compare(&self, view: View<'_>, left: QueueId, right: QueueId) -> Ordering {
        let (left, right) = (view.queue(left), view.queue(right));
        self.settled().compare(&left.hierarchy, &right.hierarchy)
    }
}

impl Evictable for Hierarchy {
    /// A task may go when, without it and with the evictor placed, the evictor's queue would still come first. Each is
    /// looked at by itself.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let evictor = view.task(evictor);
        let place = |job: Option<JobId>| Some((job?, view.queue(view.job(job?).queue?)));
        let Some((evictor_job, evictor_queue)) = place(evictor.job) else {
            return Eviction::Victims(Vec::new());
        };
        let mut tree = self.settled().clone();
        tree.allocate(evictor_job, &evictor.request);
        let mut may_go = |id: &TaskId| {
            let task = view.task(*id);
            let Some((job, queue)) = place(task.job) else {
                return false;
            };
            tree.deallocate(job, &task.request);
            tree.settle(&self.whole);
            let order = tree.compare(&evictor_queue.hierarchy, &queue.hierarchy);
            tree.allocate(job, &task.request);
            order.is_lt()
        };
        Eviction::Victims(candidates.iter().copied().filter(|id| may_go(id)).collect())
    }
}

impl Ledger for Drf {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        let Some(job) = view.task(task).job else { return };
        self.shares.allocate(view, job, task);
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.tree_mut().allocate(job, &view.task(task).request);
        }
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        let Some(job) = view.task(task).job else { return };
        self.shares.deallocate(view, job, task);
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.tree_mut().deallocate(job, &view.task(task).request);
        }
    }
}

#[cfg(test)]
mod tests;
