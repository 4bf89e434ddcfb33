//! The plugin `proportion`: queues share the cluster by weight.

pub mod water;

use crate::books::{self, QueueBook, QueueBooks};
use mco_framework::close::CloseReport;
use mco_framework::{
    Allocatable, Evictable, Eviction, JobEnqueueable, Ledger, OpenContext, Overused, PluginError,
    PluginFactory, QueueOrder, Reason, SessionPlugin, View, Vote,
};
use mco_model::queue::Queue;
use mco_model::resource::{Missing, Resource};
use mco_model::{JobId, QueueId, TaskId};
use std::cmp::Ordering;
use std::collections::HashMap;
use water::Claim;

const NAME: &str = "proportion";

/// Makes the plugin `proportion`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProportionFactory;

impl PluginFactory for ProportionFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Proportion::open(context.view)))
    }
}

struct Proportion {
    books: QueueBooks,
}

impl Proportion {
    fn open(view: View<'_>) -> Self {
        let unpromised = books::unpromised(view);
        let in_use: Vec<(QueueId, &Queue)> = view
            .queues()
            .filter(|(_, queue)| !queue.jobs.is_empty())
            .collect();
        let claims: Vec<Claim> = in_use
            .iter()
            .map(|(_, queue)| claim(queue, &unpromised))
            .collect();
        let shares = water::fill(view.nodes.total_allocatable(), &claims);
        let mut books = QueueBooks::default();
        for (((id, queue), claim), deserved) in in_use.iter().zip(&claims).zip(shares) {
            books.insert(*id, QueueBook::open(queue, claim.limit.clone(), deserved));
        }
        Self { books }
    }
}

fn claim(queue: &Queue, unpromised: &Resource) -> Claim {
    Claim {
        weight: queue.weight,
        request: queue.totals.request.clone(),
        guarantee: queue.guarantee.clone().unwrap_or_default(),
        limit: books::limit(queue, unpromised),
    }
}

impl SessionPlugin for Proportion {
    fn name(&self) -> &'static str {
        NAME
    }
    fn queue_order(&self) -> Option<&dyn QueueOrder> {
        Some(self)
    }
    fn overused(&self) -> Option<&dyn Overused> {
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

impl QueueOrder for Proportion {
    /// The queue that has the smaller part of what it deserves comes first.
    fn compare(&self, _view: View<'_>, left: QueueId, right: QueueId) -> Ordering {
        self.books.compare(left, right)
    }
}

impl Overused for Proportion {
    /// A queue that deserves nothing, because it asks for nothing, is overused as well.
    fn overused(&self, _view: View<'_>, queue: QueueId) -> Option<Reason> {
        let book = self.books.get(queue)?;
        book.is_overused()
            .then(|| Reason::fixed(NAME, "overused", "queue has all that it deserves"))
    }
}

impl Allocatable for Proportion {
    fn allocatable(&self, view: View<'_>, queue: QueueId, task: TaskId) -> Result<(), Reason> {
        let text = "queue has no room left of what it deserves";
        self.books
            .allocatable(NAME, text, view, (queue, task), |book| &book.deserved)
    }
}

impl Evictable for Proportion {
    /// Tasks of queues that have more than they deserve, as long as they do. A queue that has less of anything than the
    /// evictor asks for could not make room and is left alone.
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
                || allocated.less_equal(&book.deserved, Missing::Zero)
            {
                return false;
            }
            allocated.sub_unchecked(&task.request);
            true
        };
        Eviction::Victims(candidates.iter().copied().filter(|id| may_go(id)).collect())
    }
}

impl JobEnqueueable for Proportion {
    /// What is permitted counts from here on, even when another plugin refuses the job.
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote {
        self.books.vote(NAME, view, job)
    }
}

impl Ledger for Proportion {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        self.books.allocated(view, task);
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        self.books.deallocated(view, task);
    }
}

#[cfg(test)]
mod tests;
