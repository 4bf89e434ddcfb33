//! Events into state: what each object changes when it comes, changes or goes.

mod answers;
mod extra;
mod groups;
mod nodes;
mod pods;
mod queues;

use crate::cluster::Cluster;
use crate::event::{Amounts, Event, PriorityClassRecord};
use crate::ids::JobId;
use crate::interference::InterferenceReport;
use crate::resource::{Resource, ScalarNames};
use crate::status::TaskStatus;
use groups::job_uid;

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
            Event::QuotaSet(record) => self.set_quota(*record),
            Event::QuotaRemoved { namespace, name } => self.remove_quota(&namespace, &name),
            Event::DisruptionBudgetSet(record) => {
                let key = (record.namespace.clone(), record.name.clone());
                self.disruption_budgets.insert(key, *record);
            }
            Event::DisruptionBudgetRemoved { namespace, name } => {
                self.disruption_budgets.remove(&(namespace, name));
            }
            Event::NumatopologySet(record) => self.set_numatopology(*record),
            Event::NumatopologyRemoved { name } => {
                self.numatopologies.remove(&name);
            }
            Event::NodeUsageSet(record) => {
                self.usage.insert(record.node.clone(), *record);
            }
            Event::ProcessStarted { at } => self.started = Some(at),
            Event::UtcOffsetSet { seconds } => self.utc_offset = seconds,
            Event::ReportSet(report) => self.set_report(Some(*report)),
            Event::ReportRemoved => self.set_report(None),
            Event::Bound { uid } => self.answered(&uid, TaskStatus::Binding, TaskStatus::Bound),
            Event::BindFailed { uid, .. } => self.bind_failed(&uid),
            Event::EvictFailed { uid, .. } => self.evict_failed(&uid),
        }
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
