//! Rules about nodes, asked of label columns instead of each node's own labels: a label is read once per node and session,
//! whatever many rules ask for it.

use super::topology::{Topologies, Topology};
use crate::matching::{LabelTest, NodeRule, NodeTerm, Selector};
use mco_model::{Cluster, NodeId};
use std::sync::Arc;

/// Up to so many values of a label, the answer for each value is worked out beforehand.
const TABULATED: usize = 64;

/// A selector of nodes over columns.
struct LabelColumns {
    /// `None` when nothing matches.
    tests: Option<Vec<Column>>,
}

struct Column {
    topology: Arc<Topology>,
    test: LabelTest,
    /// The answer for nodes without the label.
    absent: bool,
    /// The answers by value; empty when there are many values.
    table: Vec<bool>,
}

/// A term of node affinity over columns.
pub struct TermColumns {
    labels: LabelColumns,
    term: NodeTerm,
}

/// What a pod demands of its node, over columns.
pub struct RuleColumns {
    pairs: LabelColumns,
    terms: Option<Vec<TermColumns>>,
}

impl RuleColumns {
    /// The rule made ready.
    pub fn of(cluster: &Cluster, topologies: &mut Topologies, rule: &NodeRule) -> Self {
        let pairs = LabelColumns::of(cluster, topologies, rule.pairs());
        let mut term = |term: &NodeTerm| TermColumns::of(cluster, topologies, term.clone());
        Self {
            pairs,
            terms: rule.terms().map(|terms| terms.iter().map(&mut term).collect()),
        }
    }

    /// The node will do.
    #[must_use]
    pub fn admits(&self, node: NodeId, name: &str) -> bool {
        self.pairs.matches(node)
            && self
                .terms
                .as_ref()
                .is_none_or(|terms| terms.iter().any(|term| term.matches(node, name)))
    }
}

impl TermColumns {
    pub(super) fn of(cluster: &Cluster, topologies: &mut Topologies, term: NodeTerm) -> Self {
        Self {
            labels: LabelColumns::of(cluster, topologies, term.labels()),
            term,
        }
    }

    /// The node matches.
    #[must_use]
    pub fn matches(&self, node: NodeId, name: &str) -> bool {
        self.labels.matches(node) && self.term.admits_name(name)
    }
}

impl LabelColumns {
    fn of(cluster: &Cluster, topologies: &mut Topologies, selector: &Selector) -> Self {
        let mut column = |test: &LabelTest| Column::of(topologies.get(cluster, test.key()), test.clone());
        Self {
            tests: selector
                .tests()
                .map(|tests| tests.iter().map(&mut column).collect()),
        }
    }

    fn matches(&self, node: NodeId) -> bool {
        self.tests
            .as_ref()
            .is_some_and(|tests| tests.iter().all(|column| column.passes(node)))
    }
}

impl Column {
    fn of(topology: Arc<Topology>, test: LabelTest) -> Self {
        let values = if topology.domains() <= TABULATED {
            topology.domains()
        } else {
            0
        };
        let table = (0..values)
            .map(|domain| test.passes(Some(topology.value(domain))))
            .collect();
        Self {
            absent: test.passes(None),
            table,
            topology,
            test,
        }
    }

    fn passes(&self, node: NodeId) -> bool {
        match self.topology.domain(node) {
            None => self.absent,
            Some(domain) => match self.table.get(domain) {
                Some(passes) => *passes,
                None => self.test.passes(Some(self.topology.value(domain))),
            },
        }
    }
}
