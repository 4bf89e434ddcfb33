//! A server that answers by a rule: what is asked of it, and what comes back as events.

use super::*;
use crate::command::{GroupRef, PodRef};
use crate::raw::Head;
use crate::store::NodeState;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What the server does with a call.
enum Does {
    Answer(u16, Value),
    /// The connection breaks before an answer.
    Break,
}

type Calls = Arc<Mutex<Vec<(String, Value)>>>;

struct Bench {
    writer: Writer,
    store: Arc<Store>,
    deltas: UnboundedReceiver<Delta>,
    calls: Calls,
    permit: Permit,
}

impl Bench {
    /// The rule gets the verb with the path, and how often it was asked that before.
    fn start(rule: impl Fn(&str, usize) -> Does + Send + Sync + 'static) -> Self {
        let calls: Calls = Arc::default();
        let (heard, rule) = (Arc::clone(&calls), Arc::new(rule));
        let service = tower::service_fn(move |call: Request<Body>| {
            let (heard, rule) = (Arc::clone(&heard), Arc::clone(&rule));
            async move {
                let what = format!("{} {}", call.method(), call.uri().path());
                let body = call.into_body().collect_bytes().await?;
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let before = {
                    let mut heard = lock(&heard);
                    let before = heard.iter().filter(|(said, _)| *said == what).count();
                    heard.push((what.clone(), body));
                    before
                };
                match rule(&what, before) {
                    Does::Answer(code, body) => Ok(Response::builder()
                        .status(code)
                        .body(Body::from(body.to_string().into_bytes()))
                        .expect("a response")),
                    Does::Break => Err(kube::Error::LinesCodecMaxLineLengthExceeded),
                }
            }
        });
        let (sender, deltas) = unbounded_channel();
        let store = Arc::new(Store::default());
        store.set_node(
            "n1",
            NodeState {
                ready: true,
                unschedulable: false,
            },
        );
        store.set_nodes_current(true);
        let permit = Permit::always();
        let settings = WriteSettings {
            limits: Limits { qps: 0.0, burst: 1.0 },
            component: "volcano".to_owned(),
            options: Options::default(),
            permit: permit.clone(),
        };
        let door = Door::new(Client::new(service, "default"));
        let bench = Self {
            writer: Writer::start(door, Arc::clone(&store), sender, settings),
            store,
            deltas,
            calls,
            permit,
        };
        bench.see(&pod_json("u", ""));
        bench
    }

    fn see(&self, pod: &Value) {
        let text = pod.to_string();
        let head = Head::of(&text).expect("a head");
        self.store.set_pod(&head, &text).expect("a pod");
    }

    fn bind(&self) {
        self.bind_with(&[]);
    }

    fn bind_with(&self, annotations: &[(&str, &str)]) {
        let annotations = annotations
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()));
        self.writer.send(Command::Bind {
            pod: pod_ref(),
            node: "n1".into(),
            annotations: annotations.collect(),
        });
    }

    async fn answer(&mut self) -> Event {
        let patience = Duration::from_secs(30);
        let delta = tokio::time::timeout(patience, self.deltas.recv()).await;
        match delta.expect("an answer comes").expect("the writer is there") {
            Delta::Event(event) => event,
            Delta::Complete => panic!("nothing is listed here"),
        }
    }

    /// Verbs and paths so far, events left out.
    fn asked(&self) -> Vec<String> {
        let calls = lock(&self.calls);
        let asked = calls.iter().filter(|(what, _)| !what.ends_with("/events"));
        asked.map(|(what, _)| what.clone()).collect()
    }

    /// Reasons of the events written, once all are.
    async fn told(&self) -> Vec<String> {
        self.writer.shared.events.quiet().await;
        let calls = lock(&self.calls);
        let events = calls.iter().filter(|(what, _)| what.ends_with("/events"));
        events
            .map(|(_, body)| {
                let about = &body["involvedObject"];
                format!(
                    "{}/{}: {}: {}",
                    about["kind"].as_str().unwrap_or_default(),
                    about["name"].as_str().unwrap_or_default(),
                    body["reason"].as_str().unwrap_or_default(),
                    body["message"].as_str().unwrap_or_default()
                )
            })
            .collect()
    }
}

fn pod_ref() -> PodRef {
    PodRef {
        namespace: "t".into(),
        name: "p".into(),
        uid: "u".into(),
    }
}

fn pod_json(uid: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "t", "name": "p", "uid": uid, "resourceVersion": "5", "annotations": {"a": "b"}},
        "spec": {"nodeName": node, "schedulerName": "volcano"},
        "status": {"phase": "Pending"},
    })
}

