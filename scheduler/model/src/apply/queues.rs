//! What a Queue changes: its amounts, and whether the jobs that name it take part in sessions.

use super::convert;
use crate::cluster::Cluster;
use crate::event::{Amounts, QueueRecord};
use crate::ids::JobId;
use crate::job::Job;
use crate::queue::{Queue, QueueTotals};
use crate::resource::Resource;
use crate::spec::Text;

impl Cluster {
    pub(super) fn set_queue(&mut self, record: QueueRecord) {
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
            node_groups: record.node_groups,
            hierarchy: record.hierarchy,
            hierarchy_weights: record.hierarchy_weights,
            state: record.state,
            counted: record.counted,
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

    pub(super) fn remove_queue(&mut self, name: &Text) {
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
}
