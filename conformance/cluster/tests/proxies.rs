//! The proxies: what a client sees of each fault, and what the server does meanwhile.

use kube::api::PostParams;
use kube::{Client, Config, config::Kubeconfig};
use mco_cluster_tests::proxy::{Fault, HttpProxy, TcpProxy};
use mco_cluster_tests::users::ADMIN;
use mco_cluster_tests::{Cluster, kinds, node};
use std::path::Path;
use std::time::Duration;

/// Long enough for what works, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a silent connection is watched. It does not depend on the machine: no answer comes at all.
const SILENCE: Duration = Duration::from_millis(500);

/// A client that never tries again by itself.
async fn client(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &Default::default())
        .await
        .expect("a config");
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

async fn list_nodes(client: &Client) -> kube::Result<usize> {
    Ok(kinds::NODE
        .api(client, "")
        .list(&Default::default())
        .await?
        .items
        .len())
}

async fn create_node(client: &Client, name: &str) -> kube::Result<()> {
    let node = serde_json::from_value(node(name, "1", "1Gi").0).expect("a node");
    kinds::NODE
        .api(client, "")
        .create(&PostParams::default(), &node)
        .await
        .map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_pass_go_silent_are_refused_and_pass_again() {
    let cluster = Cluster::shared().await;
    let proxy = TcpProxy::start(cluster.server.port()).await.expect("a proxy");
    let kubeconfig = cluster.server.kubeconfig_via(&ADMIN, &proxy.url());
    let old = client(&kubeconfig).await;
    assert_eq!(list_nodes(&old).await.expect("it passes"), 0);

    proxy.freeze();
    let unheard = tokio::time::timeout(SILENCE, list_nodes(&old)).await;
    assert!(
        unheard.is_err(),
        "an open connection went silent, yet answered {unheard:?}"
    );
    let new = client(&kubeconfig).await;
    assert_eq!(list_nodes(&new).await.expect("new connections pass"), 0);

    proxy.black_hole();
    let newer = client(&kubeconfig).await;
    let unheard = tokio::time::timeout(SILENCE, list_nodes(&newer)).await;
    assert!(
        unheard.is_err(),
        "a new connection is silent, yet answered {unheard:?}"
    );

    proxy.refuse().await;
    let refused = tokio::time::timeout(PATIENCE, list_nodes(&client(&kubeconfig).await)).await;
    assert!(refused.expect("a refusal is quick").is_err(), "nobody listens");

    proxy.pass().await;
    assert_eq!(
        list_nodes(&client(&kubeconfig).await)
            .await
            .expect("it passes again"),
        0
    );

    let passed = proxy.connections();
    let client = client(&kubeconfig).await;
    list_nodes(&client).await.expect("it passes");
    proxy.reset();
    // The client may find its connection closed before it writes, and then opens another.
    let _ = list_nodes(&client).await;
    list_nodes(&client).await.expect("a new connection passes");
    assert!(
        proxy.connections() > passed + 1,
        "the reset connection was not used again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_or_its_answer_is_lost_and_the_server_did_or_did_not_do_it() {
    let cluster = Cluster::shared().await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    let client = client(&cluster.server.kubeconfig_via(&ADMIN, &proxy.url())).await;
    let creates = |method: &hyper::Method, path: &str| method == "POST" && path.starts_with("/api/v1/nodes");

    proxy.hit(Fault::LoseAnswer, 1, 1, creates);
    create_node(&client, "n1").await.expect("the first passes");
    create_node(&client, "n2").await.expect_err("the answer is lost");
    assert!(
        cluster.get(kinds::NODE, "", "n2").await.is_some(),
        "the server did it"
    );
    create_node(&client, "n3").await.expect("only one is hit");

    proxy.hit(Fault::LoseRequest, 0, 1, creates);
    create_node(&client, "n4").await.expect_err("the request is lost");
    assert!(
        cluster.get(kinds::NODE, "", "n4").await.is_none(),
        "the server never heard of it"
    );

    proxy.hit(Fault::Answer(503), 0, 1, creates);
    let refused = create_node(&client, "n4")
        .await
        .expect_err("answered by the proxy");
    assert!(
        matches!(&refused, kube::Error::Api(status) if status.code == 503),
        "{refused}"
    );

    proxy.hit(Fault::HoldAnswer, 0, 1, creates);
    let unheard = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            result = create_node(&client, "n4") => panic!("answered with {result:?}"),
            () = async { while cluster.get(kinds::NODE, "", "n4").await.is_none() {} } => {}
        }
    });
    unheard.await.expect("the server did it");
    assert_eq!(proxy.hits(), ["POST /api/v1/nodes?"; 4]);
    assert_eq!(list_nodes(&client).await.expect("others pass"), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_was_away_comes_back_with_what_it_knew() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "1", "1Gi")).await;
    cluster.server.stop_api();
    let client = client(&cluster.server.kubeconfig(&ADMIN)).await;
    list_nodes(&client).await.expect_err("it is away");
    cluster.server.start_api().await.expect("it comes back");
    assert_eq!(list_nodes(&client).await.expect("it is back"), 1);
}
