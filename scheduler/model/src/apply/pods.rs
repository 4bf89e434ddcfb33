//! What a Pod changes: its task, its job and the node that it is on.

use super::convert;
use crate::cluster::Cluster;
use crate::event::PodRecord;
use crate::ids::TaskId;
use crate::task::{Task, ordinal, status_of};
use std::sync::Arc;

impl Cluster {
    pub(super) fn set_pod(&mut self, pod: PodRecord) {
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
            extra: pod.extra,
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

    pub(super) fn remove_task(&mut self, id: TaskId) {
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

    pub(super) fn leave_node(&mut self, id: TaskId) {
        if let Some(node) = self.tasks[id].node {
            self.vacate(id, node);
            self.uncount(id);
            self.nodes.drop_if_unused(node);
        }
    }
}
