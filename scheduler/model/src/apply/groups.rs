//! What a PodGroup changes, and when the job behind it begins and ends.

use super::convert;
use crate::cluster::Cluster;
use crate::event::PodGroupRecord;
use crate::ids::JobId;
use crate::job::{Group, Job};
use crate::spec::Text;

impl Cluster {
    pub(super) fn set_group(&mut self, record: PodGroupRecord) {
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
            min_named: record.min_resources_named,
            waiting_time: record.waiting_time,
            budget: record.budget,
            topology: record.topology,
            preemptable: record.preemptable,
            status: record.status,
        });
        self.mark_dirty(id);
    }

    pub(super) fn remove_group(&mut self, uid: &str) {
        let Some(id) = self.job_ids.get(uid).copied() else {
            return;
        };
        self.jobs[id].group = None;
        self.jobs[id].queue = None;
        self.mark_dirty(id);
        self.drop_job_if_over(id);
    }

    pub(super) fn find_or_make_job(&mut self, namespace: &Text, name: &Text) -> JobId {
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

    /// A job without PodGroup and tasks is forgotten.
    pub(super) fn drop_job_if_over(&mut self, id: JobId) {
        if self.jobs[id].group.is_none() && self.jobs[id].task_count() == 0 {
            self.withdraw_contribution(id);
            let uid = self.jobs[id].uid.clone();
            self.job_ids.remove(&uid);
            self.jobs.remove(id);
        }
    }
}

pub(super) fn job_uid(namespace: &str, name: &str) -> Text {
    format!("{namespace}/{name}").into()
}

/// Names that Volcano 1.9 takes in whole units where it reserves what a running group lacks: scalars as Kubernetes means
/// them, which `pods` and `ephemeral-storage` are not.
fn counts_whole(name: &str) -> bool {
    !matches!(name, "cpu" | "memory" | "pods" | "ephemeral-storage")
        && crate::resource::unit_of(name).is_some()
}
