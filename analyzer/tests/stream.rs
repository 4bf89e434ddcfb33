//! The analyzer over real sockets: streams in, reports out, and what happens to those who misbehave.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mco_analyzer::metrics::Rejection;
use mco_analyzer::sink::SinkFuture;
use mco_analyzer::{Analyzer, Config, MemorySink, ReportSink, Rules, RulesUpdate, SinkError};
use mco_crds::{NodeEntry, NodeInterferenceReportStatus, NodeStatus};
use mco_proto::v1::analyzer_service_client::AnalyzerServiceClient;
use mco_proto::v1::stream_ack::Status as Ack;
use mco_proto::v1::{BlockMetrics, CacheMetrics, MetricsSnapshot, PsiMetrics, StreamAck};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, Streaming};

/// Longer than anything here takes, shorter than a hung test is fun.
const PATIENCE: Duration = Duration::from_secs(20);

struct Running {
    analyzer: Arc<Analyzer>,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(config: Config, sink: Arc<dyn ReportSink>) -> Self {
        let analyzer = Analyzer::new(config, Rules::default(), sink).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (running, until) = (analyzer.clone(), stop.clone());
        let task = tokio::spawn(async move { running.run(listener, until).await.unwrap() });
        Self {
            analyzer,
            address,
            stop,
            task,
        }
    }

    async fn stream(&self) -> Node {
        let mut client = AnalyzerServiceClient::connect(format!("http://{}", self.address))
            .await
            .unwrap();
        let (send, receive) = mpsc::channel(128);
        let answers = client
            .stream_metrics(ReceiverStream::new(receive))
            .await
            .unwrap()
            .into_inner();
        Node { send, answers }
    }

    async fn entry(&self, node: &str, mut wanted: impl FnMut(&NodeEntry) -> bool) -> NodeEntry {
        let mut reports = self.analyzer.subscribe();
        let report = tokio::time::timeout(
            PATIENCE,
            reports.wait_for(|report| report.nodes.get(node).is_some_and(&mut wanted)),
        );
        report.await.expect("the report never said so").unwrap().nodes[node].clone()
    }

    async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("the analyzer did not stop")
            .unwrap();
    }
}

struct Node {
    send: mpsc::Sender<MetricsSnapshot>,
    answers: Streaming<StreamAck>,
}

impl Node {
    async fn say(&mut self, snapshot: MetricsSnapshot) -> Result<StreamAck, Status> {
        self.send.send(snapshot).await.unwrap();
        self.answer().await
    }

    async fn answer(&mut self) -> Result<StreamAck, Status> {
        let answer = tokio::time::timeout(PATIENCE, self.answers.message())
            .await
            .expect("no answer");
        answer.map(|answer| answer.expect("the stream ended without a word"))
    }
}

fn quick() -> Config {
    Config {
        report_interval: Duration::from_millis(20),
        ..Config::default()
    }
}

fn psi(some: f64) -> Option<PsiMetrics> {
    Some(PsiMetrics {
        some_avg10: Some(some),
        full_avg10: Some(0.0),
        ..Default::default()
    })
}

