//! The cluster side against a scripted API server: what is asked, and what is made of the answers.
#![cfg(feature = "kubernetes")]

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use mco_analyzer::kubernetes::{KubernetesSink, Names, watch_nodes, watch_rules};
use mco_analyzer::{Analyzer, Config, MemorySink, ReportSink, Rules};
use mco_crds::{NodeEntry, NodeInterferenceReportStatus, NodeStatus};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);
const REPORTS: &str = "/apis/mco.many-core.io/v1alpha1/nodeinterferencereports";
const RULES: &str = "/apis/mco.many-core.io/v1alpha1/namespaces/mco-system/detectionruleconfigs";

/// Answers by method and path, in turn; a watch without an answer left stays open and silent.
#[derive(Default)]
struct Server {
    answers: BTreeMap<(String, String), VecDeque<(u16, String)>>,
    asked: Vec<(String, String, Value)>,
}

#[derive(Clone, Default)]
struct Script(Arc<Mutex<Server>>);

impl Script {
    fn answer(self, ask: (&str, &str), code: u16, body: Value) -> Self {
        self.answer_text(ask, code, body.to_string())
    }

    fn answer_text(self, (method, path): (&str, &str), code: u16, body: String) -> Self {
        let key = (method.to_owned(), path.to_owned());
        self.0
            .lock()
            .unwrap()
            .answers
            .entry(key)
            .or_default()
            .push_back((code, body));
        self
    }

    fn client(&self) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let script = script.clone();
            async move { Ok::<_, Infallible>(script.serve(request).await) }
        });
        Client::new(service, "default")
    }

    async fn serve(&self, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await.unwrap();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let path = parts.uri.path().to_owned();
        let is_watch = parts
            .uri
            .query()
            .is_some_and(|query| query.contains("watch=true"));
        let method = if is_watch {
            "WATCH".to_owned()
        } else {
            parts.method.to_string()
        };
        let answer = {
            let mut server = self.0.lock().unwrap();
            server.asked.push((method.clone(), path.clone(), body));
            server
                .answers
                .get_mut(&(method, path))
                .and_then(VecDeque::pop_front)
        };
        match answer {
            Some((code, text)) => Response::builder()
                .status(code)
                .body(Body::from(text.into_bytes()))
                .unwrap(),
            None if is_watch => std::future::pending().await,
            None => Response::builder()
                .status(404)
                .body(Body::from(refusal(404, &parts.method).to_string().into_bytes()))
                .unwrap(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .asked
            .iter()
            .map(|(method, path, _)| format!("{method} {path}"))
            .collect()
    }

    fn bodies(&self, method: &str) -> Vec<Value> {
        let server = self.0.lock().unwrap();
        server
            .asked
            .iter()
            .filter(|(asked, _, _)| asked == method)
            .map(|(_, _, body)| body.clone())
            .collect()
    }
}

fn refusal(code: u16, method: &Method) -> Value {
    let message = format!("{method} refused");
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": "", "message": message})
}

fn object(version: &str) -> Value {
    json!({"metadata": {"name": "cluster", "resourceVersion": version, "generation": 1}, "status": {"nodes": {"x": 7}}})
}

fn report() -> Arc<NodeInterferenceReportStatus> {
    let entry = NodeEntry {
        status: NodeStatus::Ok,
        interference_level: Some(0.5),
        ..NodeEntry::default()
    };
    Arc::new(NodeInterferenceReportStatus {
        nodes: BTreeMap::from([("n1".to_owned(), entry)]),
        ..NodeInterferenceReportStatus::default()
    })
}

fn status_path() -> String {
    format!("{REPORTS}/cluster/status")
}

#[tokio::test]
async fn a_missing_report_is_created_and_its_status_replaced_from_then_on() {
    let status = status_path();
    let script = Script::default()
        .answer(("POST", REPORTS), 201, object("1"))
        .answer(("PUT", &status), 200, object("2"))
        .answer(("PUT", &status), 200, object("3"));
    let sink = KubernetesSink::new(script.client(), "cluster");
    sink.write(report()).await.unwrap();
    sink.write(report()).await.unwrap();
    let get = format!("GET {REPORTS}/cluster");
    let put = format!("PUT {status}");
    assert_eq!(script.asked(), [get, format!("POST {REPORTS}"), put.clone(), put]);
    let puts = script.bodies("PUT");
    let versions: Vec<_> = puts
        .iter()
        .map(|body| body["metadata"]["resourceVersion"].clone())
        .collect();
    assert_eq!(versions, ["1", "2"], "each write stands on the one before");
    assert_eq!(puts[0]["status"]["nodes"]["n1"]["interferenceLevel"], 0.5);
    assert_eq!(puts[0]["apiVersion"], "mco.many-core.io/v1alpha1");
}

#[tokio::test]
async fn a_conflict_is_read_again_once_and_then_told() {
    let (status, one) = (status_path(), format!("{REPORTS}/cluster"));
    let conflict = || refusal(409, &Method::PUT);
    let script = Script::default()
        .answer(("GET", &one), 200, object("5"))
        .answer(("PUT", &status), 409, conflict())
        .answer(("GET", &one), 200, object("6"))
        .answer(("PUT", &status), 200, object("7"))
        .answer(("PUT", &status), 409, conflict())
        .answer(("GET", &one), 200, object("8"))
        .answer(("PUT", &status), 409, conflict());
    let sink = KubernetesSink::new(script.client(), "cluster");
    sink.write(report()).await.unwrap();
    let error = sink.write(report()).await.unwrap_err().to_string();
    assert_eq!(error, "NodeInterferenceReport/cluster: PUT refused (409)");
}

#[tokio::test]
async fn a_refusal_names_the_rights_that_are_missing() {
    let one = format!("{REPORTS}/cluster");
    let script = Script::default().answer(("GET", &one), 403, refusal(403, &Method::GET));
    let error = KubernetesSink::new(script.client(), "cluster")
        .write(report())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("GET refused (403); grant get and create on nodeinterferencereports"),
        "{error}"
    );
    // Neither the object nor the resource exists.
    let script = Script::default();
    let error = KubernetesSink::new(script.client(), "cluster")
        .write(report())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is the definition of nodeinterferencereports.mco.many-core.io installed?"),
        "{error}"
    );
}

