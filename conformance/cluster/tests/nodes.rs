//! Where pods may go: taints, cordons, selectors and labels, as they are and as they change.

use mco_cluster_tests::wait::{QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, Object, Scheduler, gang, kinds, node};
use serde_json::json;

/// A job of one pod.
fn single(name: &str, change: impl Fn(Object) -> Object) -> Vec<Object> {
    let objects = gang("t", name, 1, "1", "1Gi").into_iter();
    objects
        .map(|object| {
            if object.0["kind"] == "Pod" {
                change(object)
            } else {
                object
            }
        })
        .collect()
}

/// Waits until the scheduler has said this of a pod.
async fn until_told(cluster: &Cluster<'_>, pod: &str, words: &str) {
    until(&format!("{pod} is told: {words}"), SOON, async || {
        let pod = cluster.get(kinds::POD, "t", pod).await.ok_or("no pod")?;
        let conditions = pod["status"]["conditions"].to_string();
        if conditions.contains(words) {
            Ok(())
        } else {
            Err(conditions)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taint_keeps_pods_away_that_do_not_tolerate_it_until_it_goes() {
    let cluster = Cluster::shared().await;
    cluster
        .create(&node("n1", "4", "16Gi").taint("dedicated", "x", "NoSchedule"))
        .await;
    let _scheduler = Scheduler::start(cluster.server).await;
    let tolerations =
        json!([{"key": "dedicated", "operator": "Equal", "value": "x", "effect": "NoSchedule"}]);
    let tolerant = single("tolerant", |pod| {
        pod.with(&["spec", "tolerations"], tolerations.clone())
    });
    cluster.create_in_order(&single("plain", |pod| pod)).await;
    cluster.create_in_order(&tolerant).await;
    let placements = cluster
        .until_placed("the tolerant pod is bound", |all| all["tolerant-0"].is_some())
        .await;
    assert_eq!(placements["plain-0"], None);
    until_told(
        &cluster,
        "plain-0",
        "node(s) had untolerated taint {dedicated: x}",
    )
    .await;
    cluster
        .patch(kinds::NODE, "", "n1", json!({"spec": {"taints": null}}))
        .await;
    cluster.until_all_bound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cordoned_node_takes_nobody_until_it_is_open_again() {
    let cluster = Cluster::shared().await;
    cluster
        .create(&node("n1", "4", "16Gi").with(&["spec", "unschedulable"], true))
        .await;
    let _scheduler = Scheduler::start(cluster.server).await;
    cluster.create_in_order(&single("g", |pod| pod)).await;
    until_told(&cluster, "g-0", "node(s) were unschedulable").await;
    cluster
        .patch(kinds::NODE, "", "n1", json!({"spec": {"unschedulable": null}}))
        .await;
    cluster.until_all_bound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_selector_is_met_by_a_label_that_comes_later() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "16Gi")).await;
    cluster.create(&node("n2", "4", "16Gi")).await;
    let _scheduler = Scheduler::start(cluster.server).await;
    cluster
        .create_in_order(&single("g", |pod| {
            pod.with(&["spec", "nodeSelector"], json!({"disk": "ssd"}))
        }))
        .await;
    until_told(
        &cluster,
        "g-0",
        "node(s) didn't match Pod's node affinity/selector",
    )
    .await;
    cluster
        .patch(
            kinds::NODE,
            "",
            "n2",
            json!({"metadata": {"labels": {"disk": "ssd"}}}),
        )
        .await;
    assert_eq!(cluster.until_all_bound().await["g-0"], "n2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_not_ready_or_gone_takes_nobody() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "16Gi")).await;
    cluster.create(&node("n2", "4", "16Gi")).await;
    let _scheduler = Scheduler::start(cluster.server).await;
    let not_ready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    cluster.patch_status(kinds::NODE, "", "n1", not_ready).await;
    cluster.delete(kinds::NODE, "", "n2").await;
    cluster.create_in_order(&single("g", |pod| pod)).await;
    until("its PodGroup is told", SOON, async || {
        let group = cluster.get(kinds::POD_GROUP, "t", "g").await.ok_or("no group")?;
        let text = group["status"].to_string();
        if text.contains("Unschedulable") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    always(
        "the pod stays where it is: nowhere",
        QUIET,
        async || match &cluster.placements("t").await["g-0"] {
            None => Ok(()),
            Some(node) => Err(format!("bound to {node}")),
        },
    )
    .await;
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    cluster.patch_status(kinds::NODE, "", "n1", ready).await;
    assert_eq!(cluster.until_all_bound().await["g-0"], "n1");
}
