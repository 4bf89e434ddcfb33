//! Which nodes changed since someone last looked.

use mco_model::{Cluster, Id, NodeId};

/// A log of changed nodes. Readers remember how far they have read.
pub struct Watch {
    seen: Vec<u64>,
    log: Vec<NodeId>,
}

impl Watch {
    pub(super) fn new(cluster: &Cluster) -> Self {
        let mut seen = vec![0; cluster.nodes.slots()];
        for node in cluster.nodes.ready() {
            seen[node.slot()] = cluster.nodes.change(*node);
        }
        Self {
            seen,
            log: Vec::new(),
        }
    }

    /// Notes the nodes that changed since the last call.
    pub(super) fn update(&mut self, cluster: &Cluster) {
        for node in cluster.nodes.ready() {
            let change = cluster.nodes.change(*node);
            let seen = &mut self.seen[node.slot()];
            if *seen != change {
                *seen = change;
                self.log.push(*node);
            }
        }
    }

    /// Where the log ends.
    pub(super) fn now(&self) -> usize {
        self.log.len()
    }

    /// Nodes that changed after `position`; one that changed repeatedly may come repeatedly.
    pub(super) fn since(&self, position: usize) -> &[NodeId] {
        &self.log[position..]
    }
}
