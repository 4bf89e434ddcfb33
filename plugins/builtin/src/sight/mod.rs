//! What rules between pods need to know of the pods in sight: how many match where, and which terms they hold against
//! others. Everything is counted once per session and then brought up to date node by node, so that no task walks all
//! pods.

mod columns;
mod held;
mod tally;
mod terms;
#[cfg(test)]
mod tests;
mod topology;
mod watch;
mod whereabouts;

pub use columns::{RuleColumns, TermColumns};
use held::Held;
pub use held::{Among, HeldKind, HeldMatch};
pub use tally::{DomainSum, PodTest, Tally, TallyKey};
pub use terms::{Namespaces, PodTerm, PodTerms, TermError};
pub use topology::{Topologies, Topology};

use crate::matching::{Anchor, NodeRule, NodeTerm};
use mco_model::{Cluster, TaskId};
use std::collections::HashMap;
use watch::Watch;
use whereabouts::Whereabouts;

/// Tallies kept at a time. Beyond, all are dropped and made again when asked for: the answers are the same.
const TALLIES: usize = 64;

/// The pods in sight during one session.
pub struct Sight {
    watch: Watch,
    topologies: Topologies,
    namespaces: Namespaces,
    whereabouts: Whereabouts,
    tallies: HashMap<TallyKey, Tally>,
    held: Held,
}

impl Sight {
    /// Takes note of the terms of `kind` that pods hold when the session opens.
    #[must_use]
    pub fn open(cluster: &Cluster, kind: HeldKind) -> Self {
        let mut topologies = Topologies::default();
        Self {
            watch: Watch::new(cluster),
            held: Held::open(cluster, kind, &mut topologies),
            topologies,
            namespaces: Namespaces::default(),
            whereabouts: Whereabouts::default(),
            tallies: HashMap::new(),
        }
    }

    /// The tally under `key`, up to date; `make` says what it counts when there is none yet.
    pub fn tally(
        &mut self,
        cluster: &Cluster,
        key: TallyKey,
        make: impl FnOnce(&mut Topologies) -> (Vec<PodTest>, Vec<DomainSum>),
    ) -> &Tally {
        self.watch.update(cluster);
        if self.tallies.len() >= TALLIES && !self.tallies.contains_key(&key) {
            self.tallies.clear();
        }
        let tally = self.tallies.entry(key).or_insert_with(|| {
            let (tests, sums) = make(&mut self.topologies);
            let anchors: Vec<Anchor<'_>> = tests.iter().map(PodTest::anchor).collect();
            let nodes = self.whereabouts.nodes(cluster, &self.watch, &anchors);
            Tally::count(
                cluster,
                &mut self.namespaces,
                tests,
                sums,
                &nodes,
                self.watch.now(),
            )
        });
        tally.update(cluster, &mut self.namespaces, &self.watch);
        tally
    }

    /// The terms held by pods in sight that concern the task.
    pub fn held_against(&mut self, cluster: &Cluster, task: TaskId, among: Among) -> Vec<HeldMatch> {
        self.look_at_held(cluster);
        self.held
            .matching(cluster, &mut self.namespaces, task, among)
            .collect()
    }

    /// Some pod on a listed node holds a term that concerns the task.
    pub fn is_concerned(&mut self, cluster: &Cluster, task: TaskId) -> bool {
        self.look_at_held(cluster);
        self.held
            .matching(cluster, &mut self.namespaces, task, Among::Listed)
            .next()
            .is_some()
    }

    /// Some pod of the cluster, in sight or waiting, has terms of the kind looked at.
    #[must_use]
    pub fn terms_exist(&self) -> bool {
        self.held.possible()
    }

    fn look_at_held(&mut self, cluster: &Cluster) {
        if self.held.possible() {
            self.watch.update(cluster);
            self.held.update(cluster, &mut self.topologies, &self.watch);
        }
    }

    /// What a pod demands of its node, over columns.
    pub fn node_rule(&mut self, cluster: &Cluster, rule: &NodeRule) -> RuleColumns {
        RuleColumns::of(cluster, &mut self.topologies, rule)
    }

    /// A term of node affinity, over columns.
    pub fn node_term(&mut self, cluster: &Cluster, term: NodeTerm) -> TermColumns {
        TermColumns::of(cluster, &mut self.topologies, term)
    }

    /// The pod passes every term.
    pub fn passes(&mut self, cluster: &Cluster, terms: &[PodTerm], pod: TaskId) -> bool {
        let pod = cluster.task(pod);
        terms
            .iter()
            .all(|term| term.matches(cluster, &mut self.namespaces, pod))
    }
}
