//! A queue and the running totals of its jobs.

use crate::event::QueueCounts;
use crate::extra::NodeGroups;
use crate::ids::JobId;
use crate::resource::Resource;
use crate::spec::Text;
use crate::time::Time;
use std::collections::BTreeMap;

/// A queue. Its name is also its UID.
#[derive(Clone, Debug)]
pub struct Queue {
    /// `metadata.name`.
    pub name: Text,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// `spec.weight`.
    pub weight: i32,
    /// `spec.capability`; `None` when no name is given.
    pub capability: Option<Resource>,
    /// `spec.deserved`.
    pub deserved: Resource,
    /// `spec.guarantee.resource`; `None` when no name is given.
    pub guarantee: Option<Resource>,
    /// `spec.reclaimable`.
    pub reclaimable: bool,
    /// Annotation `volcano.sh/hierarchy`.
    pub hierarchy: Text,
    /// Annotation `volcano.sh/hierarchy-weights`.
    pub hierarchy_weights: Text,
    /// Node groups that it wants and avoids; `None` when nothing is said.
    pub node_groups: Option<Box<NodeGroups>>,
    /// `status.state`.
    pub state: Text,
    /// PodGroups by phase, as the queue controller counted them; nothing is decided by it.
    pub counted: QueueCounts,
    /// Jobs that take part in sessions, by UID.
    pub jobs: BTreeMap<Text, JobId>,
    /// Sums over these jobs, as of [`crate::cluster::Cluster::refresh`].
    pub totals: QueueTotals,
}

/// Sums over the jobs of a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueTotals {
    /// Requests of allocated tasks.
    pub allocated: Resource,
    /// Requests of allocated and pending tasks.
    pub request: Resource,
    /// Reserved by jobs that were admitted, see [`crate::job::Job::inqueue_reservation`].
    pub inqueue: Resource,
    /// What jobs hold above their minimum, see [`crate::job::Job::elastic`].
    pub elastic: Resource,
    /// Requests of running tasks.
    pub running: Resource,
}

impl QueueTotals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.each(other, Resource::add);
    }

    pub(crate) fn sub(&mut self, other: &Self) {
        self.each(other, |mine, theirs| {
            if theirs.has_scalar_map() && !mine.has_scalar_map() {
                *mine = mine.clone().with_scalar_map();
            }
            mine.sub_unchecked(theirs);
        });
    }

    fn each(&mut self, other: &Self, apply: impl Fn(&mut Resource, &Resource)) {
        apply(&mut self.allocated, &other.allocated);
        apply(&mut self.request, &other.request);
        apply(&mut self.inqueue, &other.inqueue);
        apply(&mut self.elastic, &other.elastic);
        apply(&mut self.running, &other.running);
    }
}
