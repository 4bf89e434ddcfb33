//! The whole pipeline on a real API server: samples reach the analyzer, its report reaches mco-plugin, and pods go elsewhere.

use mco_cluster_tests::collector::{Collector, Load};
use mco_cluster_tests::wait::{LONG, QUIET, SOON, always, until};
use mco_cluster_tests::{Analyzer, Cluster, MCO_CONF, Scheduler, Setup, gang, kinds, node};

/// Reports older than this many seconds do not count in the tests that wait for one to become so.
const TTL: u32 = 3;

fn conf_with_ttl() -> String {
    let arguments = format!("mco-plugin\n    arguments:\n      crStatusTTLSeconds: {TTL}\n");
    MCO_CONF.replace("mco-plugin\n", &arguments)
}

/// Waits until the report has a node at a level that `is_wanted`.
async fn until_reported(cluster: &Cluster<'_>, node: &str, what: &str, is_wanted: impl Fn(f64) -> bool) {
    until(&format!("{node} is reported {what}"), LONG, async || {
        let report = cluster
            .get(kinds::REPORT, "", "cluster")
            .await
            .unwrap_or_default();
        let level = report["status"]["nodes"][node]["interferenceLevel"].as_f64();
        if level.is_some_and(&is_wanted) {
            Ok(())
        } else {
            Err(report["status"].to_string())
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_avoid_the_node_that_the_analyzer_reports_hot_and_return_when_it_is_calm() {
    let cluster = Cluster::shared().await;
    cluster.let_scheduler_read_reports().await;
    for name in ["n1", "n2"] {
        cluster.create(&node(name, "8", "32Gi")).await;
    }
    let analyzer = Analyzer::start(cluster.server, &["--window=1s"]).await;
    let first = Collector::start(&analyzer, "n1", Load::HOT_IO);
    let _second = Collector::start(&analyzer, "n2", Load::CALM);
    until_reported(&cluster, "n1", "hot", |level| level > 0.3).await;
    until_reported(&cluster, "n2", "calm", |level| level < 0.1).await;
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(MCO_CONF)).await;
    cluster.create_in_order(&gang("t", "calm", 4, "1", "1Gi")).await;
    let placements = cluster.until_all_bound().await;
    assert!(placements.values().all(|node| node == "n2"), "{placements:?}");

    // More than fits on the calm node has to wait, and says why.
    cluster.create_in_order(&gang("t", "large", 1, "6", "1Gi")).await;
    until("the pod is told of the pressure", SOON, async || {
        let pod = cluster.get(kinds::POD, "t", "large-0").await.ok_or("no pod")?;
        let text = pod["status"]["conditions"].to_string();
        if text.contains("pressure") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;

    first.suffers(Load::CALM);
    until_reported(&cluster, "n1", "calm", |level| level < 0.1).await;
    assert_eq!(cluster.until_all_bound().await["large-0"], "n1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_gone_stale_steers_no_more() {
    let cluster = Cluster::shared().await;
    cluster.let_scheduler_read_reports().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut analyzer = Analyzer::start(cluster.server, &["--window=1s"]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::HOT_IO);
    until_reported(&cluster, "n1", "hot", |level| level > 0.3).await;
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(&conf_with_ttl())).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    always(
        "the hot node takes nobody while its report is fresh",
        QUIET,
        async || match &cluster.placements("t").await["g-0"] {
            None => Ok(()),
            Some(node) => Err(format!("bound to {node}")),
        },
    )
    .await;
    analyzer.process().kill();
    assert_eq!(cluster.until_all_bound().await["g-0"], "n1");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_read_reports_pods_are_placed_as_if_there_were_none() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let analyzer = Analyzer::start(cluster.server, &["--window=1s"]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::HOT_IO);
    until_reported(&cluster, "n1", "hot", |level| level > 0.3).await;
    let scheduler = Scheduler::start_with(cluster.server, Setup::default().conf(MCO_CONF)).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    assert_eq!(cluster.until_all_bound().await["g-0"], "n1");
    let told = scheduler
        .log()
        .lines()
        .filter(|line| line.contains("nodeinterferencereports"))
        .count();
    assert_eq!(told, 1, "the missing right is said once:\n{}", scheduler.log());

    // Granted while it runs, it is used.
    cluster.let_scheduler_read_reports().await;
    until("a pod is told of the pressure", LONG, async || {
        cluster.delete(kinds::POD, "t", "later-0").await;
        cluster.create_in_order(&gang("t", "later", 1, "1", "1Gi")).await;
        tokio::time::sleep(QUIET).await;
        let pod = cluster.get(kinds::POD, "t", "later-0").await.ok_or("no pod")?;
        let text = pod["status"]["conditions"].to_string();
        if text.contains("pressure") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
}
