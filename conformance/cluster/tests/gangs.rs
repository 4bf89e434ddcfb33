//! Gangs run whole or not at all.

use mco_cluster_tests::wait::{LONG, SOON, until};
use mco_cluster_tests::{Cluster, Kubelet, Object, Scheduler, Setup, gang, kinds, node, pod};
use std::collections::{BTreeMap, BTreeSet};

const GANGS: usize = 30;
const MEMBERS: u32 = 3;

fn name(index: usize) -> String {
    format!("g{index:02}")
}

/// How many pods of each gang have a node.
fn bound_by_gang(placements: &BTreeMap<String, Option<String>>) -> BTreeMap<String, usize> {
    let mut bound = BTreeMap::new();
    for (pod, node) in placements {
        if let (Some((gang, _)), Some(_)) = (pod.rsplit_once('-'), node) {
            *bound.entry(gang.to_owned()).or_default() += 1;
        }
    }
    bound
}

#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_jobs_as_many_run_as_fit_whole_and_the_others_follow_when_those_end() {
    let cluster = Cluster::shared().await;
    // Room for 20 pods: six gangs, and two pods of a seventh.
    let nodes: Vec<Object> = (0..5)
        .map(|index| node(&format!("n{index}"), "4", "16Gi"))
        .collect();
    cluster.create_all(&nodes).await;
    let _kubelet = Kubelet::start(&cluster);
    let _scheduler = Scheduler::start(cluster.server).await;
    let jobs: Vec<Object> = (0..GANGS)
        .flat_map(|index| gang("t", &name(index), MEMBERS, "1", "1Gi"))
        .collect();
    cluster.create_all(&jobs).await;

    let mut done: BTreeSet<String> = BTreeSet::new();
    while done.len() < GANGS {
        let wanted = 6.min(GANGS - done.len());
        let running = until("as many gangs run as fit, each whole", LONG, async || {
            let bound = bound_by_gang(&cluster.placements("t").await);
            let is_whole = bound.values().all(|&count| count == MEMBERS as usize);
            if bound.len() == wanted && is_whole {
                Ok(bound)
            } else {
                Err(format!("{bound:?}"))
            }
        })
        .await;
        // They end: their pods go, and with them the room they took.
        for gang in running.into_keys() {
            for member in 0..MEMBERS {
                cluster.delete(kinds::POD, "t", &format!("{gang}-{member}")).await;
            }
            cluster.delete(kinds::POD_GROUP, "t", &gang).await;
            assert!(done.insert(gang.clone()), "{gang} ran twice");
        }
    }
    // Each pod by one call, and none of a gang that did not come to run.
    let bindings: Vec<String> = cluster
        .scheduler_calls()
        .into_iter()
        .filter(|call| call.target() == "pods/binding")
        .map(|call| format!("{} {}", call.name, call.code))
        .collect();
    let distinct: BTreeSet<&String> = bindings.iter().collect();
    assert_eq!(
        bindings.len(),
        distinct.len(),
        "a pod was bound twice: {bindings:?}"
    );
    assert_eq!(bindings.len(), GANGS * MEMBERS as usize);
    assert!(bindings.iter().all(|call| call.ends_with(" 201")), "{bindings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_waits_for_its_last_pod_and_then_for_room() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "2", "16Gi")).await;
    let _scheduler = Scheduler::start(cluster.server).await;
    let objects = gang("t", "g", 3, "1", "1Gi");
    let (last, first) = objects.split_last().expect("a gang");
    cluster.create_in_order(first).await;
    let message = |wanted: &'static str| {
        let cluster = &cluster;
        async move {
            until(wanted, SOON, async || {
                let group = cluster.get(kinds::POD_GROUP, "t", "g").await.ok_or("no group")?;
                let text = group["status"]["conditions"].to_string();
                if text.contains(wanted) { Ok(()) } else { Err(text) }
            })
            .await;
        }
    };
    message("3/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 3 minAvailable").await;
    cluster.create(last).await;
    message("1/3 tasks in gang unschedulable").await;
    assert!(
        cluster.placements("t").await.values().all(Option::is_none),
        "there is no room for all"
    );
    cluster.create(&node("n2", "2", "16Gi")).await;
    let placements = cluster.until_all_bound().await;
    assert_eq!(placements.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_of_another_scheduler_take_room_but_are_left_alone() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "16Gi")).await;
    cluster.create(&node("n2", "4", "16Gi")).await;
    let foreign = pod("t", "foreign")
        .requests("3", "1Gi")
        .with(&["spec", "schedulerName"], "default-scheduler");
    let on_its_node = foreign.clone().with(&["spec", "nodeName"], "n1");
    cluster.create(&on_its_node).await;
    let waiting = foreign.with(&["metadata", "name"], "waiting");
    cluster.create(&waiting).await;
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default()).await;
    cluster.create_in_order(&gang("t", "g", 1, "2", "1Gi")).await;
    let placements = cluster
        .until_placed("the gang is bound", |all| all["g-0"].is_some())
        .await;
    assert_eq!(placements["g-0"].as_deref(), Some("n2"));
    assert_eq!(placements["waiting"], None);
}
