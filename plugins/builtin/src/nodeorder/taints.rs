//! Taints that advise against a node.

use super::MOST;
use crate::matching::tolerations::count_advised_against;
use mco_framework::View;
use mco_model::NodeId;
use mco_model::spec::Toleration;

/// Scores from 100, for nodes with no such taint, down to 0 for the one with most of them.
pub(super) fn scores(view: View<'_>, tolerations: &[Toleration], nodes: &[NodeId]) -> Vec<i64> {
    let count = |node: &NodeId| count_advised_against(&view.nodes.row(*node).taints, tolerations);
    fewer_is_better(nodes.iter().map(count).collect())
}

fn fewer_is_better(mut counts: Vec<i64>) -> Vec<i64> {
    let most = counts.iter().copied().max().unwrap_or(0);
    for count in &mut counts {
        *count = if most == 0 {
            MOST
        } else {
            MOST - MOST * *count / most
        };
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_advised_against_gets_nothing() {
        assert_eq!(fewer_is_better(vec![0, 1, 3]), [100, 67, 0]);
        assert_eq!(fewer_is_better(vec![0, 0]), [100, 100]);
        assert_eq!(fewer_is_better(vec![2]), [0]);
    }
}
