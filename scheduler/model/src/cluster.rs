//! The cluster: the one owner of all state. Events change it between sessions, a session's statements during one.

use crate::event::PodGroupStatus;
use crate::extra::{DisruptionBudgetRecord, HeldCards, NodeUsageRecord, Numatopology, QuotaRecord};
use crate::ids::{ClassId, IdVec, JobId, NodeId, QueueId, TaskId};
use crate::interference::InterferenceReport;
use crate::job::Job;
use crate::node::{Accounting, Nodes};
use crate::queue::Queue;
use crate::resource::{ExactResource, Resource, ScalarNames};
use crate::spec::{LabelSelector, Labels, PodSpec, Text};
use crate::status::TaskStatus;
use crate::task::{PodClass, Task};
use crate::time::Time;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Everything the scheduler knows.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Names of scalar resources.
    pub scalars: ScalarNames,
    /// Nodes and their amounts.
    pub nodes: Nodes,
    pub(crate) tasks: IdVec<TaskId, Task>,
    pub(crate) jobs: IdVec<JobId, Job>,
    pub(crate) queues: IdVec<QueueId, Queue>,
    pub(crate) classes: IdVec<ClassId, SharedClass>,
    pub(crate) class_ids: HashMap<Arc<PodClass>, ClassId>,
    pub(crate) pod_ids: HashMap<(Text, Text), TaskId>,
    pub(crate) uid_ids: HashMap<Text, TaskId>,
    pub(crate) job_ids: BTreeMap<Text, JobId>,
    pub(crate) queue_ids: BTreeMap<Text, QueueId>,
    pub(crate) default_queue: Text,
    pub(crate) priority_classes: HashMap<Text, (i32, bool)>,
    pub(crate) default_priority: i32,
    pub(crate) namespaces: HashMap<Text, Labels>,
    pub(crate) workloads: BTreeMap<(crate::event::WorkloadKind, Text, Text), Option<LabelSelector>>,
    pub(crate) quotas: BTreeMap<Text, BTreeMap<Text, QuotaRecord>>,
    pub(crate) disruption_budgets: BTreeMap<(Text, Text), DisruptionBudgetRecord>,
    pub(crate) numatopologies: HashMap<Text, Numatopology>,
    pub(crate) numa_epoch: u64,
    pub(crate) usage: HashMap<Text, NodeUsageRecord>,
    pub(crate) utc_offset: i32,
    pub(crate) started: Option<Time>,
    pub(crate) report: Option<InterferenceReport>,
    pub(crate) report_epoch: u64,
    pub(crate) dirty_jobs: Vec<JobId>,
    pub(crate) total_guarantee: Resource,
    pub(crate) warnings: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct SharedClass {
    class: Arc<PodClass>,
    members: usize,
}

impl SharedClass {
    #[cfg(feature = "fixture")]
    pub(crate) fn members(&self) -> usize {
        self.members
    }
}

