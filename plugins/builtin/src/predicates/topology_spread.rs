//! Hard topology spread constraints.

use super::reasons::{no_topology_label, skewed};
use crate::matching::{Selector, SelectorError};
use crate::sight::{DomainSum, PodTest, Sight, TallyKey, Topologies, Topology};
use crate::spread::{self, Inclusion};
use mco_framework::Refusal;
use mco_model::spec::{PodSpec, TopologySpreadConstraint};
use mco_model::{Cluster, NodeId, TaskId};
use std::sync::Arc;

/// The constraints of one task, ready to be asked about nodes.
pub(super) struct SpreadRules {
    constraints: Vec<Rule>,
}

struct Rule {
    topology: Arc<Topology>,
    counts: Arc<Vec<u32>>,
    /// Most pods that a domain may have before this one comes; `None` when no domain counts, and nothing is limited.
    most: Option<i64>,
}

/// The pod has a constraint that is hard.
pub(super) fn has_any(spec: &PodSpec) -> bool {
    hard(spec).next().is_some()
}

/// The selectors of the task's hard constraints.
///
/// # Errors
/// A selector that cannot be used.
pub(super) fn selectors(cluster: &Cluster, task: TaskId) -> Result<Vec<Selector>, SelectorError> {
    let labels = &cluster.task(task).labels;
    hard(cluster.spec(task))
        .map(|constraint| spread::selector(constraint, labels))
        .collect()
}

impl SpreadRules {
    /// The rules of a task with hard constraints, whose selectors are `selectors`.
    pub(super) fn of(cluster: &Cluster, sight: &mut Sight, task: TaskId, selectors: Vec<Selector>) -> Self {
        let (row, spec) = (cluster.task(task), cluster.spec(task));
        let key = TallyKey::Spread(row.class, row.namespace.clone(), selectors.clone());
        let tally = sight.tally(cluster, key, |topologies| {
            let tests = selectors
                .iter()
                .map(|selector| PodTest::Spread(row.namespace.clone(), selector.clone()));
            (tests.collect(), what_to_count(cluster, topologies, spec))
        });
        let parts = hard(spec).zip(tally.sums()).zip(&selectors);
        let constraints = parts.map(|((constraint, sum), selector)| Rule {
            topology: sum.topology().clone(),
            counts: sum.counts().clone(),
            most: fewest(cluster, constraint, sum).map(|fewest| {
                i64::from(constraint.max_skew) + fewest - i64::from(selector.matches(&row.labels))
            }),
        });
        Self {
            constraints: constraints.collect(),
        }
    }

    pub(super) fn check(&self, node: NodeId) -> Option<Refusal> {
        for rule in &self.constraints {
            let Some(domain) = rule.topology.domain(node) else {
                return Some(no_topology_label());
            };
            if rule
                .most
                .is_some_and(|most| i64::from(rule.counts[domain]) > most)
            {
                return Some(skewed());
            }
        }
        None
    }
}

/// Fewest matching pods in a domain that counts; 0 when fewer domains count than there should be.
fn fewest(cluster: &Cluster, constraint: &TopologySpreadConstraint, sum: &DomainSum) -> Option<i64> {
    let topology = sum.topology();
    let mut counts = vec![false; topology.domains()];
    for node in cluster
        .nodes
        .ready()
        .iter()
        .filter(|node| sum.is_eligible(**node))
    {
        if let Some(domain) = topology.domain(*node) {
            counts[domain] = true;
        }
    }
    let domains = counts.iter().filter(|counts| **counts).count();
    let pods = counts
        .iter()
        .zip(sum.counts().iter())
        .filter(|(counts, _)| **counts);
    let fewest = pods.map(|(_, pods)| i64::from(*pods)).min()?;
    let too_few =
        i64::try_from(domains).is_ok_and(|domains| domains < i64::from(constraint.min_domains.unwrap_or(1)));
    Some(if too_few { 0 } else { fewest })
}

fn what_to_count(cluster: &Cluster, topologies: &mut Topologies, spec: &PodSpec) -> Vec<DomainSum> {
    let keys = hard(spec).map(|constraint| &constraint.topology_key);
    let inclusion = Inclusion::of(cluster, topologies, spec, keys);
    hard(spec)
        .enumerate()
        .map(|(index, constraint)| {
            let eligible = inclusion.eligible(cluster, constraint);
            DomainSum::new(index, topologies.get(cluster, &constraint.topology_key)).among(eligible)
        })
        .collect()
}

fn hard(spec: &PodSpec) -> impl Iterator<Item = &TopologySpreadConstraint> + Clone {
    spec.topology_spread.iter().filter(|constraint| constraint.hard)
}
