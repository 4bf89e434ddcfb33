//! Queues share the cluster by weight, and stay within what they are capable of.

use mco_cluster_tests::wait::{QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, Kubelet, Object, Scheduler, kinds, node, pod, pod_group, queue};
use serde_json::json;
use std::collections::BTreeMap;

/// Jobs of one pod of one CPU each.
fn singles(queue: &str, count: usize) -> Vec<Object> {
    let single = |index: usize| {
        let name = format!("{queue}-{index}");
        [
            pod_group("t", &name, 1).in_queue(queue),
            pod("t", &name).group(&name).requests("1", "1Gi"),
        ]
    };
    (0..count).flat_map(single).collect()
}

async fn bound_by_queue(cluster: &Cluster<'_>) -> BTreeMap<String, usize> {
    let mut bound = BTreeMap::new();
    for (pod, node) in cluster.placements("t").await {
        if let (Some((queue, _)), Some(_)) = (pod.split_once('-'), node) {
            *bound.entry(queue.to_owned()).or_default() += 1;
        }
    }
    bound
}

async fn until_shared(cluster: &Cluster<'_>, wanted: &[(&str, usize)]) {
    let wanted: BTreeMap<String, usize> = wanted
        .iter()
        .map(|(queue, count)| ((*queue).to_owned(), *count))
        .collect();
    let compare = async || {
        let bound = bound_by_queue(cluster).await;
        if bound == wanted {
            Ok(())
        } else {
            Err(format!("{bound:?}"))
        }
    };
    until(&format!("shares {wanted:?}"), SOON, compare).await;
    always("the shares stay", QUIET, compare).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_queues_that_want_all_get_shares_by_their_weights() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "64Gi")).await;
    cluster.create(&node("n2", "4", "64Gi")).await;
    cluster.create(&queue("a", 1)).await;
    cluster.create(&queue("b", 3)).await;
    cluster.create_all(&singles("a", 8)).await;
    cluster.create_all(&singles("b", 8)).await;
    let _kubelet = Kubelet::start(&cluster);
    let _scheduler = Scheduler::start(cluster.server).await;
    until_shared(&cluster, &[("a", 2), ("b", 6)]).await;

    // The status follows what runs.
    until("queue statuses", SOON, async || {
        let allocated = |queue: &Option<serde_json::Value>| {
            queue
                .as_ref()
                .map(|queue| queue["status"]["allocated"]["cpu"].clone())
                .unwrap_or_default()
        };
        let a = allocated(&cluster.get(kinds::QUEUE, "", "a").await);
        let b = allocated(&cluster.get(kinds::QUEUE, "", "b").await);
        if a == "2" && b == "6" {
            Ok(())
        } else {
            Err(format!("a {a}, b {b}"))
        }
    })
    .await;

    // A queue that wants no more leaves its share to the other.
    for index in 0..8 {
        cluster.delete(kinds::POD, "t", &format!("b-{index}")).await;
        cluster.delete(kinds::POD_GROUP, "t", &format!("b-{index}")).await;
    }
    until_shared(&cluster, &[("a", 8)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_takes_no_more_than_its_capability_until_that_is_raised() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "64Gi")).await;
    cluster
        .create(&queue("capped", 1).with(&["spec", "capability"], json!({"cpu": "2"})))
        .await;
    let _scheduler = Scheduler::start(cluster.server).await;
    cluster.create_all(&singles("capped", 5)).await;
    until_shared(&cluster, &[("capped", 2)]).await;
    cluster
        .patch(
            kinds::QUEUE,
            "",
            "capped",
            json!({"spec": {"capability": {"cpu": "4"}}}),
        )
        .await;
    until_shared(&cluster, &[("capped", 4)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_queue_is_made_and_a_present_one_is_kept() {
    let cluster = Cluster::shared().await;
    let mut scheduler = Scheduler::start(cluster.server).await;
    let made = cluster
        .get(kinds::QUEUE, "", "default")
        .await
        .expect("it is made at start");
    assert_eq!(made["spec"]["weight"], 1);
    assert_eq!(made["spec"]["reclaimable"], true);
    cluster
        .patch(kinds::QUEUE, "", "default", json!({"spec": {"weight": 7}}))
        .await;
    scheduler.stop();
    scheduler.start_again().await;
    let kept = cluster
        .get(kinds::QUEUE, "", "default")
        .await
        .expect("it is there");
    assert_eq!(kept["spec"]["weight"], 7);
    // A job that names no queue is in it.
    cluster.create(&node("n1", "8", "64Gi")).await;
    cluster
        .create(&pod_group("t", "g", 1).with(&["spec"], json!({"minMember": 1})))
        .await;
    cluster
        .create(&pod("t", "g-0").group("g").requests("1", "1Gi"))
        .await;
    cluster.until_all_bound().await;
}