impl Cluster {
    /// An empty cluster. PodGroups that name no queue belong to `default_queue`.
    #[must_use]
    pub fn new(default_queue: &str) -> Self {
        Self {
            default_queue: default_queue.into(),
            ..Self::default()
        }
    }

    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id]
    }

    /// The job of that id.
    #[must_use]
    pub fn job(&self, id: JobId) -> &Job {
        &self.jobs[id]
    }

    /// The queue of that id.
    #[must_use]
    pub fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[id]
    }

    /// The class of that id.
    #[must_use]
    pub fn class(&self, id: ClassId) -> &PodClass {
        &self.classes[id].class
    }

    /// Every class that has a member, by slot.
    pub fn classes(&self) -> impl Iterator<Item = (ClassId, &PodClass)> {
        self.classes.iter().map(|(id, shared)| (id, &*shared.class))
    }

    /// The placement rules of a task's pod.
    #[must_use]
    pub fn spec(&self, task: TaskId) -> &PodSpec {
        &self.class(self.task(task).class).spec
    }

    /// The job of that UID (`namespace/name`).
    #[must_use]
    pub fn find_job(&self, uid: &str) -> Option<JobId> {
        self.job_ids.get(uid).copied()
    }

    /// The task of that namespace and name.
    #[must_use]
    pub fn find_task(&self, namespace: &str, name: &str) -> Option<TaskId> {
        self.pod_ids
            .get(&(Text::from(namespace), Text::from(name)))
            .copied()
    }

    /// The task of the pod with that UID.
    #[must_use]
    pub fn find_uid(&self, uid: &str) -> Option<TaskId> {
        self.uid_ids.get(uid).copied()
    }

    /// The queue of that name.
    #[must_use]
    pub fn find_queue(&self, name: &str) -> Option<QueueId> {
        self.queue_ids.get(name).copied()
    }

    /// All jobs by UID, those that take no part in sessions included.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &Job)> {
        self.job_ids.values().map(|id| (*id, &self.jobs[*id]))
    }

    /// Jobs that take part in sessions, by UID.
    pub fn session_jobs(&self) -> impl Iterator<Item = (JobId, &Job)> {
        self.jobs()
            .filter(|(_, job)| job.group.is_some() && job.queue.is_some())
    }

    /// All queues by name.
    pub fn queues(&self) -> impl Iterator<Item = (QueueId, &Queue)> {
        self.queue_ids.values().map(|id| (*id, &self.queues[*id]))
    }

    /// All tasks, by slot.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.tasks.iter()
    }

    /// Labels of a namespace; those that no object describes carry their name alone.
    #[must_use]
    pub fn namespace_labels(&self, namespace: &str) -> Labels {
        self.namespaces.get(namespace).cloned().unwrap_or_else(|| {
            Labels::from([(Text::from("kubernetes.io/metadata.name"), Text::from(namespace))])
        })
    }

    /// Services and workloads whose selectors group pods.
    pub fn workloads(
        &self,
    ) -> impl Iterator<Item = (&(crate::event::WorkloadKind, Text, Text), Option<&LabelSelector>)> {
        self.workloads
            .iter()
            .map(|(key, selector)| (key, selector.as_ref()))
    }

    /// ResourceQuotas of a namespace, by name.
    pub fn quotas(&self, namespace: &str) -> impl Iterator<Item = &QuotaRecord> {
        self.quotas.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// All PodDisruptionBudgets, by namespace and name.
    pub fn disruption_budgets(&self) -> impl Iterator<Item = &DisruptionBudgetRecord> {
        self.disruption_budgets.values()
    }

    /// Where the CPUs of the node of that name are.
    #[must_use]
    pub fn numatopology(&self, node: &str) -> Option<&Numatopology> {
        self.numatopologies.get(node)
    }

    /// The load of the node of that name, as measured last.
    #[must_use]
    pub fn node_usage(&self, node: &str) -> Option<&NodeUsageRecord> {
        self.usage.get(node)
    }

    /// When the process that drives the core started; `None` for long ago.
    #[must_use]
    pub fn started(&self) -> Option<Time> {
        self.started
    }

    /// How far local time is ahead of UTC, in seconds.
    #[must_use]
    pub fn utc_offset(&self) -> i32 {
        self.utc_offset
    }

    /// The interference report, if any was seen.
    #[must_use]
    pub fn report(&self) -> Option<&InterferenceReport> {
        self.report.as_ref()
    }

    /// Grows with every report seen, so that figures derived from it can be kept.
    #[must_use]
    pub fn report_epoch(&self) -> u64 {
        self.report_epoch
    }

    /// Sum of the guarantees of all queues, as of the last refresh.
    #[must_use]
    pub fn total_guarantee(&self) -> &Resource {
        &self.total_guarantee
    }

    /// What was odd about objects taken in, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Brings sums over nodes, jobs and queues up to date with what changed since the last call. A session opens with
    /// it.
    pub fn refresh(&mut self) {
        self.nodes.refresh_totals();
        for id in std::mem::take(&mut self.dirty_jobs) {
            if self.jobs.get(id).is_some_and(|job| job.dirty) {
                self.refresh_job(id);
            }
        }
    }

    fn refresh_job(&mut self, id: JobId) {
        self.withdraw_contribution(id);
        let job = &mut self.jobs[id];
        job.dirty = false;
        let class = job
            .group
            .as_ref()
            .and_then(|group| self.priority_classes.get(&group.priority_class));
        job.priority = class.map_or(self.default_priority, |(value, _)| *value);
        let (Some(queue), Some(_)) = (job.queue, &job.group) else {
            return;
        };
        let totals = job.totals();
        let entry = &mut self.queues[queue];
        entry.totals.add(&totals);
        entry.jobs.insert(job.uid.clone(), id);
        job.contribution = Some((queue, totals));
    }

    pub(crate) fn withdraw_contribution(&mut self, id: JobId) {
        let job = &mut self.jobs[id];
        if let Some((queue, totals)) = job.contribution.take()
            && self.queues.get(queue).is_some()
        {
            let entry = &mut self.queues[queue];
            entry.jobs.remove(&job.uid);
            entry.totals.sub(&totals);
            if entry.jobs.is_empty() {
                entry.totals = Default::default();
            }
        }
    }

    pub(crate) fn mark_dirty(&mut self, id: JobId) {
        let job = &mut self.jobs[id];
        if !std::mem::replace(&mut job.dirty, true) {
            self.dirty_jobs.push(id);
        }
    }

    // What a session's statements change. Each has an exact inverse.

    /// Gives the task a status, with everything that is counted by status.
    pub fn set_status(&mut self, id: TaskId, status: TaskStatus) {
        let Some(job) = self.tasks[id].job else {
            self.tasks[id].status = status;
            return;
        };
        let moved = self.jobs[job].leave(&self.tasks[id]);
        if let Some(moved) = moved {
            self.tasks[moved].position = self.tasks[id].position;
        }
        self.tasks[id].status = status;
        self.jobs[job].enter(id, &mut self.tasks[id]);
        self.mark_dirty(job);
    }

    /// Counts the task on a node by its status.
    pub fn count_on(&mut self, id: TaskId, node: NodeId) {
        self.uncount(id);
        let task = &mut self.tasks[id];
        task.node = Some(node);
        let accounting = match task.status {
            TaskStatus::Releasing => Accounting::Releasing,
            TaskStatus::Pipelined => Accounting::Pipelined,
            _ => Accounting::Used,
        };
        task.accounting = Some(accounting);
        self.nodes.count(node, id, &self.tasks[id], accounting);
    }

    /// Takes the task off the books of its node.
    pub fn uncount(&mut self, id: TaskId) {
        let task = &mut self.tasks[id];
        if let (Some(accounting), Some(node)) = (task.accounting.take(), task.node.take()) {
            self.nodes.uncount(node, id, &self.tasks[id], accounting);
        }
    }

    /// Lets filters and scores see the pod on the node it is counted on.
    pub fn occupy(&mut self, id: TaskId, node: NodeId) {
        let non_zero = self.non_zero(id);
        self.nodes.occupy(node, id, &self.tasks[id], non_zero);
    }

    /// Hides the pod on the node from filters and scores.
    pub fn vacate(&mut self, id: TaskId, node: NodeId) {
        let non_zero = self.non_zero(id);
        self.nodes.vacate(node, id, &self.tasks[id], non_zero);
    }

    /// Takes a pod's condition `PodScheduled` as written, before the API server's answer is seen: False, with this reason and
    /// message.
    pub fn set_scheduled_condition(&mut self, id: TaskId, reason: Text, message: Text) {
        self.tasks[id].scheduled_condition = Some((false, reason, message));
    }

    /// Notes the cards that a pod got with its binding, before its annotations are seen.
    pub fn set_cards(&mut self, id: TaskId, cards: HeldCards) {
        self.tasks[id].extra.cards = (!cards.is_empty()).then(|| Box::new(cards));
    }

    /// Sets the status of a PodGroup, as a session decided it.
    pub fn set_group_status(&mut self, id: JobId, status: PodGroupStatus) {
        if let Some(group) = &mut self.jobs[id].group {
            group.status = status;
            self.mark_dirty(id);
        }
    }

    fn non_zero(&self, id: TaskId) -> (i64, i64) {
        let spec = self.spec(id);
        (spec.non_zero_milli_cpu, spec.non_zero_memory)
    }

    pub(crate) fn join_class(&mut self, spec: PodSpec, request: Resource, best_effort: bool) -> ClassId {
        let class = Arc::new(PodClass {
            spec,
            request: ExactResource(request),
            best_effort,
        });
        if let Some(id) = self.class_ids.get(&class) {
            self.classes[*id].members += 1;
            return *id;
        }
        let id = self.classes.insert(SharedClass {
            class: class.clone(),
            members: 1,
        });
        self.class_ids.insert(class, id);
        id
    }

    pub(crate) fn leave_class(&mut self, id: ClassId) {
        let class = &mut self.classes[id];
        class.members -= 1;
        if class.members == 0 {
            let class = class.class.clone();
            self.class_ids.remove(&class);
            self.classes.remove(id);
        }
    }
}
