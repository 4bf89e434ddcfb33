//! Nodes: their rows, their amounts by column, and the order in which they arrived.

use crate::columns::Columns;
use crate::event::{Amounts, NodeRecord};
use crate::ids::{Id, IdVec, NodeId, TaskId};
use crate::resource::Resource;
use crate::spec::{Labels, Taint, Text};
use crate::task::Task;
use std::collections::HashMap;

/// A node, without its amounts.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// `metadata.name`.
    pub name: Text,
    /// Labels.
    pub labels: Labels,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// There is a Node object and it is ready; others take no part in sessions.
    pub ready: bool,
    /// The node was announced by an object, not only by a pod bound to it.
    pub known: bool,
    /// Pod limit, a whole number.
    pub max_pods: i64,
    /// Label `volcano.sh/revocable-zone`.
    pub revocable_zone: Text,
    /// Allocatable amounts without oversubscription.
    pub allocatable_plain: Resource,
    /// Images by name: size in bytes and the number of nodes that had it when this node came or changed, itself
    /// included.
    pub images: HashMap<Text, ImageState>,
    /// Tasks whose amounts are counted here, in no order.
    pub tasks: Vec<TaskId>,
    /// Pods that filters and scores see here, in no order: a task evicted in this session is still counted but no longer
    /// seen.
    pub occupants: Vec<TaskId>,
    arrival: u64,
}

/// What is known of an image on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageState {
    /// Size in bytes.
    pub size: i64,
    /// Nodes that had it.
    pub nodes: i64,
}

/// How a task counts on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accounting {
    Used,
    Releasing,
    Pipelined,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    rows: IdVec<NodeId, Node>,
    by_name: HashMap<Text, NodeId>,
    image_nodes: HashMap<Text, usize>,
    ready: Vec<NodeId>,
    arrivals: u64,
    /// Allocatable amounts, oversubscription included.
    pub allocatable: Columns,
    /// Free now; negative when over-committed.
    pub idle: Columns,
    /// In use, terminating pods included.
    pub used: Columns,
    /// In use by terminating pods.
    pub releasing: Columns,
    /// Promised to tasks that wait for room.
    pub pipelined: Columns,
    non_zero_milli_cpu: Vec<i64>,
    non_zero_memory: Vec<i64>,
    requested: Columns,
    changes: Vec<u64>,
    pub(crate) total_allocatable: Resource,
    pub(crate) total_used: Resource,
    pub(crate) totals_stale: bool,
}

impl Nodes {
    /// The node's row.
    #[must_use]
    pub fn row(&self, node: NodeId) -> &Node {
        &self.rows[node]
    }

    /// The node of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// Nodes that take part in sessions, in order of arrival, as of the last refresh.
    #[must_use]
    pub fn ready(&self) -> &[NodeId] {
        &self.ready
    }

