//! The stock ClusterRole is enough, and a right that is missing is said once and stops nothing else.

use mco_cluster_tests::wait::{QUIET, SOON, until};
use mco_cluster_tests::{
    Call, Cluster, Kubelet, MCO_CONF, Object, STOCK_CONF, Scheduler, Setup, gang, kinds, node, queue,
};
use serde_json::json;
use std::collections::BTreeSet;

fn refused(calls: &[Call]) -> BTreeSet<String> {
    calls
        .iter()
        .filter(|call| call.code == 403)
        .map(|call| format!("{} {}", call.verb, call.target()))
        .collect()
}

/// A little of everything the scheduler does.
async fn keep_busy(cluster: &Cluster<'_>) {
    cluster.create(&node("n1", "4", "32Gi")).await;
    cluster.create(&queue("q", 1)).await;
    cluster.create_in_order(&gang("t", "fits", 2, "1", "1Gi")).await;
    cluster.create_in_order(&gang("t", "short", 9, "1", "1Gi")).await;
    cluster
        .until_placed("the gang is bound", |all| {
            all["fits-0"].is_some() && all["fits-1"].is_some()
        })
        .await;
    until("the status of the queue is written", SOON, async || {
        let queue = cluster.get(kinds::QUEUE, "", "default").await.ok_or("no queue")?;
        if queue["status"]["allocated"]["cpu"] == "2" {
            Ok(())
        } else {
            Err(queue["status"].to_string())
        }
    })
    .await;
    tokio::time::sleep(QUIET).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stock_role_is_all_it_needs() {
    let cluster = Cluster::shared().await;
    let _kubelet = Kubelet::start(&cluster);
    let _scheduler =
        Scheduler::start_with(cluster.server, Setup::default().flag("--leader-elect=true")).await;
    keep_busy(&cluster).await;
    let calls = cluster.scheduler_calls();
    // Reports of interference are our own kind, of which the stock role knows nothing.
    let allowed: BTreeSet<String> = ["list nodeinterferencereports", "watch nodeinterferencereports"]
        .map(str::to_owned)
        .into();
    let refused = refused(&calls);
    assert!(refused.is_subset(&allowed), "{refused:?}");
    let outside: BTreeSet<String> = calls
        .iter()
        .filter(|call| call.group == "events.k8s.io" || call.verb == "patch" && call.resource == "podgroups")
        .map(Call::line)
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_mco_plugin_the_missing_right_to_reports_is_said_once() {
    let cluster = Cluster::shared().await;
    let _kubelet = Kubelet::start(&cluster);
    let scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(MCO_CONF)).await;
    keep_busy(&cluster).await;
    let log = scheduler.log();
    let said: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("nodeinterferencereports"))
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_missing_for_one_kind_stops_nothing_else() {
    let cluster = Cluster::shared().await;
    let _kubelet = Kubelet::start(&cluster);
    // The stock role without quotas, disruption budgets and what pods of workloads belong to.
    let role = cluster
        .get(kinds::CLUSTER_ROLE, "", "volcano-scheduler")
        .await
        .expect("the stock role");
    let rules = role["rules"].as_array().expect("its rules");
    let without = |rule: &&serde_json::Value| {
        let text = rule["resources"].to_string();
        !["resourcequotas", "poddisruptionbudgets", "statefulsets"]
            .iter()
            .any(|kind| text.contains(kind))
    };
    let fewer: Vec<&serde_json::Value> = rules.iter().filter(without).collect();
    assert_eq!(fewer.len() + 3, rules.len());
    cluster
        .patch(
            kinds::CLUSTER_ROLE,
            "",
            "volcano-scheduler",
            json!({"rules": fewer}),
        )
        .await;
    let scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(STOCK_CONF)).await;
    keep_busy(&cluster).await;
    let log = scheduler.log();
    drop(scheduler);
    cluster
        .patch(
            kinds::CLUSTER_ROLE,
            "",
            "volcano-scheduler",
            json!({"rules": rules}),
        )
        .await;
    let said = log
        .lines()
        .filter(|line| line.contains("may not watch statefulsets.apps"))
        .count();
    assert_eq!(said, 1, "said once:\n{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_cannot_be_written_stops_nothing() {
    let cluster = Cluster::shared().await;
    let _kubelet = Kubelet::start(&cluster);
    let role = cluster
        .get(kinds::CLUSTER_ROLE, "", "volcano-scheduler")
        .await
        .expect("the stock role");
    let rules = role["rules"].as_array().expect("its rules");
    let fewer: Vec<&serde_json::Value> = rules
        .iter()
        .filter(|rule| !rule["resources"].to_string().contains("events"))
        .collect();
    cluster
        .patch(
            kinds::CLUSTER_ROLE,
            "",
            "volcano-scheduler",
            json!({"rules": fewer}),
        )
        .await;
    let scheduler = Scheduler::start(cluster.server).await;
    keep_busy(&cluster).await;
    drop(scheduler);
    cluster
        .patch(
            kinds::CLUSTER_ROLE,
            "",
            "volcano-scheduler",
            json!({"rules": rules}),
        )
        .await;
    let events: Vec<Object> = cluster
        .list(kinds::EVENT, "t")
        .await
        .into_iter()
        .map(Object)
        .collect();
    assert!(events.is_empty(), "{events:?}");
}
