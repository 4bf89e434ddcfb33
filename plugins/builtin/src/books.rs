//! What the plugins that share the cluster out among queues keep of each queue: what it deserves, holds and was promised.

use crate::admission;
use mco_framework::figures;
use mco_framework::{Reason, View, Vote};
use mco_model::queue::Queue;
use mco_model::resource::{Missing, Resource, share};
use mco_model::{Id, JobId, QueueId, TaskId};
use std::cmp::Ordering;

/// One queue.
pub(crate) struct QueueBook {
    pub(crate) deserved: Resource,
    /// With what this session places and takes; tasks that wait for room to be freed count too.
    pub(crate) allocated: Resource,
    /// Promised to jobs that were admitted.
    pub(crate) inqueue: Resource,
    pub(crate) elastic: Resource,
    /// What it may have at most; a scalar that is absent is not limited.
    pub(crate) limit: Resource,
    pub(crate) guarantee: Resource,
    pub(crate) share: f64,
    /// Part of `inqueue`, looked up when first needed.
    promised_to_nobody: Option<Resource>,
}

/// The queues that have jobs, by slot. About others nobody asks.
#[derive(Default)]
pub(crate) struct QueueBooks(Vec<Option<QueueBook>>);

impl QueueBook {
    pub(crate) fn open(queue: &Queue, limit: Resource, deserved: Resource) -> Self {
        Self {
            share: queue_share(&queue.totals.allocated, &deserved),
            deserved,
            allocated: queue.totals.allocated.clone(),
            inqueue: queue.totals.inqueue.clone(),
            elastic: queue.totals.elastic.clone(),
            limit,
            guarantee: queue.guarantee.clone().unwrap_or_default(),
            promised_to_nobody: None,
        }
    }

    /// It has all that it deserves, of every kind.
    pub(crate) fn is_overused(&self) -> bool {
        self.deserved.less_equal(&self.allocated, Missing::Zero)
    }

    fn allocate(&mut self, request: &Resource) {
        self.allocated.add(request);
        self.share = queue_share(&self.allocated, &self.deserved);
    }

    fn deallocate(&mut self, request: &Resource) {
        self.allocated.sub_unchecked(request);
        self.share = queue_share(&self.allocated, &self.deserved);
    }
}

impl QueueBooks {
    pub(crate) fn insert(&mut self, id: QueueId, book: QueueBook) {
        if self.0.len() <= id.slot() {
            self.0.resize_with(id.slot() + 1, || None);
        }
        self.0[id.slot()] = Some(book);
    }

    pub(crate) fn get(&self, queue: QueueId) -> Option<&QueueBook> {
        self.0.get(queue.slot())?.as_ref()
    }

    fn get_mut(&mut self, queue: QueueId) -> Option<&mut QueueBook> {
        self.0.get_mut(queue.slot())?.as_mut()
    }

    fn of_task(&mut self, view: View<'_>, task: TaskId) -> Option<&mut QueueBook> {
        let queue = view.job(view.task(task).job?).queue?;
        self.get_mut(queue)
    }

    pub(crate) fn share(&self, queue: QueueId) -> f64 {
        self.get(queue).map_or(0.0, |book| book.share)
    }

    /// The queue that has the smaller part of what it deserves comes first.
    pub(crate) fn compare(&self, left: QueueId, right: QueueId) -> Ordering {
        let order = self.share(left).partial_cmp(&self.share(right));
        order.unwrap_or(Ordering::Equal)
    }

    /// The task was given a place.
    pub(crate) fn allocated(&mut self, view: View<'_>, task: TaskId) {
        if let Some(book) = self.of_task(view, task) {
            book.allocate(&view.task(task).request);
        }
    }

