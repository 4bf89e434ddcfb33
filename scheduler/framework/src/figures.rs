//! Figures of a session for whoever watches the scheduler: metrics are made of them, decisions are not.

use mco_model::resource::Resource;
use mco_model::{JobId, NodeId, QueueId};

/// What plugins and actions counted in a session.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Queues that have jobs, as the plugin that shares the cluster out leaves them.
    pub queues: Vec<QueueFigures>,
    /// Jobs that lack tasks to their minimum, and how many; `None` when nobody counted.
    pub unready_jobs: Option<Vec<(JobId, i64)>>,
    /// Dominant shares of jobs, of those that changed.
    pub job_shares: Vec<(JobId, f64)>,
    /// Nodes that mco-plugin filtered out, why, and how often it was asked.
    pub rejections: Vec<(NodeId, &'static str, u64)>,
    /// Why mco-plugin had no report to go by: `missing` or `expired`.
    pub report_fallback: Option<&'static str>,
}

/// How a queue stands.
#[derive(Clone, Debug)]
pub struct QueueFigures {
    /// The queue.
    pub queue: QueueId,
    /// What it holds.
    pub allocated: Resource,
    /// What it deserves.
    pub deserved: Resource,
    /// The largest part of what it deserves that it holds.
    pub share: f64,
    /// It has all that it deserves.
    pub overused: bool,
}
