//! What nodes say to the first waiting task of each job before any action: refusals and total scores.

use super::expect::Initial;
use mco_actions::select::{Room, Search};
use mco_framework::Session;
use mco_model::status::TaskStatus;
use mco_model::{JobId, NodeId, TaskId};
use std::collections::BTreeMap;

/// The answers by pod.
pub(super) fn look(session: &Session<'_>) -> BTreeMap<String, Initial> {
    let jobs: Vec<JobId> = session
        .view()
        .cluster()
        .session_jobs()
        .map(|(id, _)| id)
        .collect();
    let firsts = jobs.into_iter().filter_map(|job| first_waiting(session, job));
    firsts
        .map(|task| (name(session, task), said(session, task)))
        .collect()
}

fn first_waiting(session: &Session<'_>, job: JobId) -> Option<TaskId> {
    let waiting = session.view().cluster().job(job).tasks(TaskStatus::Pending);
    waiting
        .iter()
        .copied()
        .min_by(|left, right| session.compare_tasks(*left, *right))
}

fn name(session: &Session<'_>, task: TaskId) -> String {
    let row = session.view().cluster().task(task);
    format!("{}/{}", row.namespace, row.name)
}

/// What each node says to the task; a score is given where it fits.
pub(crate) fn said(session: &Session<'_>, task: TaskId) -> Initial {
    let view = session.view();
    let node_name = |node: NodeId| view.cluster().nodes.row(node).name.to_string();
    let mut said = Initial::default();
    if let Err(reason) = session.pre_predicate(task) {
        let everywhere = view.cluster().nodes.ready().iter();
        said.rejected = everywhere
            .map(|node| (node_name(*node), reason.text.to_string()))
            .collect();
        return said;
    }
    let mut search = Search::new(1);
    let mut fitting = Vec::new();
    for (node, refusal) in search.refusals(session, task, Room::Future) {
        match refusal {
            Some(refusal) => {
                said.rejected
                    .insert(node_name(node), refusal.reason.text.to_string());
            }
            None => fitting.push(node),
        }
    }
    let scores = search.scores(session, task, &fitting).unwrap_or_default();
    said.scores = scores
        .into_iter()
        .map(|(node, score)| (node_name(node), score))
        .collect();
    said
}
