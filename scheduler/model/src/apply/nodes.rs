//! What a Node changes. Tasks on it stay and are counted anew.

use super::convert;
use crate::cluster::Cluster;
use crate::event::NodeRecord;
use crate::ids::{NodeId, TaskId};

impl Cluster {
    pub(super) fn set_node(&mut self, record: NodeRecord) {
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

    pub(super) fn remove_node(&mut self, name: &str) {
        self.usage.remove(name);
        let Some(node) = self.nodes.find(name) else { return };
        self.nodes.forget(node);
    }
}
