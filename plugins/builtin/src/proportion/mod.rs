//! The plugin `proportion`: queues share the cluster by weight.

pub mod water;

use crate::admission;
use mco_framework::close::CloseReport;
use mco_framework::figures;
use mco_framework::{
    Allocatable, Evictable, Eviction, JobEnqueueable, Ledger, OpenContext, Overused, PluginError,
    PluginFactory, QueueOrder, Reason, SessionPlugin, View, Vote,
};
use mco_model::queue::Queue;
use mco_model::resource::{Missing, Resource};
use mco_model::{Id, JobId, QueueId, TaskId};
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

/// Figures of the queues that have jobs, by slot.
struct Proportion {
    queues: Vec<Option<QueueFigures>>,
}

struct QueueFigures {
    deserved: Resource,
    /// With what this session places and takes; tasks that wait for room to be freed count too.
    allocated: Resource,
    /// Promised to jobs that were admitted.
    inqueue: Resource,
    elastic: Resource,
    limit: Resource,
    share: f64,
    /// Part of `inqueue`, looked up when first needed.
    promised_to_nobody: Option<Resource>,
}

impl QueueFigures {
    fn allocate(&mut self, request: &Resource) {
        self.allocated.add(request);
        self.share = water::queue_share(&self.allocated, &self.deserved);
    }

    fn is_overused(&self) -> bool {
        self.deserved.less_equal(&self.allocated, Missing::Zero)
    }

    fn deallocate(&mut self, request: &Resource) {
        self.allocated.sub_unchecked(request);
        self.share = water::queue_share(&self.allocated, &self.deserved);
    }
}

impl Proportion {
    fn open(view: View<'_>) -> Self {
        let total = view.nodes.total_allocatable();
        let unpromised = {
            let mut left = total.clone();
            admission::take(&mut left, view.total_guarantee());
            left
        };
        let in_use: Vec<(QueueId, &Queue)> = view
            .queues()
            .filter(|(_, queue)| !queue.jobs.is_empty())
            .collect();
        let claims: Vec<Claim> = in_use
            .iter()
            .map(|(_, queue)| claim(queue, &unpromised))
            .collect();
        let mut queues = Vec::new();
        for (((id, queue), claim), deserved) in in_use.iter().zip(&claims).zip(water::fill(total, &claims)) {
            if queues.len() <= id.slot() {
                queues.resize_with(id.slot() + 1, || None);
            }
            queues[id.slot()] = Some(QueueFigures {
                share: water::queue_share(&queue.totals.allocated, &deserved),
                deserved,
                allocated: queue.totals.allocated.clone(),
                inqueue: queue.totals.inqueue.clone(),
                elastic: queue.totals.elastic.clone(),
                limit: claim.limit.clone(),
                promised_to_nobody: None,
            });
        }
        Self { queues }
    }

    /// `None` for a queue without jobs, about which nobody asks.
    fn figures(&self, queue: QueueId) -> Option<&QueueFigures> {
        self.queues.get(queue.slot())?.as_ref()
    }

    fn figures_of(&mut self, view: View<'_>, task: TaskId) -> Option<&mut QueueFigures> {
        let queue = view.job(view.task(task).job?).queue?;
        self.queues.get_mut(queue.slot())?.as_mut()
    }

    fn share(&self, queue: QueueId) -> f64 {
        self.figures(queue).map_or(0.0, |figures| figures.share)
    }
}

fn claim(queue: &Queue, unpromised: &Resource) -> Claim {
    let guarantee = queue.guarantee.clone().unwrap_or_default();
    let mut limit = unpromised.clone();
    limit.add(&guarantee);
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
    Claim {
        weight: queue.weight,
        request: queue.totals.request.clone(),
        guarantee,
        limit,
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
        let queues = view.queues().filter_map(|(id, _)| Some((id, self.figures(id)?)));
        report.figures.queues = queues
            .map(|(queue, figures)| figures::QueueFigures {
                queue,
                allocated: figures.allocated.clone(),
                deserved: figures.deserved.clone(),
                share: figures.share,
                overused: figures.is_overused(),
            })
            .collect();
    }
}

impl QueueOrder for Proportion {
    /// The queue that has the smaller part of what it deserves comes first.
    fn compare(&self, _view: View<'_>, left: QueueId, right: QueueId) -> Ordering {
        let order = self.share(left).partial_cmp(&self.share(right));
        order.unwrap_or(Ordering::Equal)
    }
}

impl Overused for Proportion {
    /// A queue that deserves nothing, because it asks for nothing, is overused as well.
    fn overused(&self, _view: View<'_>, queue: QueueId) -> Option<Reason> {
        let figures = self.figures(queue)?;
        figures
            .is_overused()
            .then(|| Reason::fixed(NAME, "overused", "queue has all that it deserves"))
    }
}

impl Allocatable for Proportion {
    fn allocatable(&self, view: View<'_>, queue: QueueId, task: TaskId) -> Result<(), Reason> {
        let Some(figures) = self.figures(queue) else {
            return Ok(());
        };
        let (room, _) = figures.deserved.diff(&figures.allocated, Missing::Zero);
        let short = view.task(task).request.less_equal_failing(&room, Missing::Zero);
        if short.is_empty() {
            return Ok(());
        }
        let text = "queue has no room left of what it deserves";
        Err(admission::refusal(
            NAME,
            "queue_full",
            text,
            &short,
            &view.scalars,
        ))
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
            let Some(figures) = self.figures(queue) else {
                return false;
            };
            let allocated = left.entry(queue).or_insert_with(|| figures.allocated.clone());
            if allocated.less_partly(wanted, Missing::Zero)
                || allocated.less_equal(&figures.deserved, Missing::Zero)
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
        let job = view.job(job);
        let Some(min) = job.min_resources() else {
            return Vote::Permit;
        };
        let Some(queue) = job.queue else {
            return Vote::Permit;
        };
        let Some(figures) = self.queues.get_mut(queue.slot()).and_then(Option::as_mut) else {
            return Vote::Permit;
        };
        let mut sum = min.clone();
        sum.add(&figures.allocated);
        sum.add(&figures.inqueue);
        admission::take(&mut sum, &figures.elastic);
        let nobody = &mut figures.promised_to_nobody;
        let promised_to_nobody = || {
            let jobs = || view.queue(queue).jobs.values().map(|job| view.job(*job));
            nobody
                .get_or_insert_with(|| admission::promised_to_nobody(jobs()))
                .clone()
        };
        let short = admission::short_of(&sum, &figures.limit, min, Missing::Infinity, promised_to_nobody);
        if short.is_empty() {
            figures.inqueue.add(min);
            return Vote::Permit;
        }
        let text = "queue resource quota insufficient";
        Vote::Reject(admission::refusal(
            NAME,
            "queue_quota",
            text,
            &short,
            &view.scalars,
        ))
    }
}

impl Ledger for Proportion {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        if let Some(figures) = self.figures_of(view, task) {
            figures.allocate(&view.task(task).request);
        }
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        if let Some(figures) = self.figures_of(view, task) {
            figures.deallocate(&view.task(task).request);
        }
    }
}

#[cfg(test)]
mod tests;
