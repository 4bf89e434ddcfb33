//! What became of each gang: placed where, or why not.

use super::candidates::Candidate;
use super::files::Act;
use mco_framework::close::SessionOutcome;
use mco_model::{Cluster, JobId};
use serde::Serialize;
use std::collections::BTreeMap;

/// A gang as shown.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// `namespace/name`.
    pub name: String,
    /// Which part of the story it came in: 1, 2 or 3.
    pub act: u8,
    /// `spec.minMember`.
    pub min_member: i64,
    /// Phase of its PodGroup.
    pub phase: &'static str,
    /// Where it stands.
    pub state: State,
    /// Its pods by name.
    pub pods: Vec<Pod>,
    /// Why it waits; empty when it does not.
    pub message: String,
    /// What nodes said to its first pod in the cycle that placed it, or in the last one.
    pub candidates: Vec<Candidate>,
}

/// Where a gang stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// No pod is placed.
    Waiting,
    /// At least the minimum is placed.
    Placed,
    /// Some are placed, but fewer than the minimum, which must never be.
    Part,
}

/// A pod of a gang.
#[derive(Clone, Debug, Serialize)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Where it was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Job {
    /// Nodes its pods are on, each once, sorted.
    pub fn nodes(&self) -> Vec<&str> {
        let mut nodes: Vec<_> = self.pods.iter().filter_map(|pod| pod.node.as_deref()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// How many of its pods are placed.
    pub fn placed(&self) -> usize {
        self.pods.iter().filter(|pod| pod.node.is_some()).count()
    }

    /// What this node said to it.
    pub fn candidate(&self, node: &str) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.node == node)
    }
}

/// The job as it stands now. What nodes said is kept from before when nobody was asked this time.
pub fn view(
    cluster: &Cluster,
    id: JobId,
    act: Act,
    before: Option<Job>,
    asked: Option<Vec<Candidate>>,
    told: Option<String>,
) -> Job {
    let job = cluster.job(id);
    let mut pods: Vec<_> = job
        .all_tasks()
        .map(|task| {
            let task = cluster.task(task);
            let node = task.node.filter(|_| task.status.is_allocated());
            Pod {
                name: task.name.to_string(),
                node: node.map(|node| cluster.nodes.row(node).name.to_string()),
            }
        })
        .collect();
    pods.sort_by(|l, r| l.name.cmp(&r.name));
    let placed = pods.iter().filter(|pod| pod.node.is_some()).count();
    let state = match placed {
        0 => State::Waiting,
        _ if placed as i64 >= job.min_available() => State::Placed,
        _ => State::Part,
    };
    Job {
        name: job.uid.to_string(),
        act: act as u8,
        min_member: job.min_available(),
        phase: job.phase().as_str(),
        state,
        pods,
        message: if state == State::Placed {
            String::new()
        } else {
            told.unwrap_or_default()
        },
        candidates: asked
            .or(before.map(|before| before.candidates))
            .unwrap_or_default(),
    }
}

/// Why jobs wait, in one line each, by the job's name: what nodes said to one of its pods if any were asked, else why the
/// job or the pod was passed over.
pub fn told(cluster: &Cluster, outcome: &SessionOutcome) -> BTreeMap<String, String> {
    let mut told: BTreeMap<String, (u8, String)> = BTreeMap::new();
    let mut tell = |job: JobId, weight: u8, text: &str| {
        let line = told.entry(cluster.job(job).uid.to_string()).or_default();
        if weight > line.0 && !text.is_empty() {
            *line = (weight, text.to_owned());
        }
    };
    for job in &outcome.jobs {
        for note in &job.notes {
            tell(job.job, 2, &note.text);
        }
        for condition in job
            .status
            .conditions
            .iter()
            .filter(|condition| &*condition.kind == "Unschedulable")
        {
            tell(job.job, 1, &condition.message);
        }
    }
    for waiting in &outcome.waiting {
        let Some(job) = cluster.task(waiting.task).job else {
            continue;
        };
        if let Some(errors) = &waiting.errors {
            tell(job, 4, &errors.message());
        }
        if let Some(note) = &waiting.note {
            tell(job, 3, &note.text);
        }
    }
    told.into_iter().map(|(job, (_, text))| (job, text)).collect()
}
