//! Topology domains: nodes that share the value of a label.

use mco_model::spec::Text;
use mco_model::{Cluster, Id, NodeId};
use std::collections::HashMap;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// The domains of one label key among the nodes of the session.
#[derive(Debug)]
pub struct Topology {
    of_node: Vec<u32>,
    values: Vec<Text>,
    blank: Option<usize>,
}

impl Topology {
    fn read(cluster: &Cluster, key: &str) -> Self {
        let mut of_node = vec![NONE; cluster.nodes.slots()];
        let mut values = Vec::new();
        let mut by_value: HashMap<&str, u32> = HashMap::new();
        for node in cluster.nodes.ready() {
            if let Some(value) = cluster.nodes.row(*node).labels.get(key) {
                let next = values.len() as u32;
                let domain = *by_value.entry(value).or_insert(next);
                if domain == next {
                    values.push(value.clone());
                }
                of_node[node.slot()] = domain;
            }
        }
        let blank = by_value.get("").map(|domain| *domain as usize);
        Self {
            of_node,
            values,
            blank,
        }
    }

    /// The node's domain; `None` when it has no such label.
    #[must_use]
    pub fn domain(&self, node: NodeId) -> Option<usize> {
        let domain = self.of_node[node.slot()];
        (domain != NONE).then_some(domain as usize)
    }

    /// Number of domains.
    #[must_use]
    pub fn domains(&self) -> usize {
        self.values.len()
    }

    /// The label's value in a domain.
    #[must_use]
    pub fn value(&self, domain: usize) -> &Text {
        &self.values[domain]
    }

    /// The domain of nodes that have the label with an empty value.
    #[must_use]
    pub fn blank(&self) -> Option<usize> {
        self.blank
    }
}

/// Topologies read so far.
#[derive(Default)]
pub struct Topologies {
    by_key: HashMap<Text, Arc<Topology>>,
}

impl Topologies {
    /// The topology of that label key.
    pub fn get(&mut self, cluster: &Cluster, key: &Text) -> Arc<Topology> {
        if let Some(topology) = self.by_key.get(key) {
            return topology.clone();
        }
        let topology = Arc::new(Topology::read(cluster, key));
        self.by_key.insert(key.clone(), topology.clone());
        topology
    }
}