fn hot(node: &str, sequence: u64) -> MetricsSnapshot {
    MetricsSnapshot {
        node_name: node.to_owned(),
        boot_id: "boot".to_owned(),
        sequence,
        monotonic_ns: sequence * 1_000_000,
        block: Some(BlockMetrics {
            p99_ms: Some(150.0),
            ..Default::default()
        }),
        psi_io: psi(45.0),
        psi_memory: psi(0.0),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_hot_node_is_reported_hot_and_turns_stale_when_it_falls_silent() {
    let config = Config {
        window: Duration::from_secs(1),
        ..quick()
    };
    let running = Running::start(config, Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    assert_eq!(node.say(hot("n1", 1)).await.unwrap().status(), Ack::Ok);
    let entry = running.entry("n1", |entry| entry.status.is_ok()).await;
    // 0.3/0.7 memory at 0 and 0.4/0.7 x 1.2 io at 1.
    assert!(
        (entry.interference_level.unwrap() - 0.48 / 0.7).abs() < 1e-9,
        "{entry:?}"
    );
    assert_eq!(entry.detections[0].kind, "IOQueueCongestion");
    assert!(entry.psi_available && !entry.degraded);
    let stale = running
        .entry("n1", |entry| entry.status == NodeStatus::Stale)
        .await;
    assert_eq!(
        (stale.interference_level, stale.reason.as_deref()),
        (None, Some("SamplesStopped"))
    );
    running.end().await;
}

#[tokio::test]
async fn bad_fields_are_dropped_and_the_rest_of_the_sample_is_used() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    let mut snapshot = hot("n1", 1);
    snapshot.cache = Some(CacheMetrics {
        miss_rate: Some(f64::NAN),
        ..Default::default()
    });
    snapshot.psi_memory = psi(101.0);
    let ack = node.say(snapshot).await.unwrap();
    assert_eq!((ack.status(), ack.sequence), (Ack::Partial, 1));
    assert_eq!(
        ack.message,
        "dropped as out of range: llcMissRate NaN, psiMemorySomeAvg10 101"
    );
    assert_eq!(
        running.analyzer.metrics().rejected_count(Rejection::OutOfRange),
        2
    );
    let entry = running.entry("n1", |entry| entry.status.is_ok()).await;
    assert_eq!(entry.indices.io, Some(1.0));
    assert_eq!(entry.indices.cache, None);
    running.end().await;
}

#[tokio::test]
async fn a_newer_stream_takes_over_and_the_older_is_told() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut old = running.stream().await;
    old.say(hot("n1", 1)).await.unwrap();
    let mut new = running.stream().await;
    assert_eq!(new.say(hot("n1", 2)).await.unwrap().status(), Ack::Ok);
    assert_eq!(old.answer().await.unwrap_err().code(), Code::Aborted);
    assert_eq!(
        new.say(hot("n1", 2)).await.unwrap().status(),
        Ack::Rejected,
        "the same sample again"
    );
    assert_eq!(new.say(hot("n1", 3)).await.unwrap().status(), Ack::Ok);
    running.end().await;
}

#[tokio::test]
async fn a_stream_speaks_for_one_node_with_a_possible_name() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    node.say(hot("n1", 1)).await.unwrap();
    assert_eq!(
        node.say(hot("n2", 2)).await.unwrap_err().code(),
        Code::InvalidArgument
    );
    let mut nameless = running.stream().await;
    assert_eq!(
        nameless.say(hot("", 1)).await.unwrap_err().code(),
        Code::InvalidArgument
    );
    assert!(!running.analyzer.evaluate().nodes.contains_key("n2"));
    running.end().await;
}

#[tokio::test]
async fn too_many_nodes_are_refused_with_the_setting_to_change() {
    let running = Running::start(
        Config {
            max_nodes: 1,
            ..quick()
        },
        Arc::new(MemorySink::new()),
    )
    .await;
    running.stream().await.say(hot("n1", 1)).await.unwrap();
    let error = running.stream().await.say(hot("n2", 1)).await.unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.message().contains("MAX_NODES"), "{error}");
    running.end().await;
}

#[tokio::test]
async fn a_flood_is_throttled_after_a_burst() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    let mut taken = 0;
    let throttled = loop {
        let ack = node.say(hot("n1", taken + 1)).await.unwrap();
        match ack.status() {
            Ack::Ok => taken += 1,
            _ => break ack,
        }
        assert!(taken < 1000, "never throttled");
    };
    assert_eq!(throttled.status(), Ack::Throttled);
    assert!((1..=200).contains(&throttled.retry_after_ms), "{throttled:?}");
    assert!(
        taken >= 40,
        "a backlog after an outage must get through, only {taken} did"
    );
    running.end().await;
}

