//! Soft topology spread constraints: a pod's own, or the usual ones for pods that belong together.

use super::MOST;
use super::owners::Owners;
use crate::matching::{Selector, SelectorError};
use crate::sight::{DomainSum, PodTest, Sight, Tally, TallyKey, Topologies};
use crate::spread::{self, Inclusion};
use mco_model::spec::{PodSpec, Text, TopologySpreadConstraint};
use mco_model::{Cluster, NodeId, TaskId};
use std::collections::HashSet;
use thiserror::Error;

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// The constraints of one task.
struct Constraints {
    list: Vec<TopologySpreadConstraint>,
    selectors: Vec<Selector>,
    /// They are the pod's own: nodes without all of their labels are left out.
    own: bool,
}

/// Spreading cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum SpreadError {
    #[error("obtaining pod's soft topology spread constraints: {0}")]
    Selector(#[from] SelectorError),
    #[error("topology spread gives {0}, which is outside 0 to {MOST}: check the pod's maxSkew")]
    OutOfRange(i64),
}

/// Scores from 0 to 100; nothing when no constraint concerns the task.
///
/// # Errors
/// A selector that cannot be used, or a score out of range.
pub(super) fn scores(
    cluster: &Cluster,
    sight: &mut Sight,
    owners: &Owners,
    task: TaskId,
    nodes: &[NodeId],
) -> Result<Option<Vec<i64>>, SpreadError> {
    let Some(constraints) = Constraints::of(cluster, owners, task)? else {
        return Ok(None);
    };
    let row = cluster.task(task);
    let key = TallyKey::Spread(row.class, row.namespace.clone(), constraints.selectors.clone());
    let tally = sight.tally(cluster, key, |topologies| {
        constraints.what_to_count(cluster, topologies, &row.namespace, cluster.spec(task))
    });
    normalize(constraints.raw_scores(tally, nodes)).map(Some)
}

impl Constraints {
    fn of(cluster: &Cluster, owners: &Owners, task: TaskId) -> Result<Option<Self>, SelectorError> {
        let (row, spec) = (cluster.task(task), cluster.spec(task));
        if spec.topology_spread.is_empty() {
            return Ok(Self::usual(owners.selector(row)));
        }
        let list: Vec<_> = spec
            .topology_spread
            .iter()
            .filter(|constraint| !constraint.hard)
            .cloned()
            .collect();
        let selectors = list
            .iter()
            .map(|constraint| spread::selector(constraint, &row.labels));
        let selectors = selectors.collect::<Result<_, _>>()?;
        Ok((!list.is_empty()).then_some(Self {
            list,
            selectors,
            own: true,
        }))
    }

    /// What Kubernetes does for pods without constraints; nothing for those that belong with no others.
    fn usual(selector: Selector) -> Option<Self> {
        if selector.is_everything() {
            return None;
        }
        let constraint = |key: &str, max_skew| TopologySpreadConstraint {
            max_skew,
            topology_key: key.into(),
            honor_node_affinity: true,
            ..TopologySpreadConstraint::default()
        };
        Some(Self {
            list: vec![constraint(HOSTNAME, 3), constraint(ZONE, 5)],
            selectors: vec![selector.clone(), selector],
            own: false,
        })
    }

    fn what_to_count(
        &self,
        cluster: &Cluster,
        topologies: &mut Topologies,
        namespace: &Text,
        spec: &PodSpec,
    ) -> (Vec<PodTest>, Vec<DomainSum>) {
        let keys = self
            .list
            .iter()
            .filter(|_| self.own)
            .map(|constraint| &constraint.topology_key);
        let inclusion = Inclusion::of(cluster, topologies, spec, keys);
        let sums = self.list.iter().enumerate().map(|(index, constraint)| {
            let topology = topologies.get(cluster, &constraint.topology_key);
            let sum = DomainSum::new(index, topology);
            if &*constraint.topology_key == HOSTNAME {
                return sum.among(Vec::new()); // Counted by node alone.
            }
            let sum = sum.among(inclusion.eligible(cluster, constraint));
            if self.own {
                sum
            } else {
                sum.with_blank_for_missing()
            }
        });
        let sums = sums.collect();
        let tests = self
            .selectors
            .iter()
            .map(|selector| PodTest::Spread(namespace.clone(), selector.clone()));
        (tests.collect(), sums)
    }

