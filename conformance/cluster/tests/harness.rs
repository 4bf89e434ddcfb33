//! The harness itself: the server obeys, roles bind, the audit log tells, and nothing is left of a test.

use mco_cluster_tests::users::{ADMIN, SCHEDULER};
use mco_cluster_tests::{Cluster, gang, kinds, node, queue};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_created_as_given_and_gone_after_a_reset() {
    let cluster = Cluster::shared().await;
    cluster
        .create(&node("n1", "4", "8Gi").taint("dedicated", "x", "NoSchedule"))
        .await;
    cluster.create(&queue("q", 2)).await;
    cluster.create_in_order(&gang("t", "g", 3, "1", "1Gi")).await;
    let there = cluster
        .get(kinds::NODE, "", "n1")
        .await
        .expect("the node is there");
    assert_eq!(there["status"]["allocatable"]["cpu"], "4");
    assert_eq!(
        there["spec"]["taints"],
        json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    );
    assert_eq!(cluster.placements("t").await.len(), 3);
    cluster.reset().await;
    assert!(cluster.placements("t").await.is_empty());
    for kind in [kinds::NODE, kinds::QUEUE, kinds::POD_GROUP] {
        assert!(cluster.list(kind, "").await.is_empty(), "{}", kind.plural);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scheduler_may_what_the_stock_role_says_and_the_audit_log_tells_what_it_tried() {
    let cluster = Cluster::shared().await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    let scheduler = cluster.server.client(&SCHEDULER).await.expect("a client");
    let listed = kinds::POD_GROUP
        .api(&scheduler, "t")
        .list(&Default::default())
        .await;
    assert_eq!(listed.expect("listing is granted").items.len(), 1);
    let patched = kinds::POD_GROUP
        .api(&scheduler, "t")
        .patch(
            "g",
            &Default::default(),
            &kube::api::Patch::Merge(json!({"spec": {"minMember": 2}})),
        )
        .await;
    let refused = patched.expect_err("patching a PodGroup is not granted");
    assert!(
        matches!(&refused, kube::Error::Api(status) if status.code == 403),
        "{refused}"
    );
    let audit = cluster.server.audit();
    let call = audit
        .until("the refusal", cluster.start(), &SCHEDULER, |call| {
            call.verb == "patch"
        })
        .await;
    assert_eq!(call.line(), "patch podgroups t/g -> 403");
    assert_eq!(call.group, "scheduling.volcano.sh");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}});
    let map = serde_json::from_value(map).expect("a ConfigMap");
    let made = kinds::CONFIG_MAP
        .api(&scheduler, "t")
        .create(&Default::default(), &map)
        .await;
    made.expect("creating a ConfigMap is granted");
    let call = audit
        .until("the ConfigMap", cluster.start(), &SCHEDULER, |call| {
            call.verb == "create"
        })
        .await;
    assert_eq!(call.line(), "create configmaps t/m -> 201");
    assert_eq!(call.body["data"], json!({"a": "b"}));
    assert!(
        cluster.calls(&ADMIN).is_empty(),
        "the administrator's calls are not written down"
    );
}
