//! How many pods pass a test, by node and by topology domain.

use super::terms::{Namespaces, PodTerm};
use super::topology::Topology;
use super::watch::Watch;
use crate::matching::{Anchor, Selector};
use mco_model::spec::Text;
use mco_model::task::Task;
use mco_model::{ClassId, Cluster, Id, NodeId};
use std::sync::Arc;

/// What a tally is kept under. Tasks with equal keys count the same pods.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TallyKey {
    /// Required terms of a class in a namespace.
    Required(ClassId, Text),
    /// Preferred terms of a class in a namespace.
    Preferred(ClassId, Text),
    /// Spread constraints of a class in a namespace, with the selectors that came of them.
    Spread(ClassId, Text, Vec<Selector>),
}

/// Which pods are counted.
#[derive(Clone, Debug)]
pub enum PodTest {
    /// Pods of which every term speaks; none without terms.
    All(Vec<PodTerm>),
    /// Pods of a namespace that a selector selects. Those being deleted do not count, and a selector that selects
    /// everything counts nothing.
    Spread(Text, Selector),
}

impl PodTest {
    /// Where to look for pods that pass.
    pub(super) fn anchor(&self) -> Anchor<'_> {
        match self {
            Self::All(terms) => {
                let known = terms
                    .iter()
                    .map(PodTerm::anchor)
                    .find(|anchor| *anchor != Anchor::Unknown);
                known.unwrap_or(if terms.is_empty() {
                    Anchor::Nothing
                } else {
                    Anchor::Unknown
                })
            }
            Self::Spread(_, selector) if selector.is_everything() => Anchor::Nothing,
            Self::Spread(_, selector) => selector.anchor(),
        }
    }

    fn passes(&self, cluster: &Cluster, namespaces: &mut Namespaces, pod: &Task) -> bool {
        match self {
            Self::All(terms) => {
                !terms.is_empty() && terms.iter().all(|term| term.matches(cluster, namespaces, pod))
            }
            Self::Spread(namespace, selector) => {
                !pod.deleting
                    && pod.namespace == *namespace
                    && !selector.is_everything()
                    && selector.matches(&pod.labels)
            }
        }
    }
}

/// Counts of one test, summed over the nodes of each domain.
pub struct DomainSum {
    test: usize,
    topology: Arc<Topology>,
    /// Nodes whose pods count, by slot; `None` for all.
    eligible: Option<Vec<bool>>,
    /// Nodes without the label count as if it was empty.
    blank_for_missing: bool,
    counts: Arc<Vec<u32>>,
    total: u64,
}

impl DomainSum {
    /// Sums the test at `test` over the domains of `topology`.
    #[must_use]
    pub fn new(test: usize, topology: Arc<Topology>) -> Self {
        let counts = Arc::new(vec![0; topology.domains()]);
        Self {
            test,
            topology,
            eligible: None,
            blank_for_missing: false,
            counts,
            total: 0,
        }
    }

    /// Sums over these nodes only, given by slot; slots beyond the list are left out.
    #[must_use]
    pub fn among(mut self, eligible: Vec<bool>) -> Self {
        self.eligible = Some(eligible);
        self
    }

    /// Takes a missing label for an empty one.
    #[must_use]
    pub fn with_blank_for_missing(mut self) -> Self {
        self.blank_for_missing = true;
        self
    }

    /// The domains.
    #[must_use]
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Pods by domain.
    #[must_use]
    pub fn counts(&self) -> &Arc<Vec<u32>> {
        &self.counts
    }

    /// Pods in all domains together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The node's pods count.
    #[must_use]
    pub fn is_eligible(&self, node: NodeId) -> bool {
        self.eligible
            .as_ref()
            .is_none_or(|eligible| eligible.get(node.slot()).copied().unwrap_or(false))
    }

    fn domain(&self, node: NodeId) -> Option<usize> {
        let missing = || {
            if self.blank_for_missing {
                self.topology.blank()
            } else {
                None
            }
        };
        self.topology.domain(node).or_else(missing)
    }

    fn adjust(&mut self, node: NodeId, before: u32, after: u32) {
        if before == after || !self.is_eligible(node) {
            return;
        }
        if let Some(domain) = self.domain(node) {
            let count = &mut Arc::make_mut(&mut self.counts)[domain];
            *count = *count + after - before;
            self.total = self.total + u64::from(after) - u64::from(before);
        }
    }
}

/// Counts of several tests over the same pods.
pub struct Tally {
    tests: Vec<PodTest>,
    sums: Vec<DomainSum>,
    /// Pods by node slot and test.
    by_node: Vec<u32>,
    read: usize,
}

impl Tally {
    /// A tally that has looked at these nodes; no pod of another may pass a test.
    pub(super) fn count(
        cluster: &Cluster,
        namespaces: &mut Namespaces,
        tests: Vec<PodTest>,
        sums: Vec<DomainSum>,
        nodes: &[NodeId],
        now: usize,
    ) -> Self {
        let by_node = vec![0; cluster.nodes.slots() * tests.len()];
        let mut tally = Self {
            tests,
            sums,
            by_node,
            read: now,
        };
        for node in nodes {
            tally.recount(cluster, namespaces, *node);
        }
        tally
    }

    pub(super) fn update(&mut self, cluster: &Cluster, namespaces: &mut Namespaces, watch: &Watch) {
        for node in watch.since(self.read) {
            self.recount(cluster, namespaces, *node);
        }
        self.read = watch.now();
    }

    /// The sums, in the order in which they were asked for.
    #[must_use]
    pub fn sums(&self) -> &[DomainSum] {
        &self.sums
    }

    /// Pods on the node that pass the test at `test`.
    #[must_use]
    pub fn on_node(&self, node: NodeId, test: usize) -> u32 {
        self.by_node[node.slot() * self.tests.len() + test]
    }

    fn recount(&mut self, cluster: &Cluster, namespaces: &mut Namespaces, node: NodeId) {
        let pods = &cluster.nodes.row(node).occupants;
        for (index, test) in self.tests.iter().enumerate() {
            let passing = pods
                .iter()
                .filter(|pod| test.passes(cluster, namespaces, cluster.task(**pod)));
            let after = passing.count() as u32;
            let cell = &mut self.by_node[node.slot() * self.tests.len() + index];
            let before = std::mem::replace(cell, after);
            for sum in self.sums.iter_mut().filter(|sum| sum.test == index) {
                sum.adjust(node, before, after);
            }
        }
    }
}
