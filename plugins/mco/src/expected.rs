//! The load that pods placed of late will bring before a report can show it, so that a burst does not pile onto the
//! calmest node.

use crate::memory::{Memory, PlacedOn};
use crate::settings::Settings;
use mco_framework::{Ledger, View};
use mco_model::status::TaskStatus;
use mco_model::{Id, NodeId, TaskId};
use std::collections::{BTreeMap, HashMap};

/// Pods placed of late, counted by node: those that earlier sessions bound and those of this one.
#[derive(Debug)]
pub struct Expected {
    level_per_task: f64,
    /// By slot of the node.
    tasks: Vec<u32>,
    /// Those of this session.
    placed: HashMap<TaskId, NodeId>,
}

impl Expected {
    /// What earlier sessions left to be expected.
    pub fn recall(view: View<'_>, settings: &Settings, memory: &mut Memory) -> Self {
        let mut tasks = vec![0; view.nodes.slots()];
        for placed in memory.placed_of_late(view.now(), settings.expected_seconds) {
            if let Some(node) = view.nodes.find(&placed.node) {
                tasks[node.slot()] += placed.tasks;
            }
        }
        Self {
            level_per_task: settings.expected_level_per_task,
            tasks,
            placed: HashMap::new(),
        }
    }

    /// By how much the node's level is expected to rise; not limited.
    pub fn level(&self, node: NodeId) -> f64 {
        self.level_per_task * f64::from(self.tasks[node.slot()])
    }

    /// What this session leaves to be expected: pods that wait for the rest of their gang give their places back.
    pub fn bound(&self, view: View<'_>) -> Vec<PlacedOn> {
        let mut by_node: BTreeMap<NodeId, u32> = BTreeMap::new();
        for (task, node) in &self.placed {
            if view.task(*task).status == TaskStatus::Binding {
                *by_node.entry(*node).or_default() += 1;
            }
        }
        let placed = by_node.into_iter().map(|(node, tasks)| PlacedOn {
            node: view.nodes.row(node).name.clone(),
            tasks,
        });
        placed.collect()
    }
}

impl Ledger for Expected {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        let row = view.task(task);
        // A pipelined pod brings no load before others have left, and an eviction that is undone brings none at all.
        if let (TaskStatus::Allocated, Some(node)) = (row.status, row.node)
            && self.placed.insert(task, node).is_none()
        {
            self.tasks[node.slot()] += 1;
        }
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        // A pod of this session that is evicted goes on counting: it runs until it has left, and the eviction may be undone.
        if view.task(task).status == TaskStatus::Pending
            && let Some(node) = self.placed.remove(&task)
        {
            self.tasks[node.slot()] -= 1;
        }
    }
}
