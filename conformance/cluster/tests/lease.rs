//! Who holds the Lease binds, and nobody else.

use mco_cluster_tests::wait::{LONG, QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, Object, Scheduler, Setup, gang, kinds, node};
use serde_json::json;

fn electing() -> Setup {
    Setup::default().flag("--leader-elect=true")
}

async fn holder(cluster: &Cluster<'_>) -> Option<String> {
    let lease = cluster.get(kinds::LEASE, "volcano-system", "volcano").await?;
    lease["spec"]["holderIdentity"]
        .as_str()
        .filter(|holder| !holder.is_empty())
        .map(str::to_owned)
}

async fn until_held(cluster: &Cluster<'_>, but_not_by: Option<&str>) -> String {
    until("somebody new holds the lease", LONG, async || {
        match holder(cluster).await {
            Some(holder) if Some(holder.as_str()) != but_not_by => Ok(holder),
            other => Err(format!("{other:?}")),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_is_released_on_sigterm_and_taken_over_at_once() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut first = Scheduler::start_with(cluster.server, electing()).await;
    let one = until_held(&cluster, None).await;
    let _second = Scheduler::start_with(cluster.server, electing()).await;
    let lease = cluster
        .get(kinds::LEASE, "volcano-system", "volcano")
        .await
        .expect("the lease");
    let transitions = lease["spec"]["leaseTransitions"].as_u64().unwrap_or(0);
    first.stop();
    let two = until_held(&cluster, Some(&one)).await;
    assert_ne!(one, two);
    let lease = cluster
        .get(kinds::LEASE, "volcano-system", "volcano")
        .await
        .expect("the lease");
    assert!(lease["spec"]["leaseTransitions"].as_u64().unwrap_or(0) > transitions);
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_holder_is_followed_when_its_lease_has_run_out() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut first = Scheduler::start_with(cluster.server, electing()).await;
    let one = until_held(&cluster, None).await;
    let _second = Scheduler::start_with(cluster.server, electing()).await;
    first.kill();
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    until_held(&cluster, Some(&one)).await;
    cluster.until_all_bound().await;
}

/// A lease that somebody else has just renewed, for an hour.
fn held_by_another() -> Object {
    let now = k8s_openapi::jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
        .to_string();
    Object(json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "volcano", "namespace": "volcano-system"},
        "spec": {
            "holderIdentity": "other_1",
            "leaseDurationSeconds": 2_000_000_000,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 0,
        },
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_hold_the_lease_writes_nothing_and_is_ready() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    cluster.create(&held_by_another()).await;
    let _standby = Scheduler::start_with(cluster.server, electing()).await;
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    always("nothing is written but the default queue", QUIET, async || {
        let calls = cluster.scheduler_calls();
        let written: Vec<String> = calls
            .iter()
            .filter(|call| call.writes())
            .map(|call| call.line())
            .collect();
        let is_queue = |line: &String| line.starts_with("create queues default");
        if written.iter().all(is_queue) {
            Ok(())
        } else {
            Err(written.join("\n"))
        }
    })
    .await;
    assert_eq!(holder(&cluster).await.as_deref(), Some("other_1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_loses_its_lease_ends_and_binds_no_more() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut scheduler = Scheduler::start_with(cluster.server, electing()).await;
    until_held(&cluster, None).await;
    let stolen = json!({"spec": {"holderIdentity": "thief_1", "leaseDurationSeconds": 3600}});
    cluster
        .patch(kinds::LEASE, "volcano-system", "volcano", stolen)
        .await;
    let status = scheduler.until_ended();
    assert!(!status.success(), "{status}");
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    assert_eq!(
        holder(&cluster).await.as_deref(),
        Some("thief_1"),
        "it is left to the thief"
    );
    assert_eq!(cluster.placements("t").await["g-0"], None);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_election_no_lease_is_taken_and_a_held_one_is_warned_about_once() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let quiet = Scheduler::start(cluster.server).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    assert!(
        cluster
            .get(kinds::LEASE, "volcano-system", "volcano")
            .await
            .is_none()
    );
    drop(quiet);
    cluster.create(&held_by_another()).await;
    let warned = Scheduler::start(cluster.server).await;
    let warnings = async || {
        let log = warned.log();
        let count = log.lines().filter(|line| line.contains("other_1")).count();
        if count == 1 {
            Ok(())
        } else {
            Err(format!("{count} warnings in\n{log}"))
        }
    };
    until("the warning", SOON, warnings).await;
    always("it is said once", QUIET, warnings).await;
    cluster.create_in_order(&gang("t", "h", 1, "1", "1Gi")).await;
    cluster.until_all_bound().await;
}
