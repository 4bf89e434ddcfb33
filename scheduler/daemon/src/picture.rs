//! Small clusters and cycles on them, for tests.

use mco_framework::TieBreak;
use mco_framework::close::SessionOutcome;
use mco_framework::conf::SchedulerConf;
use mco_model::event::{Amounts, NodeRecord, PodGroupRecord, PodPhase, PodRecord, QueueRecord};
use mco_model::time::Time;
use mco_model::{Cluster, Event};
use mco_registry::{CycleParameters, Registry, run_cycle};

/// A cluster with queue `default`.
pub(crate) fn cluster() -> Cluster {
    let mut cluster = Cluster::new("default");
    cluster.apply(Event::QueueSet(Box::new(QueueRecord {
        name: "default".into(),
        weight: 1,
        reclaimable: true,
        ..QueueRecord::default()
    })));
    cluster
}

/// A ready node with so many CPUs, and room for any number of pods.
pub(crate) fn add_node(cluster: &mut Cluster, name: &str, cpus: f64) {
    cluster.apply(Event::NodeSet(Box::new(NodeRecord {
        name: name.into(),
        ready: true,
        max_pods: 110,
        allocatable: amounts(cpus * 1000.0, 110.0),
        capacity: amounts(cpus * 1000.0, 110.0),
        ..NodeRecord::default()
    })));
}

/// A PodGroup in namespace `t`, with UID `uid-<name>`.
pub(crate) fn add_group(cluster: &mut Cluster, name: &str, min_member: i32, queue: &str) {
    cluster.apply(Event::PodGroupSet(Box::new(PodGroupRecord {
        namespace: "t".into(),
        name: name.into(),
        uid: format!("uid-{name}").as_str().into(),
        created: Some(Time::from_seconds(1)),
        min_member,
        queue: queue.into(),
        ..PodGroupRecord::default()
    })));
}

/// A pod in namespace `t` that asks for so many CPUs; on a node (unless empty) it runs.
pub(crate) fn add_pod(cluster: &mut Cluster, name: &str, group: &str, cpus: f64, node: &str) {
    cluster.apply(Event::PodSet(Box::new(PodRecord {
        namespace: "t".into(),
        name: name.into(),
        uid: format!("uid-{name}").as_str().into(),
        created: Some(Time::from_seconds(2)),
        ours: true,
        group: group.into(),
        node: node.into(),
        phase: if node.is_empty() {
            PodPhase::Pending
        } else {
            PodPhase::Running
        },
        priority: 1,
        preemptable: true,
        request: amounts(cpus * 1000.0, 1.0),
        ..PodRecord::default()
    })));
}

fn amounts(milli_cpu: f64, pods: f64) -> Amounts {
    Amounts {
        milli_cpu,
        memory: if pods > 1.0 { 1e12 } else { 1e6 },
        scalars: vec![("pods".into(), pods)],
        given: true,
    }
}

/// One cycle by the built-in configuration, ten seconds after the first.
pub(crate) fn cycle(cluster: &mut Cluster) -> SessionOutcome {
    let parameters = CycleParameters {
        uid: "session".into(),
        now: Time::from_seconds(10),
        tie_break: TieBreak::LowestName,
        threads: 1,
    };
    run_cycle(cluster, &SchedulerConf::built_in(), &Registry::new(), parameters)
}
