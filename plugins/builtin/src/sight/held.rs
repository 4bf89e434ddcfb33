//! Terms that pods in sight hold against, or for, pods that are to come.

use super::terms::{Namespaces, PodTerm, has_terms};
use super::topology::{Topologies, Topology};
use super::watch::Watch;
use mco_model::spec::{PodAffinityTerm, PodSpec, Text};
use mco_model::{ClassId, Cluster, Id, NodeId, TaskId};
use std::collections::HashMap;
use std::sync::Arc;

/// Which terms of pods are looked at, and on which nodes.
///
/// Volcano lists nodes when a session opens and does not list them anew. What is placed later on a node that was not
/// listed is not seen by whoever goes through the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldKind {
    /// Required anti-affinity. Nodes are listed that had a pod with such a term.
    RequiredAnti,
    /// Preferred terms. Nodes are listed that had a pod with any term about pods.
    Preferred,
}

impl HeldKind {
    fn lists(self, spec: &PodSpec) -> bool {
        match self {
            Self::RequiredAnti => !spec.pod_anti_affinity.required.is_empty(),
            Self::Preferred => has_terms(spec),
        }
    }

    fn holds(self, spec: &PodSpec) -> bool {
        match self {
            Self::RequiredAnti => !spec.pod_anti_affinity.required.is_empty(),
            Self::Preferred => {
                !spec.pod_affinity.preferred.is_empty() || !spec.pod_anti_affinity.preferred.is_empty()
            }
        }
    }

    /// The terms with their weights; a list with a term that cannot be used counts as empty.
    fn terms(self, spec: &PodSpec, own: &Text) -> Vec<(i64, PodAffinityTerm)> {
        let usable = |terms: Vec<(i64, &PodAffinityTerm)>| {
            let all = terms.iter().all(|(_, term)| PodTerm::of(term, own).is_ok());
            let cloned = terms
                .into_iter()
                .map(|(weight, term)| (weight, term.clone()))
                .collect();
            if all { cloned } else { Vec::new() }
        };
        let (with, without) = (&spec.pod_affinity, &spec.pod_anti_affinity);
        let weighted = |terms: &[(i32, PodAffinityTerm)], sign: i64| -> Vec<(i64, PodAffinityTerm)> {
            usable(
                terms
                    .iter()
                    .map(|(weight, term)| (sign * i64::from(*weight), term))
                    .collect(),
            )
        };
        match self {
            Self::RequiredAnti => usable(without.required.iter().map(|term| (1, term)).collect()),
            Self::Preferred => [weighted(&with.preferred, 1), weighted(&without.preferred, -1)].concat(),
        }
    }
}

/// The terms of one kind that pods in sight hold.
pub struct Held {
    kind: HeldKind,
    /// Classes that hold such a term, by slot.
    holders: Vec<bool>,
    possible: bool,
    /// Nodes listed at the opening, by slot.
    listed: Vec<bool>,
    terms: Vec<HeldTerm>,
    ids: HashMap<(Text, i64, PodAffinityTerm), usize>,
    ids_by_class: HashMap<(ClassId, Text), Arc<[usize]>>,
    by_node: HashMap<NodeId, Vec<usize>>,
    read: usize,
}

struct HeldTerm {
    term: PodTerm,
    weight: i64,
    topology: Arc<Topology>,
    /// Pods on listed nodes that hold it, by domain; most terms are held in few domains.
    listed: HashMap<usize, u32>,
    /// The same on other nodes.
    unlisted: HashMap<usize, u32>,
}

/// A held term that concerns a task.
pub struct HeldMatch {
    /// How much it weighs; 1 for required ones.
    pub weight: i64,
    /// Its domains.
    pub topology: Arc<Topology>,
    /// Pods that hold it, by domain.
    pub counts: Vec<u32>,
}

/// Whose terms are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Those of pods on the nodes listed at the opening.
    Listed,
    /// Those of all pods.
    All,
}

impl Held {
    pub(super) fn open(cluster: &Cluster, kind: HeldKind, topologies: &mut Topologies) -> Self {
        let (mut holders, mut listing) = (Vec::new(), Vec::new());
        for (class, row) in cluster.classes() {
            set(&mut holders, class.slot(), kind.holds(&row.spec));
            set(&mut listing, class.slot(), kind.lists(&row.spec));
        }
        let mut held = Self {
            kind,
            possible: holders.contains(&true),
            holders,
            listed: vec![false; cluster.nodes.slots()],
            terms: Vec::new(),
            ids: HashMap::new(),
            ids_by_class: HashMap::new(),
            by_node: HashMap::new(),
            read: 0,
        };
        if held.possible {
            for node in cluster.nodes.ready() {
                let mut pods = cluster.nodes.row(*node).occupants.iter();
                held.listed[node.slot()] = pods.any(|pod| listing[cluster.task(*pod).class.slot()]);
                held.recount(cluster, topologies, *node);
            }
        }
        held
    }

