//! The scheduler is killed or stopped at a bad moment and started again.

use mco_cluster_tests::audit::bindings;
use mco_cluster_tests::proxy::{Fault, HttpProxy, is_binding};
use mco_cluster_tests::wait::{QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, Scheduler, Setup, gang, kinds, node};
use std::collections::BTreeMap;

fn bound(placements: &BTreeMap<String, Option<String>>, gang: &str) -> usize {
    placements
        .iter()
        .filter(|(pod, node)| pod.starts_with(gang) && node.is_some())
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_mid_bind_it_binds_the_rest_of_the_gang_and_nothing_twice() {
    let cluster = Cluster::shared().await;
    // Room for both gangs and not for one pod more.
    cluster.create(&node("n1", "5", "32Gi")).await;
    cluster.create(&node("n2", "5", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    // Three are bound, one of them without our knowing; the others never arrive.
    proxy.hit(Fault::HoldAnswer, 2, 1, is_binding);
    proxy.hit(Fault::HoldRequest, 0, 100, is_binding);
    let mut first = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "first", 6, "1", "1Gi")).await;
    until("part of the gang is bound", SOON, async || {
        let placements = cluster.placements("t").await;
        if bound(&placements, "first") == 3 && proxy.hits().len() == 4 {
            Ok(())
        } else {
            Err(format!("{placements:?}, {:?}", proxy.hits()))
        }
    })
    .await;
    first.kill();
    // Another gang has come meanwhile.
    cluster.create_in_order(&gang("t", "second", 4, "1", "1Gi")).await;

    let _second = Scheduler::start(cluster.server).await;
    let whole = async || {
        let placements = cluster.placements("t").await;
        let counts = (bound(&placements, "first"), bound(&placements, "second"));
        if counts == (6, 4) {
            Ok(())
        } else {
            Err(format!("{counts:?}: {placements:?}"))
        }
    };
    until("the gang in part is made whole, and the other too", SOON, whole).await;
    always("it stays so", QUIET, whole).await;
    let answers = bindings(&cluster.scheduler_calls());
    assert!(
        answers.values().all(|codes| codes == &[201]),
        "nothing is bound twice: {answers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_under_a_stream_of_gangs_it_leaves_none_in_part() {
    let cluster = Cluster::shared().await;
    for index in 0..10 {
        cluster.create(&node(&format!("n{index}"), "8", "64Gi")).await;
    }
    let mut scheduler = Scheduler::start(cluster.server).await;
    for round in 0..4 {
        for index in 0..5 {
            cluster
                .create_all(&gang("t", &format!("r{round}g{index}"), 4, "1", "1Gi"))
                .await;
        }
        let enough = 20 * round + 3;
        cluster
            .until_placed("some of the round are bound", |all| {
                all.values().flatten().count() >= enough
            })
            .await;
        scheduler.kill();
        scheduler.launch_again();
    }
    // 80 CPU for 80 pods.
    let placements = cluster.until_all_bound().await;
    assert_eq!(placements.len(), 80);
    let answers = bindings(&cluster.scheduler_calls());
    let twice: Vec<_> = answers
        .iter()
        .filter(|(_, codes)| codes.iter().filter(|&&code| code == 201).count() > 1)
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_waits_for_binds_under_way() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    let late = std::time::Duration::from_secs(2);
    proxy.hit(Fault::DelayAnswer(late), 0, 100, is_binding);
    let mut scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 4, "1", "1Gi")).await;
    until("binds are under way", SOON, async || {
        if proxy.hits().is_empty() {
            Err("no bind yet".to_owned())
        } else {
            Ok(())
        }
    })
    .await;
    scheduler.stop();
    let placements = cluster.placements("t").await;
    assert_eq!(bound(&placements, "g-"), 4, "{placements:?}");
    let events = cluster.list(kinds::EVENT, "t").await;
    let told = events
        .iter()
        .filter(|event| event["reason"] == "Scheduled" && event["involvedObject"]["kind"] == "Pod");
    assert_eq!(told.count(), 4, "their answers were waited for, and told");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_bound_before_all_there_is_is_known() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "2", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    // Queues are the last thing one would think of.
    proxy.hit(Fault::Answer(503), 0, usize::MAX, |method, path| {
        method == "GET" && path.contains("/queues")
    });
    let scheduler = Scheduler::launch(cluster.server, Setup::default().via(&proxy.url()));
    until("queues are asked for in vain", SOON, async || {
        if proxy.hits().len() > 1 {
            Ok(())
        } else {
            Err(format!("{:?}", proxy.hits()))
        }
    })
    .await;
    always("it waits, and is not ready", QUIET, async || {
        if let Ok((200, text)) = scheduler.health("/readyz") {
            return Err(format!("ready: {text}"));
        }
        match &cluster.placements("t").await["g-0"] {
            None => Ok(()),
            Some(node) => Err(format!("bound to {node}")),
        }
    })
    .await;
    let (alive, _) = scheduler.health("/healthz").expect("it answers");
    assert_eq!(alive, 200, "it is healthy all the same");
    proxy.clear();
    cluster.until_all_bound().await;
}
