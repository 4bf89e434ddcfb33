//! The analyzer's process: the report it writes, the rules it reads, and what it does when it cannot.

use kube::api::{DynamicObject, PostParams};
use mco_cluster_tests::collector::{Collector, Load};
use mco_cluster_tests::proxy::TcpProxy;
use mco_cluster_tests::users::ANALYZER;
use mco_cluster_tests::wait::{LONG, SOON, always, until};
use mco_cluster_tests::{Analyzer, Cluster, Detail, Object, Server, kinds, node};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Short, so that tests do not wait for the mean to move.
const WINDOW: &str = "--window=1s";
/// The right to hear of what a test waits for, within the minute that is promised and some grace for a busy machine.
const MINUTE: Duration = Duration::from_secs(75);

fn rules(spec: Value) -> Object {
    Object(json!({
        "apiVersion": "mco.many-core.io/v1alpha1",
        "kind": "DetectionRuleConfig",
        "metadata": {"name": "cluster", "namespace": "mco-system"},
        "spec": spec,
    }))
}

async fn report(cluster: &Cluster<'_>) -> Value {
    cluster
        .get(kinds::REPORT, "", "cluster")
        .await
        .unwrap_or_default()
}

/// Waits until the report's status is as wanted, and returns it.
async fn until_report(cluster: &Cluster<'_>, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    until(what, SOON, async || {
        let status = report(cluster).await["status"].take();
        if wanted(&status) {
            Ok(status)
        } else {
            Err(status.to_string())
        }
    })
    .await
}

/// Waits until the rule object's condition `Accepted` has this status, and returns it.
async fn until_accepted(cluster: &Cluster<'_>, status: &str, generation: u64, within: Duration) -> Value {
    until(
        &format!("Accepted is {status} at generation {generation}"),
        within,
        async || {
            let object = cluster.get(kinds::RULES, "mco-system", "cluster").await;
            let given = object.unwrap_or_default()["status"].take();
            let accepted = given["conditions"].as_array().and_then(|conditions| {
                conditions
                    .iter()
                    .find(|condition| condition["type"] == "Accepted")
            });
            match accepted {
                Some(accepted)
                    if accepted["status"] == status && given["observedGeneration"] == generation =>
                {
                    Ok(accepted.clone())
                }
                _ => Err(given.to_string()),
            }
        },
    )
    .await
}

fn level(status: &Value, node: &str) -> Option<f64> {
    status["nodes"][node]["interferenceLevel"].as_f64()
}

