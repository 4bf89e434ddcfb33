//! The books of a node: which tasks count on it and which pods are seen there.

use super::{Accounting, Nodes};
use crate::columns::Columns;
use crate::ids::{Id, NodeId, TaskId};
use crate::resource::Resource;
use crate::task::Task;

impl Nodes {
    pub(crate) fn count(&mut self, node: NodeId, id: TaskId, task: &Task, accounting: Accounting) {
        self.rows[node].tasks.push(id);
        self.book(node, task, accounting, Columns::add, Columns::sub);
        if accounting != Accounting::Pipelined && self.rows[node].ready {
            self.total_used.add(&task.request);
        }
    }

    pub(crate) fn uncount(&mut self, node: NodeId, id: TaskId, task: &Task, accounting: Accounting) {
        remove(&mut self.rows[node].tasks, id);
        self.book(node, task, accounting, Columns::sub, Columns::add);
        if accounting != Accounting::Pipelined && self.rows[node].ready {
            self.total_used.sub_unchecked(&task.request);
        }
    }

    fn book(
        &mut self,
        node: NodeId,
        task: &Task,
        accounting: Accounting,
        take: fn(&mut Columns, NodeId, &Resource),
        give: fn(&mut Columns, NodeId, &Resource),
    ) {
        match accounting {
            Accounting::Pipelined => take(&mut self.pipelined, node, &task.request),
            Accounting::Used | Accounting::Releasing => {
                give(&mut self.idle, node, &task.request);
                take(&mut self.used, node, &task.request);
                if accounting == Accounting::Releasing {
                    take(&mut self.releasing, node, &task.request);
                }
            }
        }
        self.touch(node);
    }

    pub(crate) fn occupy(&mut self, node: NodeId, id: TaskId, task: &Task, non_zero: (i64, i64)) {
        self.rows[node].occupants.push(id);
        self.requested.add(node, &task.request);
        self.non_zero_milli_cpu[node.slot()] += non_zero.0;
        self.non_zero_memory[node.slot()] += non_zero.1;
        self.touch(node);
    }

    pub(crate) fn vacate(&mut self, node: NodeId, id: TaskId, task: &Task, non_zero: (i64, i64)) {
        if remove(&mut self.rows[node].occupants, id) {
            self.requested.sub(node, &task.request);
            self.non_zero_milli_cpu[node.slot()] -= non_zero.0;
            self.non_zero_memory[node.slot()] -= non_zero.1;
            self.touch(node);
        }
    }

    /// Takes all tasks off the books and returns them, before the node's figures are replaced.
    pub(crate) fn clear_tasks(&mut self, node: NodeId) -> Vec<TaskId> {
        let row = &mut self.rows[node];
        row.occupants.clear();
        self.totals_stale = true;
        std::mem::take(&mut row.tasks)
    }
}

fn remove(list: &mut Vec<TaskId>, id: TaskId) -> bool {
    let position = list.iter().rposition(|other| *other == id);
    position.map(|position| list.swap_remove(position)).is_some()
}
