//! Checks of everything the cluster keeps twice, and a picture of its state to compare: for tests.

use crate::cluster::Cluster;
use crate::ids::{Id, NodeId, TaskId};
use crate::job::Job;
use crate::node::Accounting;
use crate::queue::QueueTotals;
use crate::resource::Resource;
use crate::status::TaskStatus;
use std::collections::{BTreeMap, BTreeSet};

/// What does not add up: amounts of nodes, jobs and queues against the tasks they are sums of, lists against what they
/// list. Sums over jobs and nodes that wait for the next refresh are passed over.
#[must_use]
pub fn audit(cluster: &Cluster) -> Vec<String> {
    let mut faults = Vec::new();
    audit_nodes(cluster, &mut faults);
    audit_tasks(cluster, &mut faults);
    audit_jobs(cluster, &mut faults);
    audit_sums(cluster, &mut faults);
    faults
}

/// The state by name: what sessions change and must be able to undo. A scalar at zero reads like an absent one.
#[must_use]
pub fn picture(cluster: &Cluster) -> BTreeMap<String, String> {
    let mut picture = BTreeMap::new();
    let names = |tasks: &[TaskId]| -> BTreeSet<String> {
        tasks.iter().map(|task| task_name(cluster, *task)).collect()
    };
    for (id, row) in cluster.nodes.iter() {
        let amounts = [
            &cluster.nodes.allocatable,
            &cluster.nodes.idle,
            &cluster.nodes.used,
            &cluster.nodes.releasing,
            &cluster.nodes.pipelined,
            cluster.nodes.requested(),
        ]
        .map(|columns| shown(cluster, &columns.row(id)));
        let (tasks, occupants) = (names(&row.tasks), names(&row.occupants));
        let non_zero = cluster.nodes.non_zero_requested(id);
        picture.insert(
            format!("node {}", row.name),
            format!("{amounts:?} {tasks:?} {occupants:?} {non_zero:?}"),
        );
    }
    for (id, task) in cluster.tasks() {
        let node = task.node.map(|node| cluster.nodes.row(node).name.clone());
        let state = format!("{:?} {node:?} {:?}", task.status, task.accounting);
        picture.insert(format!("task {}", task_name(cluster, id)), state);
    }
    for (_, job) in cluster.jobs() {
        let by_status: Vec<(&str, BTreeSet<String>)> = TaskStatus::ALL
            .iter()
            .map(|status| (status.as_str(), names(job.tasks(*status))))
            .collect();
        let totals = totals_shown(cluster, &job.totals());
        let status = job.group.as_ref().map(|group| &group.status);
        let roles: Vec<_> = job
            .roles()
            .filter(|(_, counts, _)| counts.iter().any(|count| *count > 0))
            .collect();
        picture.insert(
            format!("job {}", job.uid),
            format!("{by_status:?} {totals} {status:?} {roles:?}"),
        );
    }
    picture
}

fn audit_nodes(cluster: &Cluster, faults: &mut Vec<String>) {
    for (id, row) in cluster.nodes.iter() {
        let mut sums =
            [Accounting::Used, Accounting::Releasing, Accounting::Pipelined].map(|_| Resource::default());
        for task in &row.tasks {
            let Some(task) = cluster.tasks.get(*task) else {
                faults.push(format!("node {} lists a task that is gone", row.name));
                continue;
            };
            if task.node != Some(id) {
                faults.push(format!(
                    "node {} lists {}, which is elsewhere",
                    row.name, task.name
                ));
            }
            match task.accounting {
                Some(Accounting::Used) => sums[0].add(&task.request),
                Some(Accounting::Releasing) => {
                    sums[0].add(&task.request);
                    sums[1].add(&task.request);
                }
                Some(Accounting::Pipelined) => sums[2].add(&task.request),
                None => faults.push(format!(
                    "node {} lists {}, which is not counted",
                    row.name, task.name
                )),
            }
        }
        let [used, releasing, pipelined] = sums;
        let mut idle = cluster.nodes.allocatable.row(id).with_scalar_map();
        idle.sub_unchecked(&used);
        let nodes = &cluster.nodes;
        for (what, columns, expected) in [
            ("used", &nodes.used, used),
            ("releasing", &nodes.releasing, releasing),
            ("pipelined", &nodes.pipelined, pipelined),
            ("idle", &nodes.idle, idle),
            ("requested", nodes.requested(), sum_of(cluster, &row.occupants)),
        ] {
            compare(
                cluster,
                &format!("node {}: {what}", row.name),
                &columns.row(id),
                &expected,
                faults,
            );
        }
        if has_doubles(&row.tasks) || has_doubles(&row.occupants) {
            faults.push(format!("node {} lists a task twice", row.name));
        }
        audit_non_zero(cluster, id, faults);
    }
}

