//! Pods that no session looks at, and why: a shell that does not tell leaves their owners guessing.

use crate::reason::Reason;
use mco_model::status::TaskStatus;
use mco_model::{Cluster, TaskId};

/// Pending pods that take no part in sessions, each with what is missing. Walks all pods: for shells to ask when they tell,
/// not in every cycle.
pub fn outside_sessions(cluster: &Cluster) -> impl Iterator<Item = (TaskId, Reason)> + '_ {
    let pending = cluster
        .tasks()
        .filter(|(_, task)| task.status == TaskStatus::Pending);
    pending.filter_map(|(id, task)| {
        let Some(job) = task.job.map(|job| cluster.job(job)) else {
            let text = "the pod is in no PodGroup: annotation scheduling.k8s.io/group-name is missing";
            return Some((id, Reason::fixed("scheduler", "no_pod_group", text)));
        };
        let Some(group) = &job.group else {
            let text = format!("PodGroup {} does not exist", job.uid);
            return Some((id, Reason::about("scheduler", "pod_group_missing", text)));
        };
        job.queue.is_none().then(|| {
            let text = format!("queue {:?} of PodGroup {} does not exist", &*group.queue, job.uid);
            (id, Reason::about("scheduler", "queue_missing", text))
        })
    })
}