fn has_detection(status: &Value, node: &str, kind: &str) -> bool {
    status["nodes"][node]["detections"]
        .as_array()
        .is_some_and(|all| all.iter().any(|detection| detection["type"] == kind))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_definition_is_structural_and_served() {
    let cluster = Cluster::shared().await;
    let definitions = cluster.list(kinds::CRD, "").await;
    let names: BTreeSet<_> = definitions
        .iter()
        .filter_map(|definition| definition["metadata"]["name"].as_str())
        .collect();
    for name in [
        "detectionruleconfigs.mco.many-core.io",
        "nodeinterferencereports.mco.many-core.io",
        "numatopologies.nodeinfo.volcano.sh",
        "podgroups.scheduling.volcano.sh",
        "queues.scheduling.volcano.sh",
    ] {
        assert!(names.contains(name), "{name} is missing from {names:?}");
    }
    for definition in &definitions {
        let conditions = definition["status"]["conditions"].as_array().expect("conditions");
        let status = |kind: &str| {
            let found = conditions.iter().find(|condition| condition["type"] == kind);
            found.and_then(|condition| condition["status"].as_str())
        };
        let name = &definition["metadata"]["name"];
        assert_eq!(status("Established"), Some("True"), "{name}: {conditions:?}");
        assert_eq!(status("NamesAccepted"), Some("True"), "{name}: {conditions:?}");
        assert_eq!(status("NonStructuralSchema"), None, "{name}: {conditions:?}");
    }
}

/// What kubectl would print of a kind: the columns, and the cells of each object.
async fn table(cluster: &Cluster<'_>, path: &str) -> (Vec<String>, Vec<Vec<Value>>) {
    let request = http::Request::get(path)
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Vec::new())
        .expect("a request");
    let table: Value = cluster.client.request(request).await.expect("a table");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns = list(&table["columnDefinitions"])
        .iter()
        .filter(|column| column["priority"] == 0)
        .map(|column| column["name"].as_str().unwrap_or_default().to_uppercase())
        .collect();
    let rows = list(&table["rows"])
        .iter()
        .map(|row| list(&row["cells"]))
        .collect();
    (columns, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_prints_the_columns_of_every_kind() {
    let cluster = Cluster::shared().await;
    let group = "/apis/mco.many-core.io/v1alpha1";
    let volcano = "/apis/scheduling.volcano.sh/v1beta1";
    let rows = [
        (
            format!("{group}/nodeinterferencereports"),
            vec!["NAME", "NODES", "MAX", "HOT", "STALE", "UPDATED"],
        ),
        (
            format!("{group}/namespaces/mco-system/detectionruleconfigs"),
            vec!["NAME", "ACCEPTED", "AGE"],
        ),
        (
            format!("{volcano}/namespaces/t/podgroups"),
            vec!["NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE"],
        ),
        (format!("{volcano}/queues"), vec!["NAME", "AGE"]),
    ];
    for (path, columns) in rows {
        assert_eq!(table(&cluster, &path).await.0, columns, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_filled_in_and_those_out_of_bounds_are_refused_by_field() {
    let cluster = Cluster::shared().await;
    let refused = [
        (json!({"weights": {"io": -0.1}}), "spec.weights.io"),
        (json!({"weights": {"io": 1.1}}), "spec.weights.io"),
        (json!({"saturation": {"psiIo": 0}}), "spec.saturation.psiIo"),
        (json!({"thresholds": {"psiIo": "20"}}), "spec.thresholds.psiIo"),
        (
            json!({"thresholds": {"psiMemoryFull": 100.5}}),
            "spec.thresholds.psiMemoryFull",
        ),
        (
            json!({"penalties": {"ioMultiplier": 0.9}}),
            "spec.penalties.ioMultiplier",
        ),
        (json!({"weights": [0.3]}), "spec.weights"),
    ];
    for (spec, field) in refused {
        let error = cluster
            .try_create(&rules(spec))
            .await
            .expect_err(field)
            .to_string();
        assert!(error.contains(field), "{error}");
    }
    let given = rules(json!({"weights": null, "thresholds": {"psiIo": 15, "later": "x"}, "later": 1}));
    cluster.create(&given).await;
    let stored = cluster
        .get(kinds::RULES, "mco-system", "cluster")
        .await
        .expect("the rules");
    let spec = &stored["spec"];
    assert_eq!(spec["thresholds"]["psiIo"], 15, "{spec}");
    assert_eq!(spec["thresholds"]["cacheMissRate"], 0.2, "{spec}");
    assert_eq!(
        spec["weights"],
        json!({"cache": 0.3, "memory": 0.3, "io": 0.4}),
        "{spec}"
    );
    assert_eq!(spec["degradedMemory"]["pageScanRateThreshold"], 10_000, "{spec}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_tells_of_every_node_and_is_written_with_the_charts_rights_alone() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    cluster.create(&node("n2", "4", "8Gi")).await;
    let mut analyzer = Analyzer::start(cluster.server, &[WINDOW, "--pod-name=an-0"]).await;
    let calm = Collector::start(&analyzer, "n1", Load::CALM);
    let _hot = Collector::start(&analyzer, "n2", Load::HOT_IO);
    // Of a node that is not in the cluster nothing is said.
    let _foreign = Collector::start(&analyzer, "n9", Load::HOT_IO);
    let status = until_report(&cluster, "n1 is calm and n2 hot", |status| {
        level(status, "n1") == Some(0.0) && has_detection(status, "n2", "IOQueueCongestion")
    })
    .await;
    assert!(level(&status, "n2").is_some_and(|level| level > 0.5), "{status}");
    assert_eq!(status["nodes"]["n2"]["psiAvailable"], true, "{status}");
    assert!(status["nodes"]["n9"].is_null(), "{status}");
    assert_eq!(status["reporter"], "an-0");
    assert_eq!(
        (
            &status["summary"]["nodes"],
            &status["summary"]["hot"],
            &status["summary"]["stale"]
        ),
        (&json!(2), &json!(1), &json!(0)),
        "{status}"
    );
    let (_, rows) = table(
        &cluster,
        "/apis/mco.many-core.io/v1alpha1/nodeinterferencereports",
    )
    .await;
    assert_eq!(rows[0][..2], [json!("cluster"), json!(2)], "{rows:?}");
    assert_eq!(rows[0][2], status["summary"]["maxLevel"], "{rows:?}");
    assert!(
        rows[0][5].as_str().is_some_and(|age| age.ends_with('s')),
        "{rows:?}"
    );

    drop(calm);
    until_report(&cluster, "n1 fell silent", |status| {
        status["nodes"]["n1"]["status"] == "stale"
    })
    .await;
    cluster.delete(kinds::NODE, "", "n2").await;
    until_report(&cluster, "n2 left the cluster", |status| {
        status["nodes"]["n2"].is_null()
    })
    .await;
    // Somebody removes the report: it is made again.
    cluster.delete(kinds::REPORT, "", "cluster").await;
    until_report(&cluster, "the report is back", |status| {
        status["summary"]["stale"] == 1
    })
    .await;

    let calls = cluster.calls(&ANALYZER);
    let refused: Vec<_> = calls
        .iter()
        .filter(|call| call.code == 403)
        .map(|call| call.line())
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let kinds_of_calls: BTreeSet<_> = calls
        .iter()
        .map(|call| format!("{} {}", call.verb, call.target()))
        .collect();
    for call in [
        "create nodeinterferencereports",
        "update nodeinterferencereports/status",
        "list nodes",
    ] {
        assert!(
            kinds_of_calls.contains(call),
            "{call} is not among {kinds_of_calls:?}"
        );
    }
    analyzer
        .process()
        .signal(rustix::process::Signal::TERM)
        .expect("it runs");
    assert!(analyzer.process().wait(SOON).expect("it stops").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_edited_hold_at_once_and_invalid_ones_leave_the_last_good_and_say_so() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    let analyzer = Analyzer::start(cluster.server, &[WINDOW]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::HOT_IO);
    until_report(&cluster, "n1 is hot by the default rules", |status| {
        has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;

    // Latency and pressure both have to be above their thresholds.
    cluster.create(&rules(json!({"thresholds": {"psiIo": 60}}))).await;
    let accepted = until_accepted(&cluster, "True", 1, SOON).await;
    assert_eq!(accepted["reason"], "Parsed");
    let status = until_report(&cluster, "n1 is not hot by the new rules", |status| {
        level(status, "n1").is_some() && !has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
    let hash = status["rulesHash"].clone();

    // The schema lets this through, the analyzer does not.
    let change = json!({"spec": {"weights": {"cache": 0, "memory": 0, "io": 0}, "thresholds": {"psiIo": 1}}});
    cluster.patch(kinds::RULES, "mco-system", "cluster", change).await;
    let refused = until_accepted(&cluster, "False", 2, SOON).await;
    assert_eq!(refused["reason"], "FallbackToLastValid");
    let message = refused["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("spec.weights") && message.contains("the last valid rules stay"),
        "{message}"
    );
    always(
        "the last good rules are in force",
        Duration::from_secs(3),
        async || {
            let status = report(&cluster).await["status"].take();
            if status["rulesHash"] == hash && !has_detection(&status, "n1", "IOQueueCongestion") {
                Ok(())
            } else {
                Err(status.to_string())
            }
        },
    )
    .await;
    let status = report(&cluster).await["status"].take();
    let told = status["conditions"].as_array().is_some_and(|all| {
        all.iter()
            .any(|one| one["type"] == "RulesAccepted" && one["status"] == "False")
    });
    assert!(told, "the report tells of it too: {status}");

    // Good ones are taken again, and outlive their object.
    let change = json!({"spec": {"weights": {"cache": 0.3, "memory": 0.3, "io": 0.4}}});
    cluster.patch(kinds::RULES, "mco-system", "cluster", change).await;
    until_accepted(&cluster, "True", 3, SOON).await;
    let status = until_report(&cluster, "n1 is hot by the rules after that", |status| {
        has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
    cluster.delete(kinds::RULES, "mco-system", "cluster").await;
    until_report(
        &cluster,
        "the rules are those of the object that is gone",
        |now| {
            now["rulesHash"] == status["rulesHash"]
                && now["conditions"].to_string().contains("the rule object is gone")
        },
    )
    .await;
    assert!(cluster.calls(&ANALYZER).iter().all(|call| call.code != 403));
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_come_later_are_found_and_their_absence_is_told_once() {
    let server = Server::start(Detail::Requests)
        .await
        .expect("a server of its own");
    let cluster = Cluster::on(&server).await;
    cluster.prepare_without_crds().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    let analyzer = Analyzer::start(&server, &[WINDOW]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::CALM);
    until("both absences are told", SOON, async || {
        let log = analyzer.log();
        let told = |resource: &str| {
            log.contains(&format!(
                "is the definition of {resource}.mco.many-core.io installed?"
            ))
        };
        if told("nodeinterferencereports") && told("detectionruleconfigs") {
            Ok(())
        } else {
            Err(log)
        }
    })
    .await;
    // Several attempts later.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let log = analyzer.log();
    assert_eq!(log.matches("is the definition of").count(), 2, "{log}");

    cluster.install_crds().await;
    cluster.create(&rules(json!({}))).await;
    until_report(&cluster, "n1 is in the report", |status| {
        level(status, "n1") == Some(0.0)
    })
    .await;
    until_accepted(&cluster, "True", 1, SOON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_right_is_told_once_and_stops_nothing_else() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    let binding = cluster
        .get(kinds::ROLE_BINDING, "mco-system", "mco-analyzer")
        .await
        .expect("the binding");
    cluster
        .delete(kinds::ROLE_BINDING, "mco-system", "mco-analyzer")
        .await;
    let analyzer = Analyzer::start(cluster.server, &[WINDOW]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::HOT_IO);
    // Given back before anything is asserted: other tests need it.
    let found = until_report(&cluster, "a report by the default rules", |status| {
        has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
    let told = found["conditions"].to_string();
    let log = analyzer.log();
    give_back(&cluster, binding).await;
    assert!(
        told.contains("the rule object cannot be read") && told.contains("forbidden"),
        "{told}"
    );
    assert_eq!(
        log.matches("the detection rules cannot be watched").count(),
        1,
        "{log}"
    );

    cluster.create(&rules(json!({"thresholds": {"psiIo": 60}}))).await;
    until_accepted(&cluster, "True", 1, SOON).await;
    until_report(&cluster, "the rules hold", |status| {
        level(status, "n1").is_some() && !has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
}

async fn give_back(cluster: &Cluster<'_>, mut binding: Value) {
    if let Some(metadata) = binding["metadata"].as_object_mut() {
        metadata.retain(|key, _| key == "name" || key == "namespace");
    }
    let object: DynamicObject = serde_json::from_value(binding).expect("a binding");
    kinds::ROLE_BINDING
        .api(&cluster.client, "mco-system")
        .create(&PostParams::default(), &object)
        .await
        .expect("the binding is given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_is_away_for_a_while_is_told_once_and_found_again() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    cluster.create(&rules(json!({}))).await;
    let analyzer = Analyzer::start(cluster.server, &[WINDOW]).await;
    let collector = Collector::start(&analyzer, "n1", Load::CALM);
    until_report(&cluster, "n1 is calm", |status| level(status, "n1") == Some(0.0)).await;
    until_accepted(&cluster, "True", 1, SOON).await;

    cluster.server.stop_api();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(analyzer.page("/livez").expect("it answers").0, 200);
    assert_eq!(analyzer.page("/readyz").expect("it answers").0, 200);
    collector.suffers(Load::HOT_IO);
    cluster.server.start_api().await.expect("it comes back");
    cluster
        .patch(
            kinds::RULES,
            "mco-system",
            "cluster",
            json!({"spec": {"thresholds": {"psiIo": 30}}}),
        )
        .await;
    until_report(&cluster, "the report tells of now", |status| {
        has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
    until_accepted(&cluster, "True", 2, SOON).await;
    let log = analyzer.log();
    for line in [
        "cannot write the report",
        "the detection rules cannot be watched",
        "the nodes cannot be watched",
    ] {
        let count = log.matches(line).count();
        // Refused connections, and perhaps a server that is not ready yet.
        assert!((1..=3).contains(&count), "{count} times {line}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_went_silent_are_given_up_within_a_minute() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "8Gi")).await;
    cluster.create(&rules(json!({}))).await;
    let proxy = TcpProxy::start(cluster.server.port()).await.expect("a proxy");
    let analyzer = Analyzer::start_via(cluster.server, &proxy.url(), &[WINDOW]).await;
    let _collector = Collector::start(&analyzer, "n1", Load::HOT_IO);
    until_report(&cluster, "n1 is hot", |status| {
        has_detection(status, "n1", "IOQueueCongestion")
    })
    .await;
    until_accepted(&cluster, "True", 1, SOON).await;

    proxy.freeze();
    let old = report(&cluster).await["status"]["lastUpdateTime"].clone();
    cluster
        .patch(
            kinds::RULES,
            "mco-system",
            "cluster",
            json!({"spec": {"thresholds": {"psiIo": 60}}}),
        )
        .await;
    cluster.create(&node("n2", "4", "8Gi")).await;
    let _newcomer = Collector::start(&analyzer, "n2", Load::CALM);
    until_report(&cluster, "reports go on over a new connection", |status| {
        status["lastUpdateTime"] != old
    })
    .await;
    until_accepted(&cluster, "True", 2, MINUTE).await;
    until("the new node was heard of", LONG, async || {
        let status = report(&cluster).await["status"].take();
        if status["nodes"]["n2"]["status"] == "ok" {
            Ok(())
        } else {
            Err(status.to_string())
        }
    })
    .await;
}