    /// How crowded each node's domains are, weighed by how many domains there are; `None` for nodes left out.
    fn raw_scores(&self, tally: &Tally, nodes: &[NodeId]) -> Vec<Option<i64>> {
        let in_all = |node: &NodeId| {
            tally
                .sums()
                .iter()
                .all(|sum| sum.topology().domain(*node).is_some())
        };
        let scored: Vec<bool> = nodes.iter().map(|node| !self.own || in_all(node)).collect();
        let candidates: Vec<NodeId> = nodes
            .iter()
            .zip(&scored)
            .filter(|(_, scored)| **scored)
            .map(|(node, _)| *node)
            .collect();
        let weights: Vec<f64> = self
            .list
            .iter()
            .zip(tally.sums())
            .map(|(constraint, sum)| ((domains(constraint, sum, &candidates) + 2) as f64).ln())
            .collect();
        let score = |node: NodeId| {
            let mut score = 0.0;
            for (index, (constraint, sum)) in self.list.iter().zip(tally.sums()).enumerate() {
                let Some(domain) = sum.topology().domain(node) else {
                    continue;
                };
                let pods = if &*constraint.topology_key == HOSTNAME {
                    tally.on_node(node, index)
                } else {
                    sum.counts()[domain]
                };
                score += f64::from(pods) * weights[index] + f64::from(constraint.max_skew - 1);
            }
            score.round() as i64
        };
        let parts = nodes.iter().zip(&scored);
        parts.map(|(node, scored)| scored.then(|| score(*node))).collect()
    }
}

/// Number of domains among the candidates; each node is one where hostnames make the domains.
fn domains(constraint: &TopologySpreadConstraint, sum: &DomainSum, candidates: &[NodeId]) -> usize {
    if &*constraint.topology_key == HOSTNAME {
        return candidates.len();
    }
    let topology = sum.topology();
    // Nodes without the label make one domain with those where it is empty.
    let domain = |node: &NodeId| topology.domain(*node).or(topology.blank());
    candidates.iter().map(domain).collect::<HashSet<_>>().len()
}

/// Turns crowdedness round: the least crowded gets 100. Nodes left out get nothing.
fn normalize(raw: Vec<Option<i64>>) -> Result<Vec<i64>, SpreadError> {
    // Kubernetes marks nodes left out by -1, which a pod with a `maxSkew` below 1 can come to by itself.
    let raw: Vec<Option<i64>> = raw
        .into_iter()
        .map(|score| score.filter(|score| *score != -1))
        .collect();
    let least = raw.iter().flatten().copied().min().unwrap_or(0);
    let most = raw.iter().flatten().copied().max().unwrap_or(0).max(0);
    let turn = |score: Option<i64>| match score {
        None => 0,
        Some(_) if most == 0 => MOST,
        Some(score) => MOST * (most + least - score) / most,
    };
    raw.into_iter()
        .map(turn)
        .map(|score| {
            if (0..=MOST).contains(&score) {
                Ok(score)
            } else {
                Err(SpreadError::OutOfRange(score))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_crowded_is_best() {
        assert_eq!(normalize(vec![Some(2), Some(4), None]), Ok(vec![100, 50, 0]));
        assert_eq!(normalize(vec![Some(0), Some(0)]), Ok(vec![100, 100]));
        assert_eq!(normalize(vec![Some(3), Some(3)]), Ok(vec![100, 100]));
        assert_eq!(normalize(vec![None]), Ok(vec![0]));
    }

    #[test]
    fn scores_below_the_range_are_told() {
        assert_eq!(
            normalize(vec![Some(-4), Some(2)]),
            Err(SpreadError::OutOfRange(-200))
        );
        assert_eq!(normalize(vec![Some(-1), Some(2)]), Ok(vec![0, 100]));
    }
}
