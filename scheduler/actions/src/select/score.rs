//! How good nodes are: scores by node alone are kept by class, scores over all candidates are computed each time.

use super::by_block;
use mco_framework::Session;
use mco_framework::points::{NodeMapReduce, NodeScore, ScoreError, Scores};
use mco_model::{Id, NodeId, TaskId};

/// Scores by node slot.
#[derive(Default)]
pub(super) struct Scored {
    /// The node's change counter plus one at the time of the score; 0 when there is none.
    stamps: Vec<u64>,
    scores: Vec<NodeTotal>,
}

/// Sum of the scores of a node that depend on nothing but itself.
#[derive(Clone, Copy, Default)]
struct NodeTotal {
    total: f64,
    failed: bool,
}

impl Scored {
    /// Forgets all scores.
    pub(super) fn forget(&mut self) {
        self.stamps.clear();
    }

    /// Scores those of `nodes` that changed since they were scored.
    pub(super) fn update(&mut self, session: &Session<'_>, task: TaskId, nodes: &[NodeId], threads: usize) {
        let view = session.view();
        let slots = view.nodes.slots();
        self.stamps.resize(slots, 0);
        self.scores.resize(slots, NodeTotal::default());
        let changed = |node: &NodeId| self.stamps[node.slot()] != view.nodes.change(*node) + 1;
        let stale: Vec<NodeId> = nodes.iter().copied().filter(changed).collect();
        if stale.is_empty() {
            return;
        }
        let orders: Vec<Box<dyn NodeScore + '_>> = session
            .node_orders()
            .map(|order| order.prepare(view, task))
            .collect();
        let mut fresh = vec![NodeTotal::default(); stale.len()];
        by_block(threads, &stale, &mut fresh, |nodes, answers| {
            let mut totals = vec![0.0; nodes.len()];
            let mut failed = vec![false; nodes.len()];
            for order in &orders {
                order.score(nodes, &mut Scores::new(&mut totals, &mut failed));
            }
            for ((answer, total), failed) in answers.iter_mut().zip(totals).zip(failed) {
                *answer = NodeTotal { total, failed };
            }
        });
        for (node, score) in stale.into_iter().zip(fresh) {
            self.stamps[node.slot()] = view.nodes.change(node) + 1;
            self.scores[node.slot()] = score;
        }
    }

    fn failed(&self, node: NodeId) -> bool {
        self.scores[node.slot()].failed
    }
}

/// Sums everything, in Volcano's order: scores in whole numbers, scores by node, scores over all candidates. A node whose
/// own scoring failed has only the last.
pub(super) fn totals(
    session: &Session<'_>,
    task: TaskId,
    nodes: &[NodeId],
    scored: &Scored,
) -> Result<Vec<(NodeId, f64)>, ScoreError> {
    let mut totals = vec![0.0; nodes.len()];
    for point in session.node_map_reduces() {
        add_whole_numbers(session, task, nodes, scored, point, &mut totals)?;
    }
    let mut batch = vec![0.0; nodes.len()];
    for point in session.batch_node_orders() {
        point.score(session.view(), task, nodes, &mut batch)?;
    }
    for ((total, node), batch) in totals.iter_mut().zip(nodes).zip(batch) {
        if !scored.failed(*node) {
            *total += scored.scores[node.slot()].total;
        }
        *total += batch;
    }
    Ok(nodes.iter().copied().zip(totals).collect())
}

fn add_whole_numbers(
    session: &Session<'_>,
    task: TaskId,
    nodes: &[NodeId],
    scored: &Scored,
    point: &dyn NodeMapReduce,
    totals: &mut [f64],
) -> Result<(), ScoreError> {
    let view = session.view();
    let mut raw: Vec<(NodeId, i64)> = nodes
        .iter()
        .filter(|node| !scored.failed(**node))
        .filter_map(|node| Some((*node, point.map(view, task, *node)?.floor() as i64)))
        .collect();
    point.reduce(view, task, &mut raw)?;
    for (node, score) in raw {
        if let Some(index) = nodes.iter().position(|other| *other == node) {
            totals[index] += score as f64;
        }
    }
    Ok(())
}
