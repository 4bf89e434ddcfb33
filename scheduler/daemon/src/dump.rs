//! The cluster as the scheduler sees it, for people: into a file, or into the log.

use mco_model::resource::{Resource, ScalarNames};
use mco_model::time::Time;
use mco_model::{Cluster, NodeId};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use tracing::info;

/// Writes `snapshot-<unix seconds>.json`, and says where.
///
/// # Errors
/// What writing meets.
pub fn to_file(cluster: &Cluster, folder: &Path, now: Time) -> std::io::Result<PathBuf> {
    let path = folder.join(format!("snapshot-{}.json", now.seconds()));
    std::fs::write(&path, serde_json::to_vec_pretty(&picture(cluster))?)?;
    Ok(path)
}

/// Writes one line per node, queue and job.
pub fn to_log(cluster: &Cluster) {
    let picture = picture(cluster);
    for part in ["nodes", "queues", "jobs"] {
        for (name, value) in picture[part].as_object().into_iter().flatten() {
            info!("dump of {part}: {name} {value}");
        }
    }
}

/// Nodes, queues and jobs by name.
#[must_use]
pub fn picture(cluster: &Cluster) -> Value {
    let mut nodes = Map::new();
    for (id, row) in cluster.nodes.iter() {
        nodes.insert(row.name.to_string(), node(cluster, id));
    }
    let mut queues = Map::new();
    for (_, queue) in cluster.queues() {
        let amount = |resource: &Resource| amounts(resource, &cluster.scalars);
        queues.insert(
            queue.name.to_string(),
            json!({
                "weight": queue.weight,
                "jobs": queue.jobs.len(),
                "allocated": amount(&queue.totals.allocated),
                "request": amount(&queue.totals.request),
                "running": amount(&queue.totals.running),
            }),
        );
    }
    let mut jobs = Map::new();
    for (_, job) in cluster.jobs() {
        let group = job.group.as_ref().map(|group| {
            json!({
                "queue": &*group.queue,
                "minMember": group.min_available,
                "phase": group.status.phase.as_str(),
            })
        });
        jobs.insert(
            job.uid.to_string(),
            json!({"podGroup": group, "tasks": job.task_count()}),
        );
    }
    json!({
        "nodes": nodes,
        "queues": queues,
        "jobs": jobs,
        "report": cluster.report().map(|report| json!({
            "lastUpdateMillis": report.last_update.map(|time| time.0),
            "changedMillis": report.changed_at.map(|time| time.0),
            "nodes": report.nodes.len(),
        })),
    })
}

fn node(cluster: &Cluster, id: NodeId) -> Value {
    let nodes = &cluster.nodes;
    let row = nodes.row(id);
    let amount = |resource: &Resource| amounts(resource, &cluster.scalars);
    let mut tasks: Vec<Value> = row
        .tasks
        .iter()
        .map(|task| cluster.task(*task))
        .map(|task| {
            json!({
                "pod": format!("{}/{}", task.namespace, task.name),
                "status": format!("{:?}", task.status),
                "request": amount(&task.request),
            })
        })
        .collect();
    tasks.sort_by_key(|task| task["pod"].to_string());
    json!({
        "ready": row.ready,
        "known": row.known,
        "unschedulable": row.unschedulable,
        "allocatable": amount(&nodes.allocatable.row(id)),
        "idle": amount(&nodes.idle.row(id)),
        "used": amount(&nodes.used.row(id)),
        "releasing": amount(&nodes.releasing.row(id)),
        "tasks": tasks,
    })
}

/// CPU in milli, memory in bytes, scalars in milli.
fn amounts(resource: &Resource, names: &ScalarNames) -> Value {
    let mut map = Map::new();
    map.insert("milliCpu".to_owned(), json!(resource.milli_cpu));
    map.insert("memoryBytes".to_owned(), json!(resource.memory));
    for (id, amount) in resource.scalars() {
        map.insert(names.name(id).to_string(), json!(amount));
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::Event;
    use mco_model::event::{Amounts, NodeRecord, PodPhase, PodRecord};

    #[test]
    fn a_dump_shows_what_is_where() {
        let mut cluster = Cluster::new("default");
        let given = |milli_cpu| Amounts {
            milli_cpu,
            given: true,
            ..Amounts::default()
        };
        cluster.apply(Event::NodeSet(Box::new(NodeRecord {
            name: "n1".into(),
            ready: true,
            allocatable: given(4000.0),
            ..NodeRecord::default()
        })));
        cluster.apply(Event::PodSet(Box::new(PodRecord {
            namespace: "ns".into(),
            name: "p".into(),
            uid: "u".into(),
            ours: true,
            node: "n1".into(),
            phase: PodPhase::Running,
            group: "g".into(),
            request: given(1500.0),
            ..PodRecord::default()
        })));
        let folder = std::env::temp_dir();
        let path = to_file(
            &cluster,
            &folder,
            Time::from_seconds(i64::from(std::process::id())),
        )
        .expect("the folder can be written");
        let text = std::fs::read_to_string(&path).expect("it is there");
        std::fs::remove_file(&path).expect("it can go");
        let dump: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(dump["nodes"]["n1"]["idle"]["milliCpu"], 2500.0);
        assert_eq!(dump["nodes"]["n1"]["tasks"][0]["pod"], "ns/p");
        assert_eq!(dump["nodes"]["n1"]["tasks"][0]["status"], "Running");
        assert_eq!(dump["jobs"]["ns/g"]["tasks"], 1);
    }
}