#[tokio::test]
async fn a_message_over_the_limit_ends_its_stream_and_nobody_elses() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut good = running.stream().await;
    good.say(hot("n1", 1)).await.unwrap();
    let mut fat = running.stream().await;
    fat.say(hot("n2", 1)).await.unwrap();
    let mut snapshot = hot("n2", 2);
    snapshot.collector_version = "x".repeat(mco_proto::MAX_MESSAGE_BYTES);
    assert_eq!(fat.say(snapshot).await.unwrap_err().code(), Code::OutOfRange);
    assert_eq!(
        running.analyzer.metrics().rejected_count(Rejection::Undecodable),
        1
    );
    assert_eq!(good.say(hot("n1", 2)).await.unwrap().status(), Ack::Ok);
    running.end().await;
}

#[tokio::test]
async fn stopping_tells_the_collectors_and_ends_in_time() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    node.say(hot("n1", 1)).await.unwrap();
    running.end().await;
    let error = node.answer().await.unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Code::Unavailable, "the analyzer is shutting down")
    );
}

#[tokio::test]
async fn new_rules_hold_from_the_next_report_on_and_bad_ones_never() {
    let running = Running::start(quick(), Arc::new(MemorySink::new())).await;
    let mut node = running.stream().await;
    node.say(hot("n1", 1)).await.unwrap();
    let spec = serde_json::json!({"weights": {"cache": 0, "memory": 1, "io": 0}});
    assert!(
        running
            .analyzer
            .apply_rules(&RulesUpdate::Spec {
                spec,
                generation: Some(1)
            })
            .accepted
    );
    running
        .entry("n1", |entry| entry.interference_level == Some(0.0))
        .await;
    let spec = serde_json::json!({"weights": {"io": "much"}});
    let verdict = running.analyzer.apply_rules(&RulesUpdate::Spec {
        spec,
        generation: Some(2),
    });
    assert!(
        !verdict.accepted && verdict.message.contains("spec.weights.io"),
        "{verdict:?}"
    );
    let report = running.analyzer.evaluate();
    assert_eq!(report.nodes["n1"].interference_level, Some(0.0));
    let condition = report
        .conditions
        .iter()
        .find(|condition| condition.kind == "RulesAccepted")
        .unwrap();
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        ("False", "FallbackToLastValid")
    );
    running.end().await;
}

/// Fails at first, then keeps what it gets.
#[derive(Default)]
struct Flaky {
    attempts: AtomicUsize,
    memory: MemorySink,
}

impl ReportSink for Flaky {
    fn write(&self, report: Arc<NodeInterferenceReportStatus>) -> SinkFuture<'_> {
        if self.attempts.fetch_add(1, Ordering::SeqCst) < 2 {
            return Box::pin(std::future::ready(Err(SinkError("no".to_owned()))));
        }
        self.memory.write(report)
    }
}

#[tokio::test]
async fn a_sink_that_fails_is_tried_again_with_the_newest_report() {
    let sink = Arc::new(Flaky::default());
    let mut written = sink.memory.subscribe();
    let running = Running::start(quick(), sink.clone()).await;
    let mut node = running.stream().await;
    node.say(hot("n1", 1)).await.unwrap();
    let report = tokio::time::timeout(
        PATIENCE,
        written.wait_for(|report| report.nodes.contains_key("n1")),
    );
    report.await.expect("never written").unwrap();
    let text = running.analyzer.metrics_text().unwrap();
    assert!(
        text.contains("mco_analyzer_report_writes{result=\"error\"} 2"),
        "{text}"
    );
    running.end().await;
}

#[tokio::test]
async fn nothing_is_written_before_the_first_node_or_a_whole_window() {
    let sink = Arc::new(Flaky::default());
    let running = Running::start(quick(), sink.clone()).await;
    let mut reports = running.analyzer.subscribe();
    for _ in 0..5 {
        reports.changed().await.unwrap();
    }
    assert_eq!(sink.attempts.load(Ordering::SeqCst), 0);
    running.end().await;
}
