//! Which of the nodes that fit is best.

use crate::points::Dependence;
use crate::view::View;
use mco_model::{NodeId, TaskId};
use thiserror::Error;

/// Scores nodes one by one; the scores of all plugins are added.
pub trait NodeOrder {
    /// What the scores for this task depend on.
    fn dependence(&self, view: View<'_>, task: TaskId) -> Dependence;

    /// Does once what is the same for all nodes.
    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v>;
}

/// A score made ready for one task.
pub trait NodeScore: Sync {
    /// Adds this plugin's score of each node of the block.
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>);
}

/// Scores of a block of nodes.
pub struct Scores<'a> {
    totals: &'a mut [f64],
    failed: &'a mut [bool],
}

impl<'a> Scores<'a> {
    /// Scores for as many nodes as the slices are long.
    pub fn new(totals: &'a mut [f64], failed: &'a mut [bool]) -> Self {
        Self { totals, failed }
    }

    /// Adds to the score of the node at `index` of the block.
    pub fn add(&mut self, index: usize, score: f64) {
        self.totals[index] += score;
    }

    /// Scoring this node failed: it loses the scores of all plugins of this point.
    pub fn fail(&mut self, index: usize) {
        self.failed[index] = true;
    }
}

/// Scores all candidates together, where a score depends on the others.
pub trait BatchNodeOrder {
    /// Adds this plugin's score of each candidate to `scores`, which is as long as `nodes`.
    ///
    /// # Errors
    /// A failure leaves the task without any score, and so without a best node when there are several.
    fn score(
        &self,
        view: View<'_>,
        task: TaskId,
        nodes: &[NodeId],
        scores: &mut [f64],
    ) -> Result<(), ScoreError>;
}

/// Scores nodes in whole numbers and then adjusts the list as a whole.
pub trait NodeMapReduce {
    /// The node's raw score, rounded down to a whole number by the caller; `None` when scoring it failed.
    fn map(&self, view: View<'_>, task: TaskId, node: NodeId) -> Option<f64>;

    /// Adjusts the raw scores of all candidates in place.
    ///
    /// # Errors
    /// A failure leaves the task without any score.
    fn reduce(&self, view: View<'_>, task: TaskId, scores: &mut [(NodeId, i64)]) -> Result<(), ScoreError>;
}

/// Chooses the node itself instead of leaving it to the highest score.
pub trait BestNode {
    /// The node to take, among those scored; `None` for no opinion.
    fn best(&self, view: View<'_>, task: TaskId, scores: &[(NodeId, f64)]) -> Option<NodeId>;
}

/// Scoring broke.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("plugin {plugin} cannot score: {why}")]
pub struct ScoreError {
    /// Which plugin.
    pub plugin: &'static str,
    /// What went wrong.
    pub why: String,
}