fn audit_non_zero(cluster: &Cluster, node: NodeId, faults: &mut Vec<String>) {
    let row = cluster.nodes.row(node);
    let specs = row
        .occupants
        .iter()
        .filter(|task| cluster.tasks.get(**task).is_some())
        .map(|task| cluster.spec(*task));
    let sum = specs.fold((0, 0), |sum: (i64, i64), spec| {
        (sum.0 + spec.non_zero_milli_cpu, sum.1 + spec.non_zero_memory)
    });
    if cluster.nodes.non_zero_requested(node) != sum {
        faults.push(format!(
            "node {}: stand-ins {:?}, not {sum:?}",
            row.name,
            cluster.nodes.non_zero_requested(node)
        ));
    }
}

fn audit_tasks(cluster: &Cluster, faults: &mut Vec<String>) {
    let mut members = vec![0_usize; cluster.classes.slots()];
    for (id, task) in cluster.tasks() {
        let name = task_name(cluster, id);
        members[task.class.slot()] += 1;
        if cluster.find_task(&task.namespace, &task.name) != Some(id) {
            faults.push(format!("task {name} is not found by its name"));
        }
        let listed = task
            .node
            .is_some_and(|node| cluster.nodes.row(node).tasks.contains(&id));
        if task.accounting.is_some() != listed {
            faults.push(format!(
                "task {name} is counted on a node that does not list it, or listed without count"
            ));
        }
        if let Some(job) = task.job {
            let place = cluster.job(job).tasks(task.status).get(task.position as usize);
            if place != Some(&id) {
                faults.push(format!("task {name} is not at its place in its job"));
            }
        }
    }
    for (id, class) in cluster.classes.iter() {
        if class.members() != members[id.slot()] {
            faults.push(format!(
                "class {id:?} has {} members, not {}",
                class.members(),
                members[id.slot()]
            ));
        }
    }
}

fn audit_jobs(cluster: &Cluster, faults: &mut Vec<String>) {
    for (_, job) in cluster.jobs() {
        let of = |statuses: &dyn Fn(TaskStatus) -> bool| {
            let mut sum = Resource::default();
            for status in TaskStatus::ALL.iter().filter(|status| statuses(**status)) {
                sum.add(&sum_of(cluster, job.tasks(*status)));
            }
            sum
        };
        for (what, ours, expected) in [
            ("allocated", job.allocated(), of(&TaskStatus::is_allocated)),
            (
                "pending",
                job.pending(),
                of(&|status| status == TaskStatus::Pending),
            ),
            (
                "running",
                &job.totals().running,
                of(&|status| status == TaskStatus::Running),
            ),
            ("total", job.total_request(), of(&|_| true)),
        ] {
            compare(
                cluster,
                &format!("job {}: {what}", job.uid),
                ours,
                &expected,
                faults,
            );
        }
        let waiting = job.tasks(TaskStatus::Pending).iter();
        let best_effort = waiting.filter(|task| cluster.task(**task).best_effort).count() as i64;
        if job.pending_best_effort() != best_effort {
            faults.push(format!(
                "job {}: {} best effort, not {best_effort}",
                job.uid,
                job.pending_best_effort()
            ));
        }
        audit_roles(cluster, job, faults);
    }
}