    /// The task lost its place.
    pub(crate) fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        if let Some(book) = self.of_task(view, task) {
            book.deallocate(&view.task(task).request);
        }
    }

    /// Refuses what the queue has no room for within `bound`.
    pub(crate) fn allocatable(
        &self,
        source: &'static str,
        text: &str,
        view: View<'_>,
        (queue, task): (QueueId, TaskId),
        bound: impl Fn(&QueueBook) -> &Resource,
    ) -> Result<(), Reason> {
        let Some(book) = self.get(queue) else {
            return Ok(());
        };
        let (room, _) = bound(book).diff(&book.allocated, Missing::Zero);
        let short = view.task(task).request.less_equal_failing(&room, Missing::Zero);
        if short.is_empty() {
            return Ok(());
        }
        Err(admission::refusal(
            source,
            "queue_full",
            text,
            &short,
            &view.scalars,
        ))
    }

    /// Whether the queue's limit leaves room for the job. What is permitted counts from here on, even when another plugin
    /// refuses the job.
    pub(crate) fn vote(&mut self, source: &'static str, view: View<'_>, job: JobId) -> Vote {
        let job = view.job(job);
        let (Some(min), Some(queue)) = (job.min_resources(), job.queue) else {
            return Vote::Permit;
        };
        let Some(book) = self.get_mut(queue) else {
            return Vote::Permit;
        };
        let mut sum = min.clone();
        sum.add(&book.allocated);
        sum.add(&book.inqueue);
        admission::take(&mut sum, &book.elastic);
        let nobody = &mut book.promised_to_nobody;
        let promised_to_nobody = || {
            let jobs = || view.queue(queue).jobs.values().map(|job| view.job(*job));
            nobody
                .get_or_insert_with(|| admission::promised_to_nobody(jobs()))
                .clone()
        };
        let short = admission::short_of(&sum, &book.limit, min, Missing::Infinity, promised_to_nobody);
        if short.is_empty() {
            book.inqueue.add(min);
            return Vote::Permit;
        }
        let text = "queue resource quota insufficient";
        Vote::Reject(admission::refusal(
            source,
            "queue_quota",
            text,
            &short,
            &view.scalars,
        ))
    }

    /// The figures of all queues, for metrics.
    pub(crate) fn figures(&self, view: View<'_>) -> Vec<figures::QueueFigures> {
        let queues = view.queues().filter_map(|(id, _)| Some((id, self.get(id)?)));
        queues
            .map(|(queue, book)| figures::QueueFigures {
                queue,
                allocated: book.allocated.clone(),
                deserved: book.deserved.clone(),
                share: book.share,
                overused: book.is_overused(),
            })
            .collect()
    }
}

/// What no queue was guaranteed.
pub(crate) fn unpromised(view: View<'_>) -> Resource {
    let mut left = view.nodes.total_allocatable().clone();
    admission::take(&mut left, view.total_guarantee());
    left
}

/// What a queue may have at most: what nobody was guaranteed and its own guarantee, within its capability.
pub(crate) fn limit(queue: &Queue, unpromised: &Resource) -> Resource {
    let mut limit = unpromised.clone();
    if let Some(guarantee) = &queue.guarantee {
        limit.add(guarantee);
    }
    if let Some(capability) = &queue.capability {
        let mut capability = capability.clone();
        // CPU and memory that a capability does not name, or puts at nothing, are not limited by it.
        for amount in [&mut capability.milli_cpu, &mut capability.memory] {
            if *amount <= 0.0 {
                *amount = f64::MAX;
            }
        }
        limit.min_dimension(&capability, Missing::Infinity);
    }
    limit
}

/// The greatest part of what a queue deserves that is allocated; above 1 when it has more than it deserves.
pub(crate) fn queue_share(allocated: &Resource, deserved: &Resource) -> f64 {
    let shares = deserved
        .dimensions()
        .map(|dimension| share(allocated.get(dimension), deserved.get(dimension)));
    shares.fold(0.0, |most, share| if share > most { share } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::resource::ScalarId;

    const GPU: ScalarId = ScalarId::PODS;

    #[test]
    fn shares_are_of_what_is_deserved() {
        let cpu = |milli| Resource::new(milli, 0.0);
        let deserved = cpu(1000.0).with_scalar(GPU, 0.0);
        let rows = [
            ("half", cpu(500.0), 0.5),
            ("more than deserved", cpu(1500.0), 1.5),
            (
                "a kind that is not deserved does not count",
                cpu(0.0).with_scalar(GPU, 3.0),
                0.0,
            ),
        ];
        for (name, allocated, share) in rows {
            assert_eq!(queue_share(&allocated, &deserved), share, "{name}");
        }
    }
}
