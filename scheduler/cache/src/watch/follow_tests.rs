//! A server that answers by a script: what is asked of it, and what comes out.

use super::*;
use crate::store::Store;
use crate::watch::board::State;
use crate::watch::resource;
use crate::watch::settings::NodeSelector;
use http::{Request as Call, Response};
use kube::client::Body;
use mco_objects::Options;
use std::collections::VecDeque;
use std::future::pending;
use std::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// An answer: the code and the body, which then ends.
type Answer = (u16, String);

/// Answers in order; who asks for more waits for ever.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn client(&self) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |call: Call<Body>| {
            let script = script.clone();
            async move {
                let query = call.uri().query().unwrap_or_default().trim_start_matches('&');
                script
                    .asked
                    .lock()
                    .expect("no panic")
                    .push(query.replace("&timeoutSeconds=50", ""));
                let answer = script.answers.lock().expect("no panic").pop_front();
                let Some((code, body)) = answer else {
                    return pending().await;
                };
                let response = Response::builder()
                    .status(code)
                    .body(Body::from(body.into_bytes()));
                Ok::<_, kube::Error>(response.expect("a response"))
            }
        });
        Client::new(service, "default")
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

/// Follows nodes by a script.
struct Bench {
    script: Script,
    board: Arc<Board>,
    deltas: UnboundedReceiver<Delta>,
    stop: CancellationToken,
    _names: watch::Sender<Text>,
}

impl Bench {
    fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let script = Script::default();
        script.answers.lock().expect("no panic").extend(answers);
        let resource = *resource::ALL
            .iter()
            .find(|resource| resource.kind == Kind::Node)
            .expect("nodes are watched");
        let board = Arc::new(Board::new(&[resource]));
        let (sender, deltas) = unbounded_channel();
        let (names, report_name) = watch::channel("cluster".into());
        let stop = CancellationToken::new();
        let track = Track::new(
            Kind::Node,
            Options::default(),
            NodeSelector::default(),
            Arc::new(Store::default()),
        );
        let follower = Follower {
            client: script.client(),
            resource,
            track,
            deltas: sender,
            board: Arc::clone(&board),
            absent_retry: Duration::from_millis(20),
            report_name,
        };
        tokio::spawn(follower.run(stop.clone()));
        Self {
            script,
            board,
            deltas,
            stop,
            _names: names,
        }
    }

    /// The next deltas, as many as are expected, and what was asked until then.
    async fn expect(&mut self, lines: &[&str]) {
        let mut seen = Vec::new();
        while seen.len() < lines.len() {
            let delta = timeout(Duration::from_secs(20), self.deltas.recv()).await;
            seen.push(match delta.expect("a delta in time").expect("it goes on") {
                Delta::Complete => "complete".to_owned(),
                Delta::Event(Event::NodeSet(node)) => node.name.to_string(),
                Delta::Event(Event::NodeRemoved { name }) => format!("no {name}"),
                Delta::Event(other) => format!("{other:?}"),
            });
        }
        assert_eq!(seen, lines);
    }

    /// Waits until the script is at its end and one more was asked for.
    async fn until_asked(&self, calls: &[&str]) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.script.asked().len() < calls.len() && Instant::now() < end {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(self.script.asked(), calls);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

const STREAM: &str = "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=";

fn node(name: &str, version: u32) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}}}}"#)
}

fn change(kind: &str, object: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

fn bookmark(version: u32, annotations: &str) -> String {
    let object = format!(
        r#"{{"kind":"Node","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","annotations":{{{annotations}}}}}}}"#
    );
    change("BOOKMARK", &object)
}

fn end_of_list(version: u32) -> String {
    bookmark(version, r#""k8s.io/initial-events-end":"true""#)
}

fn page(objects: &[String], version: u32, next: &str) -> Answer {
    let body = format!(
        r#"{{"kind":"NodeList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","continue":"{next}"}},"items":[{}]}}"#,
        objects.join(",")
    );
    (200, body)
}

fn refusal(code: u16) -> Answer {
    (
        code,
        format!(
            r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"","code":{code}}}"#
        ),
    )
}