fn audit_roles(cluster: &Cluster, job: &Job, faults: &mut Vec<String>) {
    for (role, counts, _) in job.roles() {
        for status in TaskStatus::ALL {
            let tasks = job.tasks(status).iter();
            let count = tasks.filter(|task| cluster.task(**task).role == *role).count();
            if counts[status.index()] as usize != count {
                faults.push(format!(
                    "job {}: role {role:?} has a wrong count of {}",
                    job.uid,
                    status.as_str()
                ));
            }
        }
    }
}

/// Sums that a refresh brings up to date, when nothing waits for one.
fn audit_sums(cluster: &Cluster, faults: &mut Vec<String>) {
    if !cluster.nodes.totals_stale {
        let (mut allocatable, mut used) = (Resource::default(), Resource::default());
        for node in cluster.nodes.ready() {
            allocatable.add(&cluster.nodes.allocatable.row(*node));
            used.add(&cluster.nodes.used.row(*node));
        }
        compare(
            cluster,
            "all nodes: allocatable",
            cluster.nodes.total_allocatable(),
            &allocatable,
            faults,
        );
        compare(
            cluster,
            "all nodes: used",
            cluster.nodes.total_used(),
            &used,
            faults,
        );
    }
    if !cluster.dirty_jobs.is_empty() {
        return;
    }
    for (id, queue) in cluster.queues() {
        let mut totals = QueueTotals::default();
        for (_, job) in cluster.session_jobs().filter(|(_, job)| job.queue == Some(id)) {
            totals.add(&job.totals());
        }
        for (what, ours, expected) in [
            ("allocated", &queue.totals.allocated, &totals.allocated),
            ("request", &queue.totals.request, &totals.request),
            ("inqueue", &queue.totals.inqueue, &totals.inqueue),
            ("elastic", &queue.totals.elastic, &totals.elastic),
            ("running", &queue.totals.running, &totals.running),
        ] {
            compare(
                cluster,
                &format!("queue {}: {what}", queue.name),
                ours,
                expected,
                faults,
            );
        }
    }
}

fn sum_of(cluster: &Cluster, tasks: &[TaskId]) -> Resource {
    let mut sum = Resource::default();
    for task in tasks.iter().filter_map(|task| cluster.tasks.get(*task)) {
        sum.add(&task.request);
    }
    sum
}

fn compare(cluster: &Cluster, what: &str, ours: &Resource, expected: &Resource, faults: &mut Vec<String>) {
    let alike = |l: f64, r: f64| l == r || (l - r).abs() <= 1e-9 * l.abs().max(r.abs()).max(1.0);
    let scalars = cluster
        .scalars
        .iter()
        .all(|(id, _)| alike(ours.scalar(id).unwrap_or(0.0), expected.scalar(id).unwrap_or(0.0)));
    if !scalars || !alike(ours.milli_cpu, expected.milli_cpu) || !alike(ours.memory, expected.memory) {
        faults.push(format!(
            "{what} {}, not {}",
            shown(cluster, ours),
            shown(cluster, expected)
        ));
    }
}

fn has_doubles(tasks: &[TaskId]) -> bool {
    tasks.iter().collect::<BTreeSet<_>>().len() != tasks.len()
}

fn task_name(cluster: &Cluster, task: TaskId) -> String {
    cluster.tasks.get(task).map_or_else(
        || format!("{task:?}"),
        |task| format!("{}/{}", task.namespace, task.name),
    )
}

fn totals_shown(cluster: &Cluster, totals: &QueueTotals) -> String {
    let all = [
        &totals.allocated,
        &totals.request,
        &totals.inqueue,
        &totals.elastic,
        &totals.running,
    ];
    format!("{:?}", all.map(|amounts| shown(cluster, amounts)))
}

fn shown(cluster: &Cluster, amounts: &Resource) -> String {
    let mut text = format!("cpu {} memory {}", amounts.milli_cpu + 0.0, amounts.memory + 0.0);
    for (id, amount) in amounts.scalars().filter(|(_, amount)| *amount != 0.0) {
        text.push_str(&format!(" {} {amount}", cluster.scalars.name(id)));
    }
    text
}
