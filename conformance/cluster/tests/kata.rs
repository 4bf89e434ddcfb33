//! Kata pods go where Kata is ready.

use mco_cluster_tests::wait::{SOON, until};
use mco_cluster_tests::{Cluster, MCO_CONF, Object, Scheduler, Setup, gang, kinds, node};
use serde_json::json;

const RUNTIME: &str = "katacontainers.io/kata-runtime";
const READY: &str = "mco.many-core.io/kata-ready";

/// A runtime class that brings no node selector of its own, so that the labels alone decide.
fn runtime_class() -> Object {
    Object(json!({
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata-qemu"},
        "handler": "kata-qemu",
        "overhead": {"podFixed": {"cpu": "250m", "memory": "320Mi"}},
    }))
}

fn kata(name: &str, cpu: &str) -> Vec<Object> {
    let with_class = |object: Object| {
        if object.0["kind"] == "Pod" {
            object.with(&["spec", "runtimeClassName"], "kata-qemu")
        } else {
            object
        }
    };
    gang("t", name, 1, cpu, "1Gi")
        .into_iter()
        .map(with_class)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kata_pod_needs_both_labels_to_be_true_and_others_do_not() {
    let cluster = Cluster::shared().await;
    cluster.create(&runtime_class()).await;
    cluster
        .create(
            &node("installing", "8", "16Gi")
                .label(RUNTIME, "false")
                .label(READY, "true"),
        )
        .await;
    cluster
        .create(&node("no-kvm", "8", "16Gi").label(RUNTIME, "true"))
        .await;
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(MCO_CONF)).await;
    cluster.create_in_order(&kata("k", "1")).await;
    cluster.create_in_order(&gang("t", "plain", 1, "1", "1Gi")).await;
    let placements = cluster
        .until_placed("the plain pod is bound", |all| all["plain-0"].is_some())
        .await;
    assert_eq!(placements["k-0"], None);
    until("the kata pod is told why", SOON, async || {
        let pod = cluster.get(kinds::POD, "t", "k-0").await.ok_or("no pod")?;
        let text = pod["status"]["conditions"].to_string();
        if text.contains("not ready for Kata pods (kata_not_ready)") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    cluster
        .patch(
            kinds::NODE,
            "",
            "no-kvm",
            json!({"metadata": {"labels": {(READY): "true"}}}),
        )
        .await;
    assert_eq!(cluster.until_all_bound().await["k-0"], "no-kvm");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_overhead_of_the_runtime_class_counts() {
    let cluster = Cluster::shared().await;
    cluster.create(&runtime_class()).await;
    // Two of them, so that it is not the queue that is short.
    for name in ["exact", "same"] {
        let ready = node(name, "2", "16Gi").label(RUNTIME, "true");
        cluster.create(&ready.label(READY, "true")).await;
    }
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(MCO_CONF)).await;
    cluster.create_in_order(&kata("k", "2")).await;
    until("the pod is told that cpu is short", SOON, async || {
        let pod = cluster.get(kinds::POD, "t", "k-0").await.ok_or("no pod")?;
        let text = pod["status"]["conditions"].to_string();
        if text.contains("Insufficient cpu") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    cluster
        .create(
            &node("larger", "3", "16Gi")
                .label(RUNTIME, "true")
                .label(READY, "true"),
        )
        .await;
    assert_eq!(cluster.until_all_bound().await["k-0"], "larger");
}