    /// Number of slots: the length that a column by node needs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.rows.slots()
    }

    /// Every known node, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.rows.iter()
    }

    /// A number that grows whenever what is counted or seen on the node changes.
    #[must_use]
    pub fn change(&self, node: NodeId) -> u64 {
        self.changes[node.slot()]
    }

    /// Idle plus releasing minus pipelined: what will be free; may be negative.
    #[must_use]
    pub fn future_idle(&self, node: NodeId) -> Resource {
        let mut future = self.idle.row(node).with_scalar_map();
        future.add(&self.releasing.row(node));
        future.sub_unchecked(&self.pipelined.row(node));
        future
    }

    /// The request fits into what will be free, absent scalars counting as zero.
    #[must_use]
    pub fn future_covers(&self, node: NodeId, request: &Resource) -> bool {
        let fits = |amount: f64, idle: f64, releasing: f64, pipelined: f64| {
            let room = idle + releasing - pipelined;
            amount < room || (amount - room).abs() < crate::resource::MIN_RESOURCE
        };
        let scalar = |columns: &Columns, id| columns.scalar(node, id).unwrap_or(0.0);
        fits(
            request.milli_cpu,
            self.idle.milli_cpu(node),
            self.releasing.milli_cpu(node),
            self.pipelined.milli_cpu(node),
        ) && fits(
            request.memory,
            self.idle.memory(node),
            self.releasing.memory(node),
            self.pipelined.memory(node),
        ) && request.scalars().all(|(id, amount)| {
            fits(
                amount,
                scalar(&self.idle, id),
                scalar(&self.releasing, id),
                scalar(&self.pipelined, id),
            )
        })
    }

    /// CPU in milli and memory in bytes of the pods seen here, with Kubernetes' stand-ins for containers that ask for
    /// none.
    #[must_use]
    pub fn non_zero_requested(&self, node: NodeId) -> (i64, i64) {
        (
            self.non_zero_milli_cpu[node.slot()],
            self.non_zero_memory[node.slot()],
        )
    }

    /// Requests of the pods seen on each node.
    #[must_use]
    pub fn requested(&self) -> &Columns {
        &self.requested
    }

    /// Sum of allocatable amounts over ready nodes, as of the last refresh.
    #[must_use]
    pub fn total_allocatable(&self) -> &Resource {
        &self.total_allocatable
    }

    /// Sum of used amounts over ready nodes.
    #[must_use]
    pub fn total_used(&self) -> &Resource {
        &self.total_used
    }

    /// The node of that name, made as a placeholder when no object has announced it.
    pub(crate) fn find_or_make(&mut self, name: &Text) -> NodeId {
        if let Some(node) = self.find(name) {
            return node;
        }
        let node = self.rows.insert(Node {
            name: name.clone(),
            ..Node::default()
        });
        self.by_name.insert(name.clone(), node);
        for columns in self.amounts_mut() {
            columns.reserve(node);
            columns.set_row(node, &Resource::default());
        }
        let slots = self.rows.slots();
        self.non_zero_milli_cpu.resize(slots, 0);
        self.non_zero_memory.resize(slots, 0);
        self.changes.resize(slots, 0);
        self.non_zero_milli_cpu[node.slot()] = 0;
        self.non_zero_memory[node.slot()] = 0;
        node
    }

    /// Takes over what the object says; amounts of tasks are counted anew by the caller.
    pub(crate) fn set(&mut self, record: NodeRecord, amounts: impl Fn(&Amounts) -> Resource) -> NodeId {
        let node = self.find_or_make(&record.name);
        self.forget_images(node);
        let images = self.note_images(&record.images);
        let row = &mut self.rows[node];
        if !row.known {
            self.arrivals += 1;
            row.arrival = self.arrivals;
        }
        row.known = true;
        row.ready = record.ready;
        row.labels = record.labels;
        row.taints = record.taints;
        row.unschedulable = record.unschedulable;
        row.max_pods = record.max_pods;
        row.revocable_zone = record.revocable_zone;
        row.images = images;
        row.allocatable_plain = amounts(&record.allocatable);
        let mut allocatable = row.allocatable_plain.clone();
        allocatable.milli_cpu += record.oversubscription.0;
        allocatable.memory += record.oversubscription.1;
        self.allocatable.set_row(node, &allocatable);
        self.idle.set_row(node, &allocatable);
        for columns in [
            &mut self.used,
            &mut self.releasing,
            &mut self.pipelined,
            &mut self.requested,
        ] {
            columns.set_row(node, &Resource::default());
        }
        self.non_zero_milli_cpu[node.slot()] = 0;
        self.non_zero_memory[node.slot()] = 0;
        self.totals_stale = true;
        self.touch(node);
        node
    }

    /// Removes the object; the row stays as a placeholder while tasks name it.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.forget_images(node);
        let row = &mut self.rows[node];
        let kept = std::mem::take(row);
        *row = Node {
            name: kept.name,
            tasks: kept.tasks,
            occupants: kept.occupants,
            ..Node::default()
        };
        self.totals_stale = true;
        self.drop_if_unused(node);
    }

    pub(crate) fn drop_if_unused(&mut self, node: NodeId) {
        let row = &self.rows[node];
        if !row.known && row.tasks.is_empty() {
            self.by_name.remove(&row.name);
            self.rows.remove(node);
        }
    }

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

    /// The list of ready nodes and the sums over them, after nodes came, went or changed.
    pub(crate) fn refresh_totals(&mut self) {
        if !std::mem::take(&mut self.totals_stale) {
            return;
        }
        self.list_ready();
        let (mut allocatable, mut used) = (Resource::default(), Resource::default());
        for node in &self.ready {
            allocatable.add(&self.allocatable.row(*node));
            used.add(&self.used.row(*node));
        }
        self.total_allocatable = allocatable;
        self.total_used = used.with_scalar_map();
    }

    fn touch(&mut self, node: NodeId) {
        self.changes[node.slot()] += 1;
    }

    fn list_ready(&mut self) {
        self.ready = self
            .rows
            .iter()
            .filter(|(_, row)| row.ready)
            .map(|(node, _)| node)
            .collect();
        let rows = &self.rows;
        self.ready.sort_by_key(|node| rows[*node].arrival);
    }

    fn note_images(&mut self, images: &[(Text, i64)]) -> HashMap<Text, ImageState> {
        let mut noted = HashMap::with_capacity(images.len());
        for (name, size) in images {
            if !noted.contains_key(name) {
                *self.image_nodes.entry(name.clone()).or_default() += 1;
            }
            let nodes = self.image_nodes[name] as i64;
            noted.insert(name.clone(), ImageState { size: *size, nodes });
        }
        noted
    }

    fn forget_images(&mut self, node: NodeId) {
        for name in std::mem::take(&mut self.rows[node].images).into_keys() {
            if let Some(nodes) = self.image_nodes.get_mut(&name) {
                *nodes -= 1;
                if *nodes == 0 {
                    self.image_nodes.remove(&name);
                }
            }
        }
    }

    fn amounts_mut(&mut self) -> [&mut Columns; 6] {
        [
            &mut self.allocatable,
            &mut self.idle,
            &mut self.used,
            &mut self.releasing,
            &mut self.pipelined,
            &mut self.requested,
        ]
    }
}

fn remove(list: &mut Vec<TaskId>, id: TaskId) -> bool {
    let position = list.iter().rposition(|other| *other == id);
    position.map(|position| list.swap_remove(position)).is_some()
}