const BIND: &str = "POST /api/v1/namespaces/t/pods/p/binding";
const GET: &str = "GET /api/v1/namespaces/t/pods/p";
const STATUS: &str = "PUT /api/v1/namespaces/t/pods/p/status";
const DELETE: &str = "DELETE /api/v1/namespaces/t/pods/p";

fn refused(code: u16) -> Does {
    Does::Answer(code, json!({"message": "no"}))
}

#[tokio::test]
async fn a_bind_carries_uid_and_annotations_and_is_told() {
    let mut bench = Bench::start(|_, _| Does::Answer(201, json!({})));
    bench.bind();
    assert!(matches!(bench.answer().await, Event::Bound { uid } if &*uid == "u"));
    let body = lock(&bench.calls)[0].1.clone();
    assert_eq!(
        body["metadata"],
        json!({"name": "p", "namespace": "t", "uid": "u", "annotations": {"a": "b"}})
    );
    assert_eq!(body["target"], json!({"kind": "Node", "name": "n1"}));
    assert_eq!(
        bench.told().await,
        ["Pod/p: Scheduled: Successfully assigned t/p to n1"]
    );
}

#[tokio::test]
async fn a_bind_adds_annotations_to_those_of_the_pod() {
    let mut bench = Bench::start(|_, _| Does::Answer(201, json!({})));
    bench.bind_with(&[("a", "new"), ("x.io/card", "0,1")]);
    assert!(matches!(bench.answer().await, Event::Bound { uid } if &*uid == "u"));
    let body = lock(&bench.calls)[0].1.clone();
    assert_eq!(
        body["metadata"]["annotations"],
        json!({"a": "new", "x.io/card": "0,1"})
    );
}

