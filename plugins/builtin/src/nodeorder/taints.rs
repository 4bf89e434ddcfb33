//! Taints that advise against a node.

use super::MOST;
use crate::matching::tolerations::count_advised_against;
use mco_framework::View;
use mco_model::spec::Toleration;
use mco_model::{Id, NodeId};
use std::sync::OnceLock;

/// Which nodes have a taint that advises against them, looked up once a session: most clusters have none, and a task must
/// not read the taints of every node to learn that.
#[derive(Default)]
pub(super) struct Advice {
    by_slot: OnceLock<Vec<bool>>,
}

impl Advice {
    /// Scores from 100, for nodes with no such taint, down to 0 for the one with most of them.
    pub(super) fn scores(&self, view: View<'_>, tolerations: &[Toleration], nodes: &[NodeId]) -> Vec<i64> {
        let advised = self.by_slot.get_or_init(|| {
            let mut advised = vec![false; view.nodes.slots()];
            for node in view.nodes.ready() {
                advised[node.slot()] = count_advised_against(&view.nodes.row(*node).taints, &[]) > 0;
            }
            advised
        });
        let count = |node: &NodeId| {
            if advised[node.slot()] {
                count_advised_against(&view.nodes.row(*node).taints, tolerations)
            } else {
                0
            }
        };
        fewer_is_better(nodes.iter().map(count).collect())
    }
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
