//! What actions ask a session: each question goes to the plugins of its point and comes back as one answer.

use crate::combine;
use crate::points::*;
use crate::reason::Reason;
use crate::session::Session;
use crate::table::Point;
use mco_model::task::Task;
use mco_model::{JobId, NodeId, QueueId, TaskId};
use std::cell::RefCell;
use std::cmp::Ordering;

macro_rules! asked {
    ($session:ident, $point:ident, $accessor:ident) => {
        $session
            .table
            .flat(Point::$point)
            .filter_map(|index| $session.plugins[index].$accessor())
    };
}

macro_rules! asked_by_tier {
    ($session:ident, $point:ident, $accessor:ident) => {
        $session.table.tiers(Point::$point).iter().map(|tier| {
            tier.iter()
                .filter_map(|index| $session.plugins[*index].$accessor())
        })
    };
}

impl Session<'_> {
    /// Which of two jobs is served first; among equals the older one, then the lower UID.
    #[must_use]
    pub fn compare_jobs(&self, left: JobId, right: JobId) -> Ordering {
        let view = self.view();
        let order = asked!(self, JobOrder, job_order).map(|point| point.compare(view, left, right));
        combine::first_decisive(order).then_with(|| {
            let (left, right) = (view.job(left), view.job(right));
            left.created()
                .cmp(&right.created())
                .then_with(|| left.uid.cmp(&right.uid))
        })
    }

    /// Which of two queues is served first; among equals the older one, then the lower name.
    #[must_use]
    pub fn compare_queues(&self, left: QueueId, right: QueueId) -> Ordering {
        let view = self.view();
        let order = asked!(self, QueueOrder, queue_order).map(|point| point.compare(view, left, right));
        combine::first_decisive(order).then_with(|| {
            let (left, right) = (view.queue(left), view.queue(right));
            left.created
                .cmp(&right.created)
                .then_with(|| left.name.cmp(&right.name))
        })
    }

    /// Which of two tasks is placed first; among equals the lower number at the end of their names, then the older one,
    /// then the lower UID.
    #[must_use]
    pub fn compare_tasks(&self, left: TaskId, right: TaskId) -> Ordering {
        let view = self.view();
        let order = asked!(self, TaskOrder, task_order).map(|point| point.compare(view, left, right));
        combine::first_decisive(order).then_with(|| {
            let (left, right) = (view.task(left), view.task(right));
            by_ordinal(left, right)
                .then_with(|| left.created.cmp(&right.created))
                .then_with(|| left.uid.cmp(&right.uid))
        })
    }

    /// Which of two clusters comes first; among equals the lower name.
    #[must_use]
    pub fn compare_clusters(&self, left: &str, right: &str) -> Ordering {
        let view = self.view();
        let order = asked!(self, ClusterOrder, cluster_order).map(|point| point.compare(view, left, right));
        combine::first_decisive(order).then_with(|| left.cmp(right))
    }

    /// Looks at a task before any node.
    ///
    /// # Errors
    /// Why the task can go nowhere.
    pub fn pre_predicate(&self, task: TaskId) -> Result<(), Reason> {
        let view = self.view();
        combine::all(asked!(self, PrePredicate, pre_predicate).map(|point| point.check(view, task)))
    }

    /// The filters, in order.
    pub fn predicates(&self) -> impl Iterator<Item = &dyn Predicate> {
        asked!(self, Predicate, predicate)
    }

    /// The node scores, in order.
    pub fn node_orders(&self) -> impl Iterator<Item = &dyn NodeOrder> {
        asked!(self, NodeOrder, node_order)
    }

    /// The scores over all candidates, in order.
    pub fn batch_node_orders(&self) -> impl Iterator<Item = &dyn BatchNodeOrder> {
        asked!(self, BatchNodeOrder, batch_node_order)
    }

    /// The scores in whole numbers, in order.
    pub fn node_map_reduces(&self) -> impl Iterator<Item = &dyn NodeMapReduce> {
        asked!(self, NodeMapReduce, node_map_reduce)
    }

    /// The node that a plugin chooses by itself.
    #[must_use]
    pub fn best_node(&self, task: TaskId, scores: &[(NodeId, f64)]) -> Option<NodeId> {
        let view = self.view();
        asked!(self, BestNode, best_node).find_map(|point| point.best(view, task, scores))
    }

    /// Who of `candidates`, tasks of the same queue, may go for `preemptor`.
    #[must_use]
    pub fn preemptable(&self, preemptor: TaskId, candidates: &[TaskId]) -> Vec<TaskId> {
        let view = self.view();
        let tiers = asked_by_tier!(self, Preemptable, preemptable);
        combine::tiered_victims(
            tiers.map(|tier| tier.map(|point| point.victims(view, preemptor, candidates))),
        )
    }

    /// Who of `candidates`, tasks of other queues, may go for `reclaimer`.
    #[must_use]
    pub fn reclaimable(&self, reclaimer: TaskId, candidates: &[TaskId]) -> Vec<TaskId> {
        let view = self.view();
        let tiers = asked_by_tier!(self, Reclaimable, reclaimable);
        combine::tiered_victims(
            tiers.map(|tier| tier.map(|point| point.victims(view, reclaimer, candidates))),
        )
    }

    /// Tasks that should go for reasons of their own.
    #[must_use]
    pub fn victim_tasks(&self, tasks: &[TaskId]) -> Vec<TaskId> {
        let view = self.view();
        let tiers = asked_by_tier!(self, VictimTasks, victim_tasks);
        combine::union_in_first_tier(tiers.map(|tier| tier.map(|point| point.victims(view, tasks))))
    }

    /// Why the queue gets nothing in this action; `None` when it may go on.
    #[must_use]
    pub fn overused(&self, queue: QueueId) -> Option<Reason> {
        let view = self.view();
        asked!(self, Overused, overused).find_map(|point| point.overused(view, queue))
    }

    /// The queue may take from others.
    #[must_use]
    pub fn preemptive(&self, queue: QueueId) -> bool {
        let view = self.view();
        asked!(self, Preemptive, preemptive).all(|point| point.preemptive(view, queue))
    }

    /// The task fits into its queue's limits.
    ///
    /// # Errors
    /// Why not.
    pub fn allocatable(&self, queue: QueueId, task: TaskId) -> Result<(), Reason> {
        let view = self.view();
        combine::all(asked!(self, Allocatable, allocatable).map(|point| point.allocatable(view, queue, task)))
    }

    /// The job can be scheduled at all.
    ///
    /// # Errors
    /// Why not.
    pub fn job_valid(&self, job: JobId) -> Result<(), Reason> {
        let view = self.view();
        combine::all(asked!(self, JobValid, job_valid).map(|point| point.valid(view, job)))
    }

    /// Enough of the job is placed for it to be bound; true when nobody is asked.
    #[must_use]
    pub fn job_ready(&self, job: JobId) -> bool {
        let view = self.view();
        asked!(self, JobReady, job_ready).all(|point| point.ready(view, job))
    }

    /// The places of a job that is not ready are worth keeping; true when nobody is asked.
    #[must_use]
    pub fn job_pipelined(&self, job: JobId) -> bool {
        let view = self.view();
        let tiers = asked_by_tier!(self, JobPipelined, job_pipelined);
        combine::tiered_vote(tiers.map(|tier| tier.map(|point| point.pipelined(view, job)))).is_ok()
    }

    /// The job has less than its minimum; false when nobody is asked.
    #[must_use]
    pub fn job_starving(&self, job: JobId) -> bool {
        let view = self.view();
        let tiers = asked_by_tier!(self, JobStarving, job_starving);
        combine::all_in_first_tier(tiers.map(|tier| tier.map(|point| point.starving(view, job))))
    }

    /// The job that nodes are reserved for: the first plugin's answer, even none.
    #[must_use]
    pub fn target_job(&self, jobs: &[JobId]) -> Option<JobId> {
        let view = self.view();
        asked!(self, TargetJob, target_job)
            .next()
            .and_then(|point| point.target(view, jobs))
    }

    /// Nodes to reserve, in the opinion of all plugins.
    #[must_use]
    pub fn reserved_nodes(&self) -> Vec<NodeId> {
        let view = self.view();
        asked!(self, ReservedNodes, reserved_nodes)
            .flat_map(|point| point.reserve(view))
            .collect()
    }

    /// Whether the job is admitted.
    ///
    /// # Errors
    /// Why not.
    pub fn job_enqueueable(&mut self, job: JobId) -> Result<(), Reason> {
        let tiers = self.table.tiers(Point::JobEnqueueable).to_vec();
        // Voters may write; one is asked at a time.
        let session = RefCell::new(self);
        let ask = |index: usize| {
            session.borrow_mut().ask_mut(index, |plugin, view| {
                plugin
                    .job_enqueueable()
                    .map_or(Vote::Abstain, |point| point.vote(view, job))
            })
        };
        combine::tiered_vote(tiers.into_iter().map(|tier| tier.into_iter().map(ask)))
    }

    /// Tells all plugins that the job was admitted.
    pub fn job_enqueued(&mut self, job: JobId) {
        let told: Vec<usize> = self.table.flat(Point::JobEnqueued).collect();
        for index in told {
            self.ask_mut(index, |plugin, view| {
                if let Some(point) = plugin.job_enqueued() {
                    point.enqueued(view, job);
                }
            });
        }
    }

    /// What the answers of all filters for this task depend on.
    #[must_use]
    pub fn filter_dependence(&self, task: TaskId) -> Dependence {
        let view = self.view();
        let each = self.predicates().map(|point| point.dependence(view, task));
        each.max().unwrap_or(Dependence::ClassAndNode)
    }

    /// What the node scores of this task depend on.
    #[must_use]
    pub fn score_dependence(&self, task: TaskId) -> Dependence {
        let view = self.view();
        let each = self.node_orders().map(|point| point.dependence(view, task));
        each.max().unwrap_or(Dependence::ClassAndNode)
    }
}

/// Tasks named `…-…-<number>` come in the order of their numbers, when both have one and they differ.
fn by_ordinal(left: &Task, right: &Task) -> Ordering {
    match (left.ordinal, right.ordinal) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => Ordering::Equal,
    }
}
