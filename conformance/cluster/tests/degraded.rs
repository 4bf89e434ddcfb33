//! Definitions that come later, and objects that cannot be read: each is said once and stops nothing else.

use mco_cluster_tests::tools::project_root;
use mco_cluster_tests::wait::{LONG, QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, Detail, Scheduler, Server, Setup, gang, node, pod_group};
use mco_cluster_tests::{MCO_CONF, yaml::yaml_files};

#[tokio::test(flavor = "multi_thread")]
async fn it_waits_for_volcanos_definitions_and_needs_none_of_ours() {
    let server = Server::start(Detail::Requests).await.expect("a server");
    let cluster = Cluster::on(&server).await;
    cluster.prepare_without_crds().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut scheduler = Scheduler::launch(&server, Setup::default().conf(MCO_CONF));
    until("it says what is missing", SOON, async || {
        let log = scheduler.log();
        if log.contains("podgroups") {
            Ok(())
        } else {
            Err(log)
        }
    })
    .await;
    assert!(scheduler.ended().is_none(), "it waits");
    let chart = project_root().join("helm/many-core-orchestrator");
    let volcanos = yaml_files(&chart.join("charts/volcano/crds")).expect("Volcano's definitions");
    cluster.create_crds(volcanos).await;
    scheduler.until_ready().await;
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    until("the gang is bound", LONG, async || {
        let placements = cluster.placements("t").await;
        if placements.values().all(Option::is_some) {
            Ok(())
        } else {
            Err(format!("{placements:?}"))
        }
    })
    .await;
    let log = scheduler.log();
    let said = log
        .lines()
        .filter(|line| line.contains("nodeinterferencereports"))
        .count();
    assert!(said <= 1, "ours is said at most once:\n{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_cannot_be_read_are_told_of_once_and_stop_nothing_else() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let scheduler = Scheduler::start(cluster.server).await;
    // Larger than any counter of members, which the API server does not see.
    let odd = pod_group("t", "odd", 1).with(&["spec", "minMember"], 99_999_999_999_u64);
    cluster.create(&odd).await;
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    let told = async || {
        let log = scheduler.log();
        match log.lines().filter(|line| line.contains("t/odd")).count() {
            1 => Ok(()),
            count => Err(format!("{count} lines in\n{log}")),
        }
    };
    until("the odd object is told of", SOON, told).await;
    cluster.create_in_order(&gang("t", "later", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    always("it is said once", QUIET, told).await;
}
