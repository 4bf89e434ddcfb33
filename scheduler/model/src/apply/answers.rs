//! What becomes of a task when its binding or eviction is answered.

use crate::cluster::Cluster;
use crate::status::TaskStatus;

impl Cluster {
    pub(super) fn answered(&mut self, uid: &str, before: TaskStatus, after: TaskStatus) {
        if let Some(id) = self.uid_ids.get(uid).copied()
            && self.tasks[id].status == before
        {
            self.set_status(id, after);
        }
    }

    pub(super) fn bind_failed(&mut self, uid: &str) {
        let Some(id) = self.uid_ids.get(uid).copied() else {
            return;
        };
        if self.tasks[id].status == TaskStatus::Binding {
            self.leave_node(id);
            self.tasks[id].extra.cards = None;
            self.set_status(id, TaskStatus::Pending);
        }
    }

    pub(super) fn evict_failed(&mut self, uid: &str) {
        let Some(id) = self.uid_ids.get(uid).copied() else {
            return;
        };
        let task = &self.tasks[id];
        if task.status == TaskStatus::Releasing && !task.deleting {
            let node = task.node;
            self.set_status(id, TaskStatus::Running);
            if let Some(node) = node {
                self.count_on(id, node);
            }
        }
    }
}
