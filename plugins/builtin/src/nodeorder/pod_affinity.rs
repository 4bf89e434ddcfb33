//! Preferred affinity between pods, the task's own and that of pods in sight.

use super::MOST;
use crate::sight::{Among, DomainSum, PodTerms, PodTest, Sight, TallyKey, TermError, Topologies};
use mco_model::{Cluster, NodeId, TaskId};

/// Scores from 0 to 100; nothing when no preference concerns the task.
///
/// # Errors
/// A term of the task that cannot be used.
pub(super) fn scores(
    cluster: &Cluster,
    sight: &mut Sight,
    task: TaskId,
    nodes: &[NodeId],
) -> Result<Option<Vec<i64>>, TermError> {
    let (row, spec) = (cluster.task(task), cluster.spec(task));
    let terms = PodTerms::of(spec, &row.namespace)?;
    // Only those who prefer something themselves go through all nodes and pods.
    let among = if terms.preferred.is_empty() {
        Among::Listed
    } else {
        Among::All
    };
    let held = sight.held_against(cluster, task, among);
    if held.is_empty() && terms.preferred.is_empty() {
        return Ok(None);
    }
    let mut scores = vec![0; nodes.len()];
    for held in &held {
        add(&mut scores, nodes, held.weight, |node| {
            Some(held.counts[held.topology.domain(node)?])
        });
    }
    if !terms.preferred.is_empty() {
        let key = TallyKey::Preferred(row.class, row.namespace.clone());
        let tally = sight.tally(cluster, key, |topologies| {
            what_to_count(cluster, topologies, &terms)
        });
        for ((weight, _), sum) in terms.preferred.iter().zip(tally.sums()) {
            add(&mut scores, nodes, *weight, |node| {
                Some(sum.counts()[sum.topology().domain(node)?])
            });
        }
    }
    Ok(Some(stretch(scores)))
}

fn add(scores: &mut [i64], nodes: &[NodeId], weight: i64, pods: impl Fn(NodeId) -> Option<u32>) {
    for (score, node) in scores.iter_mut().zip(nodes) {
        if let Some(pods) = pods(*node) {
            *score += weight * i64::from(pods);
        }
    }
}

fn what_to_count(
    cluster: &Cluster,
    topologies: &mut Topologies,
    terms: &PodTerms,
) -> (Vec<PodTest>, Vec<DomainSum>) {
    let tests = terms
        .preferred
        .iter()
        .map(|(_, term)| PodTest::All(vec![term.clone()]));
    let keys = terms.preferred.iter().map(|(_, term)| &term.topology_key);
    let sums = keys
        .enumerate()
        .map(|(index, key)| DomainSum::new(index, topologies.get(cluster, key)));
    (tests.collect(), sums.collect())
}

/// The lowest becomes 0 and the highest 100; when all are the same, all become 0.
fn stretch(mut scores: Vec<i64>) -> Vec<i64> {
    let least = scores.iter().copied().min().unwrap_or(0);
    let range = scores.iter().copied().max().unwrap_or(0) - least;
    for score in &mut scores {
        *score = if range > 0 {
            (MOST as f64 * ((*score - least) as f64 / range as f64)) as i64
        } else {
            0
        };
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_stretched_to_the_whole_range() {
        assert_eq!(stretch(vec![-5, 0, 10]), [0, 33, 100]);
        assert_eq!(stretch(vec![7, 7]), [0, 0]);
        assert_eq!(stretch(vec![]), [0; 0]);
    }
}