fn rules(version: u32, spec: &Value) -> Value {
    json!({
        "apiVersion": "mco.many-core.io/v1alpha1", "kind": "DetectionRuleConfig",
        "metadata": {
            "name": "cluster", "namespace": "mco-system", "resourceVersion": version.to_string(), "generation": version
        },
        "spec": spec,
    })
}

fn list(kind: &str, items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"resourceVersion": "1"}, "items": items})
}

fn event(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

fn analyzer() -> Arc<Analyzer> {
    Analyzer::new(Config::default(), Rules::default(), Arc::new(MemorySink::new())).unwrap()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

/// Runs the watch on the rules for as long as `check` takes.
async fn with_rules(script: &Script, analyzer: &Arc<Analyzer>, check: impl Future<Output = ()>) {
    let stop = CancellationToken::new();
    let (client, watched, until_stopped) = (script.client(), analyzer.clone(), stop.clone());
    let task =
        tokio::spawn(async move { watch_rules(client, &Names::default(), &watched, until_stopped).await });
    check.await;
    stop.cancel();
    tokio::time::timeout(PATIENCE, task)
        .await
        .expect("the watch did not stop")
        .unwrap();
}

#[tokio::test]
async fn rules_are_loaded_judged_and_the_verdict_is_written_back() {
    let one = format!("{RULES}/cluster/status");
    let good = rules(2, &json!({"thresholds": {"psiIo": 15}}));
    let bad = rules(3, &json!({"thresholds": {"psiIo": "fifteen"}}));
    let script = Script::default()
        .answer(("GET", RULES), 200, list("DetectionRuleConfigList", &[good]))
        .answer(("PATCH", &one), 200, rules(2, &json!({})))
        .answer_text(("WATCH", RULES), 200, event("MODIFIED", &bad))
        .answer(("PATCH", &one), 200, rules(3, &json!({})));
    let analyzer = analyzer();
    with_rules(&script, &analyzer, async {
        until("the bad rules are refused", || !analyzer.rules_verdict().accepted).await;
        until("the refusal is written", || {
            script
                .bodies("PATCH")
                .iter()
                .any(|body| body["status"]["conditions"][0]["status"] == "False")
        })
        .await;
    })
    .await;
    assert_eq!(
        analyzer.rules().thresholds.psi_io,
        15.0,
        "the last valid rules stay"
    );
    assert!(analyzer.health().ready(mco_analyzer::time::Moment(0)).ok);
    let status = script.bodies("PATCH").pop().unwrap();
    assert_eq!(status["status"]["observedGeneration"], 3);
    assert_eq!(status["status"]["conditions"][0]["reason"], "FallbackToLastValid");
    let message = status["status"]["conditions"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("spec.thresholds.psiIo: "), "{message}");
}

#[tokio::test]
async fn deleted_rules_stay_in_force() {
    let good = rules(2, &json!({"thresholds": {"psiIo": 15}}));
    let script = Script::default()
        .answer(
            ("GET", RULES),
            200,
            list("DetectionRuleConfigList", std::slice::from_ref(&good)),
        )
        .answer_text(("WATCH", RULES), 200, event("DELETED", &good));
    let analyzer = analyzer();
    with_rules(&script, &analyzer, async {
        until("the deletion is seen", || {
            analyzer
                .rules_verdict()
                .message
                .contains("the rule object is gone")
        })
        .await;
    })
    .await;
    assert_eq!(analyzer.rules().thresholds.psi_io, 15.0);
}

#[tokio::test]
async fn without_object_or_definition_the_defaults_hold_and_the_analyzer_is_ready() {
    let no_object = Script::default().answer(("GET", RULES), 200, list("DetectionRuleConfigList", &[]));
    let no_definition = Script::default();
    for script in [no_object, no_definition] {
        let analyzer = analyzer();
        with_rules(&script, &analyzer, async {
            until("ready", || {
                analyzer.ready().ok && analyzer.ready().lines.len() == 2
            })
            .await;
        })
        .await;
        assert_eq!(*analyzer.rules(), Rules::default());
        assert!(script.bodies("PATCH").is_empty());
    }
}

#[tokio::test]
async fn rules_that_may_not_be_read_leave_the_defaults_and_hold_up_nothing() {
    let script = Script::default().answer(("GET", RULES), 403, refusal(403, &Method::GET));
    let analyzer = analyzer();
    with_rules(&script, &analyzer, async {
        until("ready", || {
            analyzer.ready().ok && analyzer.ready().lines.len() == 2
        })
        .await;
        let verdict = analyzer.rules_verdict();
        assert_eq!(
            (verdict.accepted, verdict.message.as_str()),
            (
                false,
                "the rule object cannot be read: GET refused; the rules given at start stay in force"
            )
        );
    })
    .await;
    assert_eq!(*analyzer.rules(), Rules::default());
}

#[tokio::test]
async fn only_nodes_of_the_cluster_are_members() {
    let node = |name: &str| {
        json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
            "metadata": {"name": name, "resourceVersion": "2"}
        })
    };
    let nodes = "/api/v1/nodes";
    let script = Script::default()
        .answer(
            ("GET", nodes),
            200,
            list("PartialObjectMetadataList", &[node("n1"), node("n2")]),
        )
        .answer_text(("WATCH", nodes), 200, event("DELETED", &node("n2")));
    let analyzer = analyzer();
    for name in ["n1", "n2", "n3"] {
        let end = CancellationToken::new();
        let (name, id) = analyzer
            .nodes()
            .open_stream(name, mco_analyzer::time::Moment(0), end)
            .unwrap();
        let sample = mco_proto::v1::MetricsSnapshot {
            monotonic_ns: 1,
            sequence: 1,
            ..Default::default()
        };
        let arrival = mco_analyzer::convert::convert(sample, mco_analyzer::time::Moment(0)).arrival;
        analyzer.nodes().take(&name, id, arrival).unwrap();
    }
    assert_eq!(
        analyzer.evaluate().nodes.len(),
        3,
        "before the list every node that reports counts"
    );
    let stop = CancellationToken::new();
    let (client, watched, until_stopped) = (script.client(), analyzer.clone(), stop.clone());
    let task = tokio::spawn(async move { watch_nodes(client, &watched, until_stopped).await });
    until("only n1 is left", || analyzer.evaluate().nodes.keys().eq(["n1"])).await;
    stop.cancel();
    task.await.unwrap();
}