#[tokio::test]
async fn a_streamed_list_goes_on_as_a_watch_and_is_taken_up_where_it_ended() {
    let list = [
        change("ADDED", &node("a", 1)),
        change("ADDED", &node("b", 2)),
        end_of_list(5),
        change("MODIFIED", &node("a", 6)),
        change("DELETED", &node("b", 7)),
        bookmark(9, ""),
    ];
    let later = [change("ADDED", &node("c", 10))];
    let mut bench = Bench::start([(200, list.concat()), (200, later.concat())]);
    bench.expect(&["a", "b", "complete", "a", "no b", "c"]).await;
    bench
        .until_asked(&[
            STREAM,
            "watch=true&allowWatchBookmarks=true&resourceVersion=9",
            "watch=true&allowWatchBookmarks=true&resourceVersion=10",
        ])
        .await;
    assert_eq!(bench.board.status().kinds[0].state, State::Listed);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_listed_in_pages() {
    let too_old = change(
        "ERROR",
        r#"{"kind":"Status","status":"Failure","message":"disabled","code":500}"#,
    );
    for first in [refusal(422), (200, too_old)] {
        let mut bench = Bench::start([
            first,
            page(&[node("a", 1)], 4, "next"),
            page(&[node("b", 2)], 5, ""),
        ]);
        bench.expect(&["a", "b", "complete"]).await;
        bench
            .until_asked(&[
                STREAM,
                "limit=500",
                "limit=500&continue=next",
                "watch=true&allowWatchBookmarks=true&resourceVersion=5",
            ])
            .await;
    }
}

#[tokio::test]
async fn a_version_that_is_too_old_leads_to_a_list_that_removes_what_vanished() {
    let first = [change("ADDED", &node("a", 1)), end_of_list(5), bookmark(6, "")];
    let second = [change("ADDED", &node("b", 90)), end_of_list(99), bookmark(99, "")];
    let gone = change(
        "ERROR",
        r#"{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}"#,
    );
    for answer in [refusal(410), (200, gone)] {
        let mut bench = Bench::start([(200, first.concat()), answer, (200, second.concat())]);
        bench.expect(&["a", "complete", "b", "no a"]).await;
        bench
            .until_asked(&[
                STREAM,
                "watch=true&allowWatchBookmarks=true&resourceVersion=6",
                STREAM,
                "watch=true&allowWatchBookmarks=true&resourceVersion=99",
            ])
            .await;
    }
}

#[tokio::test]
async fn a_list_that_breaks_off_is_begun_again_and_removes_nothing() {
    let broken = change("ADDED", &node("a", 1));
    let whole = [
        change("ADDED", &node("a", 1)),
        change("ADDED", &node("b", 2)),
        end_of_list(5),
    ];
    let mut bench = Bench::start([(200, broken), (200, whole.concat())]);
    bench.expect(&["a", "b", "complete"]).await;
    assert_eq!(bench.board.status().kinds[0].failures, 1);
}

#[tokio::test]
async fn a_kind_that_is_not_served_counts_as_listed_and_is_picked_up_when_it_is() {
    let list = [change("ADDED", &node("a", 1)), end_of_list(5)];
    let mut bench = Bench::start([refusal(404), refusal(404), (200, list.concat())]);
    bench.expect(&["complete", "a"]).await;
    bench.until_asked(&[STREAM, STREAM, STREAM]).await;
}

#[tokio::test]
async fn what_was_seen_is_gone_when_its_kind_is_gone_twice_and_stays_when_the_right_to_see_it_is() {
    let list = [change("ADDED", &node("a", 1)), end_of_list(5), bookmark(6, "")];
    let mut bench = Bench::start([(200, list.concat()), refusal(403), refusal(404), refusal(404)]);
    bench.expect(&["a", "complete", "no a"]).await;
    bench
        .until_asked(&[
            STREAM,
            "watch=true&allowWatchBookmarks=true&resourceVersion=6",
            STREAM,
            STREAM,
            STREAM,
        ])
        .await;
    assert_eq!(bench.board.status().kinds[0].state, State::Absent);
}

#[tokio::test]
async fn nothing_is_complete_while_the_server_does_not_know_us() {
    let list = [change("ADDED", &node("a", 1)), end_of_list(5)];
    let mut bench = Bench::start([refusal(401), refusal(503), (200, list.concat())]);
    bench.expect(&["a", "complete"]).await;
    let status = bench.board.status();
    assert_eq!((status.kinds[0].failures, status.complete), (2, true));
}
