//! The plugin `capacity`: each queue says what it deserves.

use crate::books::{self, QueueBook, QueueBooks};
use mco_framework::close::CloseReport;
use mco_framework::{
    Allocatable, Evictable, Eviction, JobEnqueueable, Ledger, OpenContext, PluginError, PluginFactory,
    Preemptive, QueueOrder, Reason, SessionPlugin, View, Vote,
};
use mco_model::queue::Queue;
use mco_model::resource::{Missing, Resource};
use mco_model::{JobId, QueueId, TaskId};
use std::cmp::Ordering;
use std::collections::HashMap;

const NAME: &str = "capacity";

/// Makes the plugin `capacity`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct CapacityFactory;

impl PluginFactory for CapacityFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Capacity::open(context.view)))
    }
}

struct Capacity {
    books: QueueBooks,
}

impl Capacity {
    fn open(view: View<'_>) -> Self {
        let unpromised = books::unpromised(view);
        let mut books = QueueBooks::default();
        for (id, queue) in view.queues().filter(|(_, queue)| !queue.jobs.is_empty()) {
            let limit = books::limit(queue, &unpromised);
            let deserved = deserved(queue, &limit);
            books.insert(id, QueueBook::open(queue, limit, deserved));
        }
        Self { books }
    }
}

/// What the queue says it deserves, as far as it may have it and asks for it, and never less than it was guaranteed. A
/// scalar that it does not name is not deserved.
fn deserved(queue: &Queue, limit: &Resource) -> Resource {
    let mut deserved = queue.deserved.clone();
    deserved.min_dimension(limit, Missing::Infinity);
    deserved.min_dimension(&queue.totals.request, Missing::Infinity);
    deserved.max(queue.guarantee.as_ref().unwrap_or(&Resource::default()))
}

impl SessionPlugin for Capacity {
    fn name(&self) -> &'static str {
        NAME
    }
    fn queue_order(&self) -> Option<&dyn QueueOrder> {
        Some(self)
    }
    fn preemptive(&self) -> Option<&dyn Preemptive> {
        Some(self)
    }
    fn allocatable(&self) -> Option<&dyn Allocatable> {
        Some(self)
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn job_enqueueable(&mut self) -> Option<&mut dyn JobEnqueueable> {
        Some(self)
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        Some(self)
    }

    fn close(&mut self, view: View<'_>, report: &mut CloseReport) {
        report.figures.queues = self.books.figures(view);
    }
}

impl QueueOrder for Capacity {
    /// The queue that has the smaller part of what it deserves comes first; of nothing deserved that is nothing.
    fn compare(&self, _view: View<'_>, left: QueueId, right: QueueId) -> Ordering {
        self.books.compare(left, right)
    }
}

impl Preemptive for Capacity {
    /// A queue may take from others while it lacks something that it deserves.
    fn preemptive(&self, _view: View<'_>, queue: QueueId) -> bool {
        !self.books.get(queue).is_some_and(QueueBook::is_overused)
    }
}

impl Allocatable for Capacity {
    fn allocatable(&self, view: View<'_>, queue: QueueId, task: TaskId) -> Result<(), Reason> {
        let text = "queue has no room left of what it may have";
        self.books
            .allocatable(NAME, text, view, (queue, task), |book| &book.limit)
    }
}

impl Evictable for Capacity {
    /// Tasks of queues that have more than they deserve, as long as they do and keep what they were guaranteed. A queue
    /// that has less of anything than the evictor asks for could not make room and is left alone.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let wanted = &view.task(evictor).request;
        let mut left: HashMap<QueueId, Resource> = HashMap::new();
        let mut may_go = |id: &TaskId| {
            let task = view.task(*id);
            let Some(queue) = task.job.and_then(|job| view.job(job).queue) else {
                return false;
            };
            let Some(book) = self.books.get(queue) else {
                return false;
            };
            let allocated = left.entry(queue).or_insert_with(|| book.allocated.clone());
            if allocated.less_partly(wanted, Missing::Zero)
                // A kind that is deserved and that nothing is held of makes this false, as in Volcano.
                || allocated.less_equal(&book.deserved, Missing::Infinity)
            {
                return false;
            }
            let mut without = allocated.clone();
            without.sub_unchecked(&task.request);
            if !book.guarantee.less_equal(&without, Missing::Zero) {
                return false;
            }
            *allocated = without;
            true
        };
        Eviction::Victims(candidates.iter().copied().filter(|id| may_go(id)).collect())
    }
}

impl JobEnqueueable for Capacity {
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote {
        self.books.vote(NAME, view, job)
    }
}

impl Ledger for Capacity {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        self.books.allocated(view, task);
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        self.books.deallocated(view, task);
    }
}

#[cfg(test)]
mod tests;