#[tokio::test]
async fn what_became_of_a_bind_is_looked_up_when_its_answer_says_nothing() {
    // What the bind is answered with, what the pod then is, and what that means.
    type Row = (fn() -> Does, fn() -> Does, &'static str);
    let bound = || Does::Answer(200, pod_json("u", "n1"));
    let unbound = || Does::Answer(200, pod_json("u", ""));
    let elsewhere = || Does::Answer(200, pod_json("u", "n2"));
    let another = || Does::Answer(200, pod_json("v", ""));
    let rows: [Row; 7] = [
        (|| Does::Break, bound, "Bound"),
        (|| refused(504), bound, "Bound"),
        (|| refused(409), bound, "Bound"),
        (|| Does::Break, unbound, "BindFailed"),
        (|| refused(409), elsewhere, "PodSet on n2"),
        (|| Does::Break, another, "BindFailed"),
        (|| Does::Break, || refused(404), "BindFailed"),
    ];
    for (number, (answer, then, expected)) in rows.into_iter().enumerate() {
        let mut bench = Bench::start(move |what, before| match (what, before) {
            (BIND, _) => answer(),
            // The look-up itself may fail, and is made until it says something.
            (GET, 0) => Does::Break,
            (GET, _) => then(),
            _ => Does::Answer(201, json!({})),
        });
        bench.bind();
        let found = match bench.answer().await {
            Event::Bound { .. } => "Bound".to_owned(),
            Event::BindFailed { .. } => "BindFailed".to_owned(),
            Event::PodSet(pod) => format!("PodSet on {}", pod.node),
            other => format!("{other:?}"),
        };
        assert_eq!(found, expected, "row {number}");
        assert_eq!(bench.asked(), [BIND, GET, GET], "row {number}: never sent twice");
        assert!(bench.deltas.try_recv().is_err(), "row {number}: answered once");
    }
}

#[tokio::test]
async fn a_bind_that_would_be_wrong_by_now_is_not_sent() {
    let quiet = |_: &str, _: usize| refused(404);
    let mut bench = Bench::start(quiet);
    bench.store.forget_node("n1");
    bench.bind();
    let answer = bench.answer().await;
    assert!(
        matches!(&answer, Event::BindFailed { message, .. } if message.contains("n1 is gone")),
        "{answer:?}"
    );
    let mut bench = Bench::start(quiet);
    bench.store.forget_pod("t/p");
    bench.bind();
    assert!(matches!(bench.answer().await, Event::BindFailed { .. }));
    assert_eq!(bench.asked(), [GET], "it was looked up, not bound");
    let mut bench = Bench::start(quiet);
    bench.permit.revoke();
    bench.bind();
    let answer = bench.answer().await;
    assert!(
        matches!(&answer, Event::BindFailed { message, .. } if message.contains("lease")),
        "{answer:?}"
    );
    assert_eq!(bench.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_node_is_asked_for_while_nodes_are_not_watched() {
    const NODE: &str = "GET /api/v1/nodes/n1";
    let mut bench = Bench::start(|what, _| match what {
        NODE => refused(404),
        _ => Does::Answer(201, json!({})),
    });
    bench.store.set_nodes_current(false);
    bench.bind();
    assert!(matches!(bench.answer().await, Event::BindFailed { .. }));
    assert_eq!(bench.asked(), [NODE]);
}

#[tokio::test]
async fn an_evicted_pod_is_marked_deleted_by_uid_and_told() {
    let bench = Bench::start(|what, _| match what {
        GET => Does::Answer(200, pod_json("u", "n1")),
        _ => Does::Answer(200, json!({})),
    });
    bench.writer.send(Command::Evict {
        pod: pod_ref(),
        reason: "preempt",
        group: Some(GroupRef {
            namespace: "t".into(),
            name: "g".into(),
            uid: "ug".into(),
        }),
    });
    assert!(bench.writer.drain_when_idle().await);
    assert_eq!(bench.asked(), [GET, STATUS, DELETE]);
    let calls = lock(&bench.calls).clone();
    let condition = &calls[1].1["status"]["conditions"][0];
    assert_eq!(
        (
            &condition["type"],
            &condition["status"],
            &condition["reason"],
            &condition["message"]
        ),
        (
            &json!("Ready"),
            &json!("False"),
            &json!("Evict"),
            &json!("Pod is evicted, because of preempt")
        )
    );
    assert_eq!(calls[2].1["preconditions"]["uid"], "u");
    let mut told = bench.told().await;
    told.sort();
    assert_eq!(
        told,
        [
            "Pod/p: Evict: Pod is evicted, because of preempt",
            "PodGroup/g: Evict: preempt"
        ]
    );
}

#[tokio::test]
async fn an_eviction_whose_answer_is_lost_is_sent_again_and_one_refused_is_answered() {
    let bench = Bench::start(|what, before| match (what, before) {
        (GET, _) => Does::Answer(200, pod_json("u", "n1")),
        (DELETE, 0) => Does::Break,
        (DELETE, _) => refused(404),
        _ => Does::Answer(200, json!({})),
    });
    let evict = || Command::Evict {
        pod: pod_ref(),
        reason: "reclaim",
        group: None,
    };
    bench.writer.send(evict());
    assert!(bench.writer.drain_when_idle().await);
    assert_eq!(
        bench.asked(),
        [GET, STATUS, DELETE, DELETE],
        "gone is what was wanted"
    );

    let mut bench = Bench::start(|what, _| match what {
        GET => Does::Answer(200, pod_json("u", "n1")),
        DELETE => refused(403),
        _ => Does::Answer(200, json!({})),
    });
    bench.writer.send(evict());
    assert!(matches!(bench.answer().await, Event::EvictFailed { uid, .. } if &*uid == "u"));
    assert_eq!(bench.told().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_latest_wish_for_a_condition_wins_and_brings_its_event() {
    let bench = Bench::start(|what, _| match what {
        STATUS => Does::Answer(200, pod_json("u", "")),
        _ => Does::Answer(201, json!({})),
    });
    for message in ["one", "two"] {
        bench.writer.send(Command::PodCondition {
            pod: pod_ref(),
            reason: "Unschedulable".into(),
            message: message.into(),
        });
    }
    bench.writer.status.quiet().await;
    assert_eq!(bench.asked(), [STATUS]);
    let body = lock(&bench.calls)[0].1.clone();
    assert_eq!(body["status"]["conditions"][0]["message"], "two");
    assert_eq!(
        body["status"]["phase"], "Pending",
        "the rest of the status is kept"
    );
    assert_eq!(bench.told().await, ["Pod/p: FailedScheduling: two"]);
}

impl Writer {
    /// Waits until what was sent is under way, and then for its end.
    async fn drain_when_idle(&self) -> bool {
        tokio::task::yield_now().await;
        let began = std::time::Instant::now();
        while lock_free(&self.shared.evict_slots, EVICTS_AT_ONCE)
            && began.elapsed() < Duration::from_millis(200)
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let all = u32::try_from(EVICTS_AT_ONCE).expect("few");
        let waited = self.shared.evict_slots.acquire_many(all);
        let ended = tokio::time::timeout(Duration::from_secs(30), waited).await;
        // The event is queued right after the slot is given back.
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        ended.is_ok()
    }
}

fn lock_free(slots: &Semaphore, all: usize) -> bool {
    slots.available_permits() == all
}
