//! Events into state: what each object changes when it comes, changes or goes.

use crate::cluster::Cluster;
use crate::event::{Amounts, Event, NodeRecord, PodGroupRecord, PodRecord, PriorityClassRecord, QueueRecord};
use crate::ids::{JobId, NodeId, TaskId};
use crate::interference::InterferenceReport;
use crate::job::{Group, Job};
use crate::queue::{Queue, QueueTotals};
use crate::resource::{Resource, ScalarNames};
use crate::spec::Text;
use crate::status::TaskStatus;
use crate::task::{Task, ordinal, status_of};
use std::sync::Arc;

impl Cluster {
    /// Takes one event in. Events of objects that are not known are no error: they change nothing.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::NodeSet(record) => self.set_node(*record),
            Event::NodeRemoved { name } => self.remove_node(&name),
            Event::PodSet(record) => self.set_pod(*record),
            Event::PodRemoved { namespace, name } => {
                if let Some(id) = self.pod_ids.get(&(namespace, name)).copied() {
                    self.remove_task(id);
                }
            }
            Event::PodGroupSet(record) => self.set_group(*record),
            Event::PodGroupRemoved { namespace, name } => self.remove_group(&job_uid(&namespace, &name)),
            Event::QueueSet(record) => self.set_queue(*record),
            Event::QueueRemoved { name } => self.remove_queue(&name),
            Event::PriorityClassSet(record) => self.set_priority_class(record),
            Event::PriorityClassRemoved { name } => {
                self.priority_classes.remove(&name);
                self.priorities_changed();
            }
            Event::NamespaceSet { name, labels } => {
                self.namespaces.insert(name, labels);
            }
            Event::NamespaceRemoved { name } => {
                self.namespaces.remove(&name);
            }
            Event::WorkloadSet(record) => {
                self.workloads
                    .insert((record.kind, record.namespace, record.name), record.selector);
            }
            Event::WorkloadRemoved {
                kind,
                namespace,
                name,
            } => {
                self.workloads.remove(&(kind, namespace, name));
            }
            Event::ReportSet(report) => self.set_report(Some(*report)),
            Event::ReportRemoved => self.set_report(None),
            Event::Bound { uid } => self.answered(&uid, TaskStatus::Binding, TaskStatus::Bound),
            Event::BindFailed { uid, .. } => self.bind_failed(&uid),
            Event::EvictFailed { uid, .. } => self.evict_failed(&uid),
        }
    }

    fn set_node(&mut self, record: NodeRecord) {
        let tasks = self
            .nodes
            .find(&record.name)
            .map(|node| self.nodes.clear_tasks(node))
            .unwrap_or_default();
        let scalars = &mut self.scalars;
        let mut refused = Vec::new();
        let allocatable = convert(&record.allocatable, scalars, &mut refused);
        let node = self.nodes.set(record, |_| allocatable.clone());
        self.warnings.extend(refused);
        self.recount(node, tasks);
    }

    /// Counts tasks anew after the figures of their node were replaced.
    fn recount(&mut self, node: NodeId, tasks: Vec<TaskId>) {
        for id in tasks {
            self.tasks[id].accounting = None;
            self.count_on(id, node);
            self.occupy(id, node);
        }
    }

    fn remove_node(&mut self, name: &str) {
        let Some(node) = self.nodes.find(name) else { return };
        self.nodes.forget(node);
    }

    fn set_pod(&mut self, pod: PodRecord) {
        if !pod.ours && pod.node.is_empty() {
            self.remove_pod_named(&pod);
            return;
        }
        if let Some(id) = self
            .pod_ids
            .get(&(pod.namespace.clone(), pod.name.clone()))
            .copied()
        {
            let known = &self.tasks[id];
            let same = known.uid == pod.uid;
            if same && known.status.is_allocated() && pod.node.is_empty() && !pod.deleting {
                return; // Our binding is under way; this is the pod from before it.
            }
            self.remove_task(id);
        }
        self.add_pod(pod);
    }

    fn remove_pod_named(&mut self, pod: &PodRecord) {
        if let Some(id) = self
            .pod_ids
            .get(&(pod.namespace.clone(), pod.name.clone()))
            .copied()
        {
            self.remove_task(id);
        }
    }

    fn add_pod(&mut self, pod: PodRecord) {
        let mut refused = Vec::new();
        let request = convert(&pod.request, &mut self.scalars, &mut refused);
        self.warnings.extend(refused);
        let class = self.join_class(pod.spec.clone(), request.clone(), pod.best_effort);
        let status = status_of(&pod);
        let job = (!pod.group.is_empty()).then(|| self.find_or_make_job(&pod.namespace, &pod.group));
        let task = Task {
            ordinal: ordinal(&pod.name),
            namespace: pod.namespace,
            name: pod.name,
            uid: pod.uid,
            job,
            role: pod.role,
            template_uid: pod.template_uid,
            status,
            node: None,
            class,
            request,
            best_effort: pod.best_effort,
            priority: pod.priority,
            created: pod.created,
            preemptable: pod.preemptable,
            labels: Arc::new(pod.labels),
            controller: pod.controller,
            deleting: pod.deleting,
            scheduled_condition: pod.scheduled_condition,
            position: 0,
            accounting: None,
        };
        let (key, uid) = ((task.namespace.clone(), task.name.clone()), task.uid.clone());
        let id = self.tasks.insert(task);
        self.pod_ids.insert(key, id);
        self.uid_ids.insert(uid, id);
        if let Some(job) = job {
            self.jobs[job].enter(id, &mut self.tasks[id]);
            self.mark_dirty(job);
        }
        if !pod.node.is_empty() && !status.is_terminated() {
            let node = self.nodes.find_or_make(&pod.node);
            self.count_on(id, node);
            self.occupy(id, node);
        }
    }

    fn remove_task(&mut self, id: TaskId) {
        self.leave_node(id);
        let task = &self.tasks[id];
        let (job, class) = (task.job, task.class);
        if let Some(job) = job {
            if let Some(moved) = self.jobs[job].leave(&self.tasks[id]) {
                self.tasks[moved].position = self.tasks[id].position;
            }
            self.mark_dirty(job);
            self.drop_job_if_over(job);
        }
        self.leave_class(class);
        if let Some(task) = self.tasks.remove(id) {
            self.pod_ids.remove(&(task.namespace, task.name));
            if self.uid_ids.get(&task.uid) == Some(&id) {
                self.uid_ids.remove(&task.uid);
            }
        }
    }

    fn leave_node(&mut self, id: TaskId) {
        if let Some(node) = self.tasks[id].node {
            self.vacate(id, node);
            self.uncount(id);
            self.nodes.drop_if_unused(node);
        }
    }

    fn find_or_make_job(&mut self, namespace: &Text, name: &Text) -> JobId {
        let uid = job_uid(namespace, name);
        if let Some(id) = self.job_ids.get(&uid) {
            return *id;
        }
        let id = self
            .jobs
            .insert(Job::named(uid.clone(), namespace.clone(), name.clone()));
        self.job_ids.insert(uid, id);
        id
    }

    fn set_group(&mut self, record: PodGroupRecord) {
        let id = self.find_or_make_job(&record.namespace, &record.name);
        let mut refused = Vec::new();
        let min_resources = record
            .min_resources
            .as_ref()
            .map(|min| convert(min, &mut self.scalars, &mut refused));
        let min_scalars_whole = record
            .min_resources_whole
            .iter()
            .filter(|(name, _)| counts_whole(name))
            .filter_map(|(name, amount)| Some((self.scalars.intern(name).ok()?, *amount)))
            .collect();
        self.warnings.extend(refused);
        let queue = if record.queue.is_empty() {
            self.default_queue.clone()
        } else {
            record.queue
        };
        self.jobs[id].queue = self.queue_ids.get(&queue).copied();
        self.jobs[id].group = Some(Group {
            uid: record.uid,
            created: record.created,
            min_available: record.min_member,
            min_by_role: record.min_task_member,
            queue,
            priority_class: record.priority_class,
            min_resources,
            min_scalars_whole,
            preemptable: record.preemptable,
            status: record.status,
        });
        self.mark_dirty(id);
    }

    fn remove_group(&mut self, uid: &str) {
        let Some(id) = self.job_ids.get(uid).copied() else {
            return;
        };
        self.jobs[id].group = None;
        self.jobs[id].queue = None;
        self.mark_dirty(id);
        self.drop_job_if_over(id);
    }

    /// A job without PodGroup and tasks is forgotten.
    fn drop_job_if_over(&mut self, id: JobId) {
        if self.jobs[id].group.is_none() && self.jobs[id].task_count() == 0 {
            self.withdraw_contribution(id);
            let uid = self.jobs[id].uid.clone();
            self.job_ids.remove(&uid);
            self.jobs.remove(id);
        }
    }

    fn set_queue(&mut self, record: QueueRecord) {
        let mut refused = Vec::new();
        let mut amounts = |amounts: &Amounts| convert(amounts, &mut self.scalars, &mut refused);
        let queue = Queue {
            capability: record.capability.given.then(|| amounts(&record.capability)),
            deserved: amounts(&record.deserved),
            guarantee: record.guarantee.given.then(|| amounts(&record.guarantee)),
            name: record.name,
            created: record.created,
            weight: record.weight,
            reclaimable: record.reclaimable,
            hierarchy: record.hierarchy,
            hierarchy_weights: record.hierarchy_weights,
            state: record.state,
            jobs: Default::default(),
            totals: QueueTotals::default(),
        };
        self.warnings.extend(refused);
        match self.queue_ids.get(&queue.name).copied() {
            Some(id) => {
                let known = &mut self.queues[id];
                let (jobs, totals) = (std::mem::take(&mut known.jobs), std::mem::take(&mut known.totals));
                *known = Queue {
                    jobs,
                    totals,
                    ..queue
                };
            }
            None => {
                let name = queue.name.clone();
                let id = self.queues.insert(queue);
                self.queue_ids.insert(name.clone(), id);
                self.link_jobs(&name);
            }
        }
        self.sum_guarantees();
    }

    fn remove_queue(&mut self, name: &Text) {
        let Some(id) = self.queue_ids.remove(name) else {
            return;
        };
        for job in self.queues[id].jobs.clone().into_values() {
            self.withdraw_contribution(job);
        }
        self.queues.remove(id);
        self.link_jobs(name);
        self.sum_guarantees();
    }

    /// Jobs of a queue that came or went take part in sessions from now on, or no longer.
    fn link_jobs(&mut self, queue: &Text) {
        let id = self.queue_ids.get(queue).copied();
        let named = |job: &Job| job.group.as_ref().is_some_and(|group| group.queue == *queue);
        let jobs: Vec<JobId> = self
            .jobs()
            .filter(|(_, job)| named(job))
            .map(|(id, _)| id)
            .collect();
        for job in jobs {
            self.jobs[job].queue = id;
            self.mark_dirty(job);
        }
    }

    fn sum_guarantees(&mut self) {
        let mut total = Resource::default();
        for (_, queue) in self.queues() {
            if let Some(guarantee) = &queue.guarantee {
                total.add(guarantee);
            }
        }
        self.total_guarantee = total;
    }

    fn set_priority_class(&mut self, record: PriorityClassRecord) {
        self.priority_classes
            .insert(record.name, (record.value, record.global_default));
        self.priorities_changed();
    }

    fn priorities_changed(&mut self) {
        let default = self
            .priority_classes
            .iter()
            .filter(|(_, (_, global))| *global)
            .min();
        self.default_priority = default.map_or(0, |(_, (value, _))| *value);
        let jobs: Vec<JobId> = self.job_ids.values().copied().collect();
        for job in jobs {
            self.mark_dirty(job);
        }
    }

    fn set_report(&mut self, report: Option<InterferenceReport>) {
        self.report = report;
        self.report_epoch += 1;
    }

    fn answered(&mut self, uid: &str, before: TaskStatus, after: TaskStatus) {
        if let Some(id) = self.uid_ids.get(uid).copied()
            && self.tasks[id].status == before
        {
            self.set_status(id, after);
        }
    }

    fn bind_failed(&mut self, uid: &str) {
        let Some(id) = self.uid_ids.get(uid).copied() else {
            return;
        };
        if self.tasks[id].status == TaskStatus::Binding {
            self.leave_node(id);
            self.set_status(id, TaskStatus::Pending);
        }
    }

    fn evict_failed(&mut self, uid: &str) {
        let Some(id) = self.uid_ids.get(uid).copied() else {
            return;
        };
        let task = &self.tasks[id];
        if task.status == TaskStatus::Releasing && !task.deleting {
            let node = task.node;
            self.set_status(id, TaskStatus::Running);
            if let Some(node) = node {
                self.count_on(id, node);
            }
        }
    }
}

fn job_uid(namespace: &str, name: &str) -> Text {
    format!("{namespace}/{name}").into()
}

/// Names that Volcano 1.9 takes in whole units where it reserves what a running group lacks: scalars as Kubernetes means
/// them, which `pods` and `ephemeral-storage` are not.
fn counts_whole(name: &str) -> bool {
    !matches!(name, "cpu" | "memory" | "pods" | "ephemeral-storage")
        && crate::resource::unit_of(name).is_some()
}

/// Amounts by name as amounts by id. A name beyond what the registry can hold is left out and told.
fn convert(amounts: &Amounts, names: &mut ScalarNames, refused: &mut Vec<String>) -> Resource {
    let mut resource = Resource::new(amounts.milli_cpu, amounts.memory);
    for (name, amount) in &amounts.scalars {
        match names.intern(name) {
            Ok(id) => resource.set_scalar(id, *amount),
            Err(error) => refused.push(error.to_string()),
        }
    }
    resource
}