    /// Some pod of the cluster has such a term.
    pub(super) fn possible(&self) -> bool {
        self.possible
    }

    pub(super) fn update(&mut self, cluster: &Cluster, topologies: &mut Topologies, watch: &Watch) {
        for node in watch.since(self.read) {
            self.recount(cluster, topologies, *node);
        }
        self.read = watch.now();
    }

    pub(super) fn matching<'h>(
        &'h self,
        cluster: &'h Cluster,
        namespaces: &'h mut Namespaces,
        task: TaskId,
        among: Among,
    ) -> impl Iterator<Item = HeldMatch> + 'h {
        let task = cluster.task(task);
        let held = self.terms.iter().filter(move |held| {
            !held.listed.is_empty() || (among == Among::All && !held.unlisted.is_empty())
        });
        held.filter(|held| held.term.matches(cluster, namespaces, task))
            .map(move |held| held.to_match(among))
    }

    fn recount(&mut self, cluster: &Cluster, topologies: &mut Topologies, node: NodeId) {
        let listed = self.listed[node.slot()];
        if !listed && self.kind == HeldKind::RequiredAnti {
            return;
        }
        for id in self.by_node.remove(&node).unwrap_or_default() {
            self.terms[id].count(node, listed, -1);
        }
        let mut now = Vec::new();
        for pod in &cluster.nodes.row(node).occupants {
            if self.holders[cluster.task(*pod).class.slot()] {
                let ids = self.ids_of(cluster, topologies, *pod);
                now.extend_from_slice(&ids);
            }
        }
        for id in &now {
            self.terms[*id].count(node, listed, 1);
        }
        if !now.is_empty() {
            self.by_node.insert(node, now);
        }
    }

    fn ids_of(&mut self, cluster: &Cluster, topologies: &mut Topologies, pod: TaskId) -> Arc<[usize]> {
        let task = cluster.task(pod);
        let key = (task.class, task.namespace.clone());
        if let Some(ids) = self.ids_by_class.get(&key) {
            return ids.clone();
        }
        let mut ids = Vec::new();
        for (weight, term) in self.kind.terms(cluster.spec(pod), &task.namespace) {
            let Ok(ready) = PodTerm::of(&term, &task.namespace) else {
                continue;
            };
            let next = self.terms.len();
            let id = *self
                .ids
                .entry((task.namespace.clone(), weight, term))
                .or_insert(next);
            if id == next {
                self.terms.push(HeldTerm::new(ready, weight, cluster, topologies));
            }
            ids.push(id);
        }
        let ids: Arc<[usize]> = ids.into();
        self.ids_by_class.insert(key, ids.clone());
        ids
    }
}

impl HeldTerm {
    fn new(term: PodTerm, weight: i64, cluster: &Cluster, topologies: &mut Topologies) -> Self {
        let topology = topologies.get(cluster, &term.topology_key);
        Self {
            term,
            weight,
            topology,
            listed: HashMap::new(),
            unlisted: HashMap::new(),
        }
    }

    fn count(&mut self, node: NodeId, listed: bool, sign: i32) {
        let Some(domain) = self.topology.domain(node) else {
            return;
        };
        let counts = if listed {
            &mut self.listed
        } else {
            &mut self.unlisted
        };
        let count = counts.entry(domain).or_default();
        *count = count.wrapping_add_signed(sign);
        if *count == 0 {
            counts.remove(&domain);
        }
    }

    fn to_match(&self, among: Among) -> HeldMatch {
        let mut counts = vec![0; self.topology.domains()];
        let unlisted = (among == Among::All).then_some(&self.unlisted);
        for (domain, pods) in self.listed.iter().chain(unlisted.into_iter().flatten()) {
            counts[*domain] += pods;
        }
        HeldMatch {
            weight: self.weight,
            topology: self.topology.clone(),
            counts,
        }
    }
}

fn set(flags: &mut Vec<bool>, slot: usize, value: bool) {
    if flags.len() <= slot {
        flags.resize(slot + 1, false);
    }
    flags[slot] = value;
}
