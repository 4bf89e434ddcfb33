//! What is remembered of CPUs between sessions: those given to pods that the node's exporter has not seen yet.

use mco_framework::View;
use mco_model::cpus::CpuSet;
use mco_model::extra::Numatopology;
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use std::collections::HashMap;

/// The name of the resource.
const CPU: &str = "cpu";

/// Free CPUs as this scheduler counts them, by node, and who got which.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    nodes: HashMap<Text, Counted>,
    given: HashMap<Text, Given>,
}

#[derive(Clone, Debug)]
struct Counted {
    epoch: u64,
    free: Option<CpuSet>,
}

/// CPUs that a pod got when it was bound.
#[derive(Clone, Debug)]
struct Given {
    node: Text,
    epoch: u64,
    cpus: CpuSet,
}

impl Memory {
    /// Gives back what pods got whose binding failed, and forgets pods that are gone.
    pub(super) fn review(&mut self, view: View<'_>) {
        let nodes = &mut self.nodes;
        self.given.retain(|uid, given| {
            let Some(task) = view.find_uid(uid).map(|task| view.task(task)) else {
                return false;
            };
            let failed = task.status == TaskStatus::Pending;
            if failed
                && let Some(node) = nodes.get_mut(&given.node)
                && node.epoch == given.epoch
                && let Some(free) = &mut node.free
            {
                free.add(&given.cpus);
            }
            !failed
        });
    }

    /// Free CPUs of the node. What its exporter says counts when it says more than before, or less than was known; for the
    /// rest the scheduler goes by its own count.
    pub(super) fn free(&mut self, node: &Text, topology: &Numatopology) -> Option<CpuSet> {
        let seen = topology.record.free.get(CPU);
        let counted = self
            .nodes
            .entry(node.clone())
            .or_insert_with(|| Counted { epoch: 0, free: None });
        if counted.epoch != topology.epoch {
            let is_first = counted.epoch == 0;
            counted.epoch = topology.epoch;
            let known = counted.free.as_ref().map_or(0, CpuSet::len);
            if is_first || topology.grown || seen.is_some_and(|seen| known >= seen.len()) {
                counted.free = seen.cloned();
            }
        }
        counted.free.clone()
    }

    /// A pod was bound and gets these CPUs.
    pub(super) fn give(&mut self, node: &Text, uid: &Text, cpus: CpuSet) {
        let Some(counted) = self.nodes.get_mut(node) else {
            return;
        };
        if let Some(free) = &mut counted.free {
            free.take(&cpus);
        }
        let given = Given {
            node: node.clone(),
            epoch: counted.epoch,
            cpus,
        };
        self.given.insert(uid.clone(), given);
    }

    /// Forgets nodes of which nothing is known any more.
    pub(super) fn keep_only(&mut self, is_known: impl Fn(&Text) -> bool) {
        self.nodes.retain(|node, _| is_known(node));
    }
}
