//! What nodes say to a gang that waits: refused with a reason, or how good they are.

use crate::reason::Refused;
use mco_actions::select::{Room, Search};
use mco_framework::Session;
use mco_model::TaskId;
use mco_model::status::TaskStatus;
use serde::Serialize;
use std::collections::BTreeMap;

/// A node's answer to the first pod of a gang.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// The sum of all plugins' scores; absent when the node refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why the pod may not go there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

/// Asks all nodes about the first waiting pod of every gang, and answers by the gang's name.
pub fn candidates(session: &Session<'_>) -> BTreeMap<String, Vec<Candidate>> {
    let view = session.view();
    let waiting = view.cluster().session_jobs().filter_map(|(_, job)| {
        let first = job
            .tasks(TaskStatus::Pending)
            .iter()
            .copied()
            .min_by(|l, r| session.compare_tasks(*l, *r))?;
        Some((job.uid.to_string(), ask(session, first)))
    });
    waiting.collect()
}

fn ask(session: &Session<'_>, task: TaskId) -> Vec<Candidate> {
    let view = session.view();
    let name = |node| view.cluster().nodes.row(node).name.to_string();
    if let Err(reason) = session.pre_predicate(task) {
        let refused = || Some(Refused::from(&reason));
        let nodes = view.cluster().nodes.ready().iter();
        return nodes
            .map(|node| Candidate {
                node: name(*node),
                score: None,
                refused: refused(),
            })
            .collect();
    }
    let mut search = Search::new(session.threads());
    let answers = search.refusals(session, task, Room::Future);
    let open: Vec<_> = answers
        .iter()
        .filter(|(_, refusal)| refusal.is_none())
        .map(|(node, _)| *node)
        .collect();
    // Scoring that breaks leaves the nodes without scores, as it does in the cycle.
    let scores = search.scores(session, task, &open).unwrap_or_default();
    let answers = answers.into_iter().map(|(node, refusal)| Candidate {
        node: name(node),
        score: scores
            .iter()
            .find(|(scored, _)| *scored == node)
            .map(|(_, score)| *score),
        refused: refusal.as_ref().map(|refusal| Refused::from(&refusal.reason)),
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_framework::{Measured, Reason};

    #[test]
    fn a_refusal_shows_its_figures_where_it_has_some() {
        let reason = Reason::fixed("mco-plugin", "psi_io_some", "I/O pressure above the limit");
        assert_eq!(Refused::from(&reason).to_string(), "I/O pressure above the limit");
        let measured = reason.with(Measured {
            value: 34.07,
            threshold: 20.0,
            age_seconds: 0.42,
        });
        let refused = Refused::from(&measured);
        assert_eq!(refused.to_string(), "psi_io_some 34.1 > 20.0, 0.4 s old");
        assert!(refused.is_interference());
        assert!(
            !Refused::from(&Reason::fixed("resources", "insufficient", "Insufficient cpu")).is_interference()
        );
    }
}
