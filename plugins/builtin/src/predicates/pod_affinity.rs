//! Required affinity between pods: where a pod must be with others, where it must not, and where others do not want it.

use super::reasons::{avoided_by_pod, no_pod_to_be_with, pod_to_avoid};
use crate::sight::{Among, DomainSum, HeldMatch, PodTerms, PodTest, Sight, TallyKey, Topologies, Topology};
use mco_framework::Refusal;
use mco_model::{Cluster, NodeId, TaskId};
use std::sync::Arc;

/// The rules of one task, ready to be asked about nodes.
pub(super) struct PodAffinityRules {
    /// Domains that must hold a pod of the wanted kind.
    wanted: Vec<Domains>,
    /// Nobody is there to be with yet, and the pod would do itself.
    first: bool,
    /// Domains that must not hold a pod of the avoided kind.
    avoided: Vec<Domains>,
    /// Domains with pods that do not want this one.
    closed: Vec<HeldMatch>,
}

struct Domains {
    topology: Arc<Topology>,
    counts: Arc<Vec<u32>>,
}

impl PodAffinityRules {
    /// The rules of a task; `None` when it has none and no pod in sight minds it.
    pub(super) fn of(cluster: &Cluster, sight: &mut Sight, task: TaskId, terms: &PodTerms) -> Option<Self> {
        let closed = sight.held_against(cluster, task, Among::Listed);
        let mut rules = Self {
            wanted: Vec::new(),
            first: false,
            avoided: Vec::new(),
            closed,
        };
        if terms.affinity.is_empty() && terms.anti_affinity.is_empty() {
            return (!rules.closed.is_empty()).then_some(rules);
        }
        let row = cluster.task(task);
        let key = TallyKey::Required(row.class, row.namespace.clone());
        let tally = sight.tally(cluster, key, |topologies| {
            what_to_count(cluster, topologies, terms)
        });
        let (wanted, avoided) = tally.sums().split_at(terms.affinity.len());
        let nobody = wanted.iter().all(|sum| sum.total() == 0);
        rules.wanted = wanted.iter().map(Domains::of).collect();
        rules.avoided = avoided.iter().map(Domains::of).collect();
        rules.first = nobody && sight.passes(cluster, &terms.affinity, task);
        Some(rules)
    }

    pub(super) fn check(&self, node: NodeId) -> Option<Refusal> {
        if !self.has_company(node) {
            return Some(no_pod_to_be_with());
        }
        if self.avoided.iter().any(|domains| domains.pods(node) > Some(0)) {
            return Some(pod_to_avoid());
        }
        let minds = |held: &HeldMatch| {
            held.topology
                .domain(node)
                .is_some_and(|domain| held.counts[domain] > 0)
        };
        self.closed.iter().any(minds).then(avoided_by_pod)
    }

    /// Every wanted kind is in the node's domain. The first pod of a kind that wants its like may go anywhere, as long as
    /// the node has the labels.
    fn has_company(&self, node: NodeId) -> bool {
        let mut company = true;
        for domains in &self.wanted {
            match domains.pods(node) {
                None => return false,
                Some(pods) => company &= pods > 0,
            }
        }
        company || self.first
    }
}

impl Domains {
    fn of(sum: &DomainSum) -> Self {
        Self {
            topology: sum.topology().clone(),
            counts: sum.counts().clone(),
        }
    }

    /// Pods in the node's domain; `None` when it is in none.
    fn pods(&self, node: NodeId) -> Option<u32> {
        self.topology.domain(node).map(|domain| self.counts[domain])
    }
}

/// A pod counts as company only when all terms speak of it; to be avoided, one is enough.
fn what_to_count(
    cluster: &Cluster,
    topologies: &mut Topologies,
    terms: &PodTerms,
) -> (Vec<PodTest>, Vec<DomainSum>) {
    let mut tests = vec![PodTest::All(terms.affinity.clone())];
    let mut sums = Vec::new();
    for term in &terms.affinity {
        sums.push(DomainSum::new(0, topologies.get(cluster, &term.topology_key)));
    }
    for term in &terms.anti_affinity {
        sums.push(DomainSum::new(
            tests.len(),
            topologies.get(cluster, &term.topology_key),
        ));
        tests.push(PodTest::All(vec![term.clone()]));
    }
    (tests, sums)
}
