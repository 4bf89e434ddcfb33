//! What Node objects say: rows that come, change and go, and the images on them.

use super::{ImageState, Node, Nodes};
use crate::event::{Amounts, NodeRecord};
use crate::ids::{Id, NodeId};
use crate::resource::Resource;
use crate::spec::Text;
use std::collections::HashMap;

impl Nodes {
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
        row.cards = record.cards;
        row.capacity = (record.capacity.milli_cpu, record.capacity.memory);
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
}
