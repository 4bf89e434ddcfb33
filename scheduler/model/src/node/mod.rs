//! Nodes: their rows, their amounts by column, and the order in which they arrived.

mod books;
mod objects;

use crate::columns::Columns;
use crate::extra::NodeCards;
use crate::ids::{Id, IdVec, NodeId, TaskId};
use crate::resource::Resource;
use crate::spec::{Labels, Taint, Text};
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
    /// Cards that pods share; `None` when there are none.
    pub cards: Option<Box<NodeCards>>,
    /// Allocatable amounts without oversubscription.
    pub allocatable_plain: Resource,
    /// CPU in milli and memory in bytes of its capacity, without oversubscription.
    pub capacity: (f64, f64),
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
