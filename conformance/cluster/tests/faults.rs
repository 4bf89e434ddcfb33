//! Answers that are lost, an API server that is away, watches that go silent: nothing is bound twice and nothing is forgotten.

use mco_cluster_tests::audit::bindings;
use mco_cluster_tests::proxy::{Fault, HttpProxy, TcpProxy, is_binding};
use mco_cluster_tests::users::SCHEDULER;
use mco_cluster_tests::wait::{LONG, QUIET, SOON, always, until};
use mco_cluster_tests::{Call, Cluster, Detail, Object, Scheduler, Server, Setup, gang, kinds, node};
use serde_json::json;
use std::time::Duration;

async fn until_event(cluster: &Cluster<'_>, pod: &str, reason: &str) {
    until(&format!("the event {reason} on {pod}"), SOON, async || {
        let events = cluster.list(kinds::EVENT, "t").await;
        let about = events
            .iter()
            .filter(|event| event["involvedObject"]["name"] == pod);
        let reasons: Vec<String> = about.map(|event| event["reason"].to_string()).collect();
        if reasons.iter().any(|text| text.contains(reason)) {
            Ok(())
        } else {
            Err(format!("{reasons:?}"))
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_whose_answer_is_lost_is_looked_up_and_not_repeated() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    proxy.hit(Fault::LoseAnswer, 1, 1, is_binding);
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 3, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    assert_eq!(proxy.hits().len(), 1, "one answer was lost");
    for pod in ["g-0", "g-1", "g-2"] {
        until_event(&cluster, pod, "Scheduled").await;
    }
    always("no pod is bound again", QUIET, async || {
        let answers = bindings(&cluster.scheduler_calls());
        if answers.values().all(|codes| codes == &[201]) {
            Ok(())
        } else {
            Err(format!("{answers:?}"))
        }
    })
    .await;
    let looked_up = cluster
        .scheduler_calls()
        .iter()
        .filter(|call| call.verb == "get" && call.resource == "pods")
        .count();
    assert_eq!(looked_up, 1, "only the pod whose answer was lost is looked up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_that_never_reached_the_server_is_sent_again() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    proxy.hit(Fault::LoseRequest, 0, 2, is_binding);
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 3, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    assert_eq!(proxy.hits().len(), 2);
    let answers = cluster.server.audit();
    answers
        .until("the last binding", cluster.start(), &SCHEDULER, |_| {
            bindings(&cluster.scheduler_calls()).len() == 3
        })
        .await;
    let answers = bindings(&cluster.scheduler_calls());
    assert!(answers.values().all(|codes| codes == &[201]), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_that_hangs_is_given_up_and_looked_up() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    // One that the server did, and one that it never heard of.
    proxy.hit(Fault::HoldAnswer, 0, 1, is_binding);
    proxy.hit(Fault::HoldRequest, 0, 1, is_binding);
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 4, "1", "1Gi")).await;
    until("all pods are bound", LONG, async || {
        let placements = cluster.placements("t").await;
        if placements.values().all(Option::is_some) {
            Ok(())
        } else {
            Err(format!("{placements:?}"))
        }
    })
    .await;
    for pod in ["g-0", "g-1", "g-2", "g-3"] {
        until_event(&cluster, pod, "Scheduled").await;
    }
    let answers = bindings(&cluster.scheduler_calls());
    assert!(
        answers
            .values()
            .all(|codes| codes.iter().filter(|&&code| code == 201).count() == 1),
        "{answers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_binds_and_status_writes_are_tried_again() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    proxy.hit(Fault::Answer(500), 0, 2, is_binding);
    proxy.hit(Fault::Answer(503), 0, 2, is_binding);
    proxy.hit(Fault::Answer(429), 0, 2, is_binding);
    proxy.hit(Fault::Answer(409), 0, 2, |method, path| {
        method == "PUT" && path.contains("/podgroups/")
    });
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 4, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    until("the PodGroup is Running", SOON, async || {
        let group = cluster.get(kinds::POD_GROUP, "t", "g").await.ok_or("no group")?;
        if group["status"]["phase"] == "Running" {
            Ok(())
        } else {
            Err(group["status"].to_string())
        }
    })
    .await;
    let binds = proxy.hits().iter().filter(|hit| hit.contains("/binding")).count();
    assert!(binds >= 2, "binds were refused: {:?}", proxy.hits());
    let answers = bindings(&cluster.scheduler_calls());
    assert!(answers.values().all(|codes| codes == &[201]), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_after_the_api_server_was_away() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "32Gi")).await;
    cluster.create(&node("n2", "4", "32Gi")).await;
    let mut scheduler = Scheduler::start(cluster.server).await;
    cluster.create_in_order(&gang("t", "before", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    cluster.server.stop_api();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(
        scheduler.ended().is_none(),
        "it waits for the server to come back"
    );
    cluster.server.start_api().await.expect("it comes back");
    cluster.create_in_order(&gang("t", "after", 6, "1", "1Gi")).await;
    let placements = cluster.until_all_bound().await;
    assert_eq!(
        placements.len(),
        8,
        "what was bound before counts: both nodes are full"
    );
    cluster.create_in_order(&gang("t", "none", 1, "1", "1Gi")).await;
    always("there is no room left", QUIET, async || {
        match &cluster.placements("t").await["none-0"] {
            None => Ok(()),
            Some(node) => Err(format!("bound to {node}")),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_watch_is_noticed_within_a_minute() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "32Gi")).await;
    let proxy = TcpProxy::start(cluster.server.port()).await.expect("a proxy");
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "before", 1, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    proxy.freeze();
    cluster.create_in_order(&gang("t", "after", 1, "1", "1Gi")).await;
    // A minute to notice, and time to act upon it.
    until("the pod is bound that came in the silence", LONG, async || {
        let placements = cluster.placements("t").await;
        if placements["after-0"].is_some() {
            Ok(())
        } else {
            Err(format!("{placements:?}"))
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_vanished_while_watches_were_broken_is_not_scheduled_onto() {
    // Restarts its server, whose watch history then begins anew: resuming is answered with 410.
    let server = Server::start(Detail::Requests).await.expect("a server");
    let cluster = Cluster::on(&server).await;
    cluster.prepare().await;
    for name in ["gone", "stays"] {
        cluster.create(&node(name, "4", "32Gi")).await;
    }
    // Nobody may go there; it keeps the queue from being short.
    cluster
        .create(&node("large", "64", "256Gi").taint("dedicated", "x", "NoSchedule"))
        .await;
    let proxy = TcpProxy::start(server.port()).await.expect("a proxy");
    let _scheduler = Scheduler::start_with(&server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "before", 6, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    proxy.refuse().await;
    cluster.delete(kinds::NODE, "", "gone").await;
    // All of them, as garbage collection does: pods left on a node that is gone still count against their queue.
    for pod in cluster.placements("t").await.into_keys() {
        cluster.delete(kinds::POD, "t", &pod).await;
    }
    server.stop_api();
    server.start_api().await.expect("it comes back");
    proxy.pass().await;
    // All of the node that stayed is free again, and the one that vanished takes nobody.
    let objects: Vec<Object> = gang("t", "after", 4, "1", "1Gi");
    cluster.create_in_order(&objects).await;
    let placements = until("the new gang is bound", LONG, async || {
        let placements = cluster.placements("t").await;
        let bound = placements
            .iter()
            .filter(|(pod, node)| pod.starts_with("after-") && node.is_some())
            .count();
        if bound == 4 {
            Ok(placements)
        } else {
            Err(format!("{placements:?}"))
        }
    })
    .await;
    for (pod, node) in placements.iter().filter(|(pod, _)| pod.starts_with("after-")) {
        assert_eq!(node.as_deref(), Some("stays"), "{pod}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_was_replaced_by_one_of_its_name_is_not_bound_in_its_stead() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    proxy.hit(Fault::HoldRequest, 0, 1, is_binding);
    let _scheduler = Scheduler::start_with(cluster.server, Setup::default().via(&proxy.url())).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    until("the bind is under way", SOON, async || {
        if proxy.hits().is_empty() {
            Err("no bind yet".to_owned())
        } else {
            Ok(())
        }
    })
    .await;
    cluster.delete(kinds::POD, "t", "g-0").await;
    let replacement = mco_cluster_tests::pod("t", "g-0").group("g").requests("1", "1Gi");
    cluster.create(&replacement).await;
    let new = cluster.get(kinds::POD, "t", "g-0").await.expect("it is there");
    until("the new pod is bound", LONG, async || {
        let placements = cluster.placements("t").await;
        if placements["g-0"].is_some() {
            Ok(())
        } else {
            Err(format!("{placements:?}"))
        }
    })
    .await;
    let is_ours = |call: &Call| call.target() == "pods/binding" && call.code == 201;
    let call = cluster
        .server
        .audit()
        .until("the binding", cluster.start(), &SCHEDULER, is_ours)
        .await;
    assert_eq!(
        call.body["metadata"]["uid"],
        new["metadata"]["uid"],
        "the pod's UID is in the binding: {}",
        json!(call.body)
    );
}
