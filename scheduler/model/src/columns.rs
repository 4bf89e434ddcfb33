//! Amounts of many nodes, one contiguous array per resource, so that a search reads memory in a straight line.

use crate::ids::{Id, NodeId};
use crate::resource::{Dimension, MIN_RESOURCE, Resource, ScalarId};

/// One column per resource; a scalar also knows on which nodes it is present, since absent is not zero.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    milli_cpu: Vec<f64>,
    memory: Vec<f64>,
    scalars: Vec<ScalarColumn>,
}

#[derive(Clone, Debug, Default)]
struct ScalarColumn {
    amounts: Vec<f64>,
    present: Vec<bool>,
}

impl ScalarColumn {
    fn get(&self, node: NodeId) -> Option<f64> {
        let slot = node.slot();
        self.present
            .get(slot)
            .copied()
            .unwrap_or(false)
            .then(|| self.amounts[slot])
    }

    fn set(&mut self, node: NodeId, amount: f64) {
        let slot = node.slot();
        if self.amounts.len() <= slot {
            self.amounts.resize(slot + 1, 0.0);
            self.present.resize(slot + 1, false);
        }
        self.amounts[slot] = amount;
        self.present[slot] = true;
    }
}

impl Columns {
    /// The node's amounts as one value.
    #[must_use]
    pub fn row(&self, node: NodeId) -> Resource {
        let mut row = Resource::new(self.milli_cpu(node), self.memory(node));
        for (index, column) in self.scalars.iter().enumerate() {
            if let Some(amount) = column.get(node) {
                row.set_scalar(ScalarId::at(index), amount);
            }
        }
        row
    }

    /// Replaces the node's amounts.
    pub fn set_row(&mut self, node: NodeId, row: &Resource) {
        self.reserve(node);
        self.milli_cpu[node.slot()] = row.milli_cpu;
        self.memory[node.slot()] = row.memory;
        for column in &mut self.scalars {
            if let Some(present) = column.present.get_mut(node.slot()) {
                *present = false;
            }
        }
        for (id, amount) in row.scalars() {
            self.column(id).set(node, amount);
        }
    }

    /// Adds to the node's amounts.
    pub fn add(&mut self, node: NodeId, amounts: &Resource) {
        self.change(node, amounts, 1.0);
    }

    /// Takes from the node's amounts; a scalar that was absent becomes negative.
    pub fn sub(&mut self, node: NodeId, amounts: &Resource) {
        self.change(node, amounts, -1.0);
    }

    fn change(&mut self, node: NodeId, amounts: &Resource, sign: f64) {
        self.milli_cpu[node.slot()] += sign * amounts.milli_cpu;
        self.memory[node.slot()] += sign * amounts.memory;
        for (id, amount) in amounts.scalars() {
            let column = self.column(id);
            let before = column.get(node).unwrap_or(0.0);
            column.set(node, before + sign * amount);
        }
    }

    /// CPU of the node in milli.
    #[must_use]
    pub fn milli_cpu(&self, node: NodeId) -> f64 {
        self.milli_cpu.get(node.slot()).copied().unwrap_or(0.0)
    }

    /// Memory of the node in bytes.
    #[must_use]
    pub fn memory(&self, node: NodeId) -> f64 {
        self.memory.get(node.slot()).copied().unwrap_or(0.0)
    }

    /// A scalar of the node; `None` when the node has no such name.
    #[must_use]
    pub fn scalar(&self, node: NodeId, id: ScalarId) -> Option<f64> {
        self.scalars.get(id.index()).and_then(|column| column.get(node))
    }

    /// Any dimension of the node, zero when absent.
    #[must_use]
    pub fn get(&self, node: NodeId, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::Cpu => self.milli_cpu(node),
            Dimension::Memory => self.memory(node),
            Dimension::Scalar(id) => self.scalar(node, id).unwrap_or(0.0),
        }
    }

    /// `request` is at most the node's amounts in each of its dimensions, absent scalars counting as zero; the same
    /// answer as [`Resource::less_equal`] with [`crate::resource::Missing::Zero`].
    #[must_use]
    pub fn covers(&self, node: NodeId, request: &Resource) -> bool {
        at_most(request.milli_cpu, self.milli_cpu(node))
            && at_most(request.memory, self.memory(node))
            && request
                .scalars()
                .all(|(id, amount)| at_most(amount, self.scalar(node, id).unwrap_or(0.0)))
    }

    /// Makes room for the node, with nothing in its row.
    pub fn reserve(&mut self, node: NodeId) {
        let length = node.slot() + 1;
        if self.milli_cpu.len() < length {
            self.milli_cpu.resize(length, 0.0);
            self.memory.resize(length, 0.0);
        }
    }

    fn column(&mut self, id: ScalarId) -> &mut ScalarColumn {
        if self.scalars.len() <= id.index() {
            self.scalars.resize_with(id.index() + 1, ScalarColumn::default);
        }
        &mut self.scalars[id.index()]
    }
}

fn at_most(amount: f64, limit: f64) -> bool {
    amount < limit || (amount - limit).abs() < MIN_RESOURCE
}
