//! The choice among equals: by name, or seeded. Either way the same state gives the same choice.

use mco_model::{Cluster, NodeId, TaskId};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// How ties between equally good nodes are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The lowest name.
    LowestName,
    /// Spread by a seed and the task, so that equal tasks do not pile onto one node.
    Seeded(u64),
}

impl TieBreak {
    /// One of `best`, which is not empty.
    #[must_use]
    pub fn choose(self, cluster: &Cluster, task: TaskId, best: &[NodeId]) -> Option<NodeId> {
        match self {
            Self::LowestName => best
                .iter()
                .copied()
                .min_by_key(|node| &cluster.nodes.row(*node).name),
            Self::Seeded(seed) => {
                let mut hasher = DefaultHasher::new();
                (seed, &cluster.task(task).uid).hash(&mut hasher);
                let index = (hasher.finish() % best.len().max(1) as u64) as usize;
                best.get(index).copied()
            }
        }
    }
}
