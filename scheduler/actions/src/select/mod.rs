//! The search for a node: which nodes fit a task, how good they are, which is best. Answers that depend on the task's class
//! and the node alone are kept by class and asked again only for nodes that changed.

mod filter;
mod score;
mod visit;

pub use visit::Visit;

use filter::Filtered;
use mco_framework::Session;
use mco_framework::fit::FitErrors;
use mco_framework::points::{Dependence, ScoreError};
use mco_framework::reason::Refusal;
use mco_model::{ClassId, NodeId, TaskId};
use score::Scored;
use std::collections::HashMap;
use std::sync::Arc;

/// Nodes that plugins are asked about in one call.
const BLOCK: usize = 1024;

/// Stale nodes from which on several threads share the work.
const SHARED_FROM: usize = 512;

/// Answers kept at a time, over all classes. Beyond, all are dropped and asked for again when needed: memory must not grow
/// with classes times nodes, and the answers are the same.
const KEPT: usize = 1 << 20;

/// Whether a node must have room for the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Room {
    /// Now, or once pods that are leaving are gone.
    Future,
    /// Not looked at.
    Ignored,
}

/// A search with what it remembers. It serves one action of one session.
pub struct Search {
    threads: usize,
    filtered: HashMap<(ClassId, Room), Filtered>,
    scored: HashMap<ClassId, Scored>,
    /// For tasks whose answers cannot be kept.
    filtered_once: Filtered,
    scored_once: Scored,
}

impl Search {
    /// A search that uses up to so many threads. The answers do not depend on it.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            filtered: HashMap::new(),
            scored: HashMap::new(),
            filtered_once: Filtered::default(),
            scored_once: Scored::default(),
        }
    }

    /// Nodes that fit the task, in order of arrival. With a `visit`, nodes that refused a task of the same role before are
    /// not asked again.
    ///
    /// # Errors
    /// What the nodes said, when none fits.
    pub fn feasible(
        &mut self,
        session: &Session<'_>,
        task: TaskId,
        room: Room,
        visit: Option<&mut Visit>,
    ) -> Result<Vec<NodeId>, Arc<FitErrors>> {
        let filtered = self.filter(session, task, room);
        let view = session.view();
        let nodes = view.nodes.ready();
        let mut once = Visit::default();
        let role = visit.unwrap_or(&mut once).role(&view.task(task).role);
        let fitting: Vec<NodeId> = nodes
            .iter()
            .copied()
            .filter(|node| role.admits(*node, filtered))
            .collect();
        if fitting.is_empty() {
            Err(Arc::new(role.errors(nodes)))
        } else {
            Ok(fitting)
        }
    }

    /// What each ready node says to the task: a refusal, or nothing when it fits.
    pub fn refusals(
        &mut self,
        session: &Session<'_>,
        task: TaskId,
        room: Room,
    ) -> Vec<(NodeId, Option<Refusal>)> {
        let filtered = self.filter(session, task, room);
        let nodes = session.view().cluster().nodes.ready();
        nodes
            .iter()
            .map(|node| {
                (
                    *node,
                    filtered.refusal(*node).map(|refusal| Refusal::clone(refusal)),
                )
            })
            .collect()
    }

    /// Total scores of these nodes.
    ///
    /// # Errors
    /// When scoring broke as a whole, so that no node has a score.
    pub fn scores(
        &mut self,
        session: &Session<'_>,
        task: TaskId,
        nodes: &[NodeId],
    ) -> Result<Vec<(NodeId, f64)>, ScoreError> {
        let scored = match session.score_dependence(task) {
            Dependence::ClassAndNode => {
                make_room(&mut self.scored, session);
                self.scored.entry(session.view().task(task).class).or_default()
            }
            Dependence::Task => {
                self.scored_once.forget();
                &mut self.scored_once
            }
        };
        scored.update(session, task, nodes, self.threads);
        score::totals(session, task, nodes, scored)
    }

    /// The best of these nodes: the only one unseen, else the one a plugin chooses, else one of those with the highest
    /// score. `None` when there is no node, or several without a score.
    pub fn best(&mut self, session: &Session<'_>, task: TaskId, nodes: &[NodeId]) -> Option<NodeId> {
        if let [] | [_] = nodes {
            return nodes.first().copied();
        }
        let scores = self.scores(session, task, nodes).ok()?;
        session.best_node(task, &scores).or_else(|| {
            let highest = scores
                .iter()
                .map(|(_, score)| *score)
                .fold(f64::NEG_INFINITY, f64::max);
            let is_best =
                |(_, score): &&(NodeId, f64)| score.total_cmp(&highest).is_eq() || *score == highest;
            let best: Vec<NodeId> = scores.iter().filter(is_best).map(|(node, _)| *node).collect();
            session.tie_break(task, &best)
        })
    }

    fn filter(&mut self, session: &Session<'_>, task: TaskId, room: Room) -> &Filtered {
        let filtered = match session.filter_dependence(task) {
            Dependence::ClassAndNode => {
                make_room(&mut self.filtered, session);
                self.filtered
                    .entry((session.view().task(task).class, room))
                    .or_default()
            }
            Dependence::Task => {
                self.filtered_once.forget();
                &mut self.filtered_once
            }
        };
        filtered.update(session, task, room, self.threads);
        filtered
    }
}

fn make_room<K, V>(kept: &mut HashMap<K, V>, session: &Session<'_>) {
    if kept.len() * session.view().nodes.slots() > KEPT {
        kept.clear();
    }
}

/// Runs `work` on every block of `nodes` with the block's own part of the answers, shared among threads when there is
/// enough of it. Each answer has its own place, so the number of threads shows nowhere.
fn by_block<A: Send>(
    threads: usize,
    nodes: &[NodeId],
    answers: &mut [A],
    work: impl Fn(&[NodeId], &mut [A]) + Sync,
) {
    let run = |nodes: &[NodeId], answers: &mut [A]| {
        for (nodes, answers) in nodes.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            work(nodes, answers);
        }
    };
    if threads < 2 || nodes.len() < SHARED_FROM {
        return run(nodes, answers);
    }
    let part = nodes.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (nodes, answers) in nodes.chunks(part).zip(answers.chunks_mut(part)) {
            scope.spawn(|| run(nodes, answers));
        }
    });
}
