//! On which nodes pods with a label may be, so that what selects pods by a label need not look at all nodes.

use super::watch::Watch;
use crate::matching::Anchor;
use mco_model::spec::Text;
use mco_model::{Cluster, NodeId};
use std::collections::HashMap;

/// Nodes by the labels of their pods, for the keys asked for so far. A node that once had such a pod
/// stays listed, and may be so repeatedly.
#[derive(Default)]
pub struct Whereabouts {
    by_key: HashMap<Text, HashMap<Text, Vec<NodeId>>>,
    read: usize,
}

impl Whereabouts {
    /// Nodes to look at for pods that have one of the anchors; some may have none.
    pub(super) fn nodes(&mut self, cluster: &Cluster, watch: &Watch, anchors: &[Anchor<'_>]) -> Vec<NodeId> {
        if anchors.contains(&Anchor::Unknown) {
            return cluster.nodes.ready().to_vec();
        }
        self.update(cluster, watch);
        let mut nodes: Vec<NodeId> = Vec::new();
        for anchor in anchors {
            let Anchor::OneOf(key, values) = anchor else {
                continue;
            };
            let by_value = self.of_key(cluster, key);
            nodes.extend(values.iter().filter_map(|value| by_value.get(value)).flatten());
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn update(&mut self, cluster: &Cluster, watch: &Watch) {
        for node in watch.since(self.read) {
            for (key, by_value) in &mut self.by_key {
                note(cluster, key, by_value, *node);
            }
        }
        self.read = watch.now();
    }

    fn of_key(&mut self, cluster: &Cluster, key: &Text) -> &HashMap<Text, Vec<NodeId>> {
        self.by_key.entry(key.clone()).or_insert_with(|| {
            let mut by_value = HashMap::new();
            for node in cluster.nodes.ready() {
                note(cluster, key, &mut by_value, *node);
            }
            by_value
        })
    }
}

fn note(cluster: &Cluster, key: &Text, by_value: &mut HashMap<Text, Vec<NodeId>>, node: NodeId) {
    for pod in &cluster.nodes.row(node).occupants {
        let Some(value) = cluster.task(*pod).labels.get(key) else {
            continue;
        };
        match by_value.get_mut(value) {
            Some(nodes) if nodes.last() == Some(&node) => {}
            Some(nodes) => nodes.push(node),
            None => drop(by_value.insert(value.clone(), vec![node])),
        }
    }
}
