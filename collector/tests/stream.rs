//! The stream against a real analyzer end in the same process: down at the start, slow, gone, back again.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mco_collector::config::ListenAddr;
use mco_collector::metrics::{DropReason, Metrics};
use mco_collector::{Config, Daemon};
use mco_proto::v1::analyzer_service_server::{AnalyzerService, AnalyzerServiceServer};
use mco_proto::v1::stream_ack::Status as AckStatus;
use mco_proto::v1::{MetricsSnapshot, StreamAck};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status, Streaming};

/// What an analyzer of these tests saw, and how it behaves.
#[derive(Clone, Default)]
struct Analyzer {
    seen: Arc<Mutex<Vec<MetricsSnapshot>>>,
    tokens: Arc<Mutex<Vec<String>>>,
    /// Answers of this status; unanswered when absent.
    status: Option<AckStatus>,
    /// Pause before each answer.
    delay: Duration,
    /// Holds the answer to the call until the first sample is there.
    waits_for_first: bool,
}

#[tonic::async_trait]
impl AnalyzerService for Analyzer {
    type StreamMetricsStream = ReceiverStream<Result<StreamAck, Status>>;

    async fn stream_metrics(
        &self,
        request: Request<Streaming<MetricsSnapshot>>,
    ) -> Result<Response<Self::StreamMetricsStream>, Status> {
        if let Some(token) = request.metadata().get("authorization") {
            self.tokens
                .lock()
                .unwrap()
                .push(token.to_str().unwrap().to_owned());
        }
        let mut samples = request.into_inner();
        let (answers, answered) = mpsc::channel(4);
        let analyzer = self.clone();
        let first = match self.waits_for_first {
            true => samples.message().await?,
            false => None,
        };
        tokio::spawn(async move {
            let mut next = Ok(first);
            loop {
                if let Ok(Some(sample)) = next {
                    let sequence = sample.sequence;
                    analyzer.seen.lock().unwrap().push(sample);
                    tokio::time::sleep(analyzer.delay).await;
                    if let Some(status) = analyzer.status {
                        let ack = StreamAck {
                            sequence,
                            status: status.into(),
                            retry_after_ms: 300,
                            message: String::new(),
                        };
                        if answers.send(Ok(ack)).await.is_err() {
                            return;
                        }
                    }
                }
                next = samples.message().await;
                if !matches!(next, Ok(Some(_))) {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(answered)))
    }
}

impl Analyzer {
    fn answering(status: AckStatus) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }

    fn sequences(&self) -> Vec<u64> {
        self.seen
            .lock()
            .unwrap()
            .iter()
            .map(|sample| sample.sequence)
            .collect()
    }

    /// Serves on an address until the handle is aborted. Connections that are open stay: see [`Proxy`].
    async fn serve(&self, address: SocketAddr) -> JoinHandle<()> {
        let listener = TcpListener::bind(address).await.unwrap();
        let service = AnalyzerServiceServer::new(self.clone());
        let connections = TcpListenerStream::new(listener);
        let (started, ready) = oneshot::channel();
        let server = tokio::spawn(async move {
            let _ = started.send(());
            let _ = tonic::transport::Server::builder()
                .add_service(service)
                .serve_with_incoming(connections)
                .await;
        });
        ready.await.unwrap();
        server
    }
}

/// A collector of an empty node that takes five samples a second.
struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    metrics: Arc<Metrics>,
    page: SocketAddr,
    _root: tempfile::TempDir,
}

impl Running {
    async fn start(analyzer: SocketAddr, change: impl FnOnce(&mut Config)) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys")).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let mut config = Config {
            analyzer: Some(format!("http://{analyzer}")),
            interval: Duration::from_millis(220),
            metrics_addr: Some(ListenAddr::Exact(([127, 0, 0, 1], 0).into())),
            host_proc: root.path().join("proc"),
            host_sys: root.path().join("sys"),
            ..Config::for_node("n1")
        };
        change(&mut config);
        let daemon = Daemon::bind(config).await.unwrap();
        let (metrics, page) = (daemon.metrics(), daemon.metrics_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            daemon.run(async { drop(stopped.await) }).await.unwrap();
        });
        Self {
            stop: Some(stop),
            task,
            metrics,
            page,
            _root: root,
        }
    }

    async fn stop(mut self) {
        self.stop = None;
        tokio::time::timeout(Duration::from_secs(5), self.task)
            .await
            .expect("stops in time")
            .unwrap();
    }

    fn lost(&self) -> u64 {
        DropReason::ALL
            .into_iter()
            .map(|reason| self.metrics.dropped_so_far(reason))
            .sum()
    }
}

async fn free_address() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap()
        .local_addr()
        .unwrap()
}

async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_analyzer_that_is_down_at_the_start_gets_the_newest_samples_later() {
    let address = free_address().await;
    let collector = Running::start(address, |config| config.spool_samples = 3).await;
    eventually("the backlog is full", || {
        collector.metrics.dropped_so_far(DropReason::BacklogFull) >= 2
    })
    .await;

    let analyzer = Analyzer::answering(AckStatus::Ok);
    let server = analyzer.serve(address).await;
    eventually("samples arrive", || analyzer.sequences().len() >= 6).await;
    let sequences = analyzer.sequences();
    assert!(
        sequences[0] > 2,
        "the oldest were given up for newer ones: {sequences:?}"
    );
    assert!(
        sequences.windows(2).all(|pair| pair[0] < pair[1]),
        "in order, once each: {sequences:?}"
    );
    assert!(collector.metrics.reconnects() >= 1);
    assert!(
        analyzer.seen.lock().unwrap()[0].spooled_ms > 0,
        "the first one says that it waited"
    );
    collector.stop().await;
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sample_is_answered_or_counted_as_lost() {
    let address = free_address().await;
    let analyzer = Analyzer {
        waits_for_first: true,
        ..Analyzer::answering(AckStatus::Ok)
    };
    let server = analyzer.serve(address).await;
    let collector = Running::start(address, |_| ()).await;
    eventually("a few samples", || collector.metrics.acknowledged_so_far() >= 4).await;
    let metrics = Arc::clone(&collector.metrics);
    let lost = collector.lost();
    collector.stop().await;
    let sequences = analyzer.sequences();
    let taken: Vec<u64> = (1..=sequences.len() as u64).collect();
    assert_eq!(sequences, taken, "none missing, none twice");
    assert_eq!(
        metrics.acknowledged_so_far(),
        sequences.len() as u64,
        "the last ones too, at the stop"
    );
    assert_eq!((lost, metrics.reconnects()), (0, 0));
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_analyzer_costs_samples_but_not_the_rhythm() {
    let address = free_address().await;
    let analyzer = Analyzer {
        delay: Duration::from_millis(900),
        ..Analyzer::answering(AckStatus::Ok)
    };
    let server = analyzer.serve(address).await;
    let collector = Running::start(address, |config| config.spool_samples = 2).await;
    eventually("samples are given up", || {
        collector.metrics.dropped_so_far(DropReason::BacklogFull) >= 5
    })
    .await;
    eventually("some still arrive", || analyzer.sequences().len() >= 8).await;
    let sequences = analyzer.sequences();
    assert!(
        sequences.windows(2).all(|pair| pair[0] < pair[1]),
        "{sequences:?}"
    );
    let gaps: u64 = sequences.windows(2).map(|pair| pair[1] - pair[0] - 1).sum();
    let lost = collector.metrics.dropped_so_far(DropReason::BacklogFull);
    assert!(
        gaps <= lost,
        "each gap is a counted loss: {gaps} gaps, {lost} lost"
    );
    assert_eq!(collector.metrics.reconnects(), 0, "slow is not down");
    collector.stop().await;
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_analyzer_that_comes_back_is_found_again_and_gets_what_was_not_answered() {
    let proxy = Proxy::start().await;
    // Takes samples but does not answer: all of them are open when the connection breaks.
    let silent = Analyzer::default();
    let backend = free_address().await;
    let server = silent.serve(backend).await;
    proxy.connect_to(Some(backend));
    let collector = Running::start(proxy.address, |config| config.spool_samples = 100).await;
    eventually("samples arrive", || silent.sequences().len() >= 3).await;
    proxy.connect_to(None);
    eventually("the loss is noticed", || collector.metrics.reconnects() >= 1).await;

    let analyzer = Analyzer::answering(AckStatus::Ok);
    let backend = free_address().await;
    let second = analyzer.serve(backend).await;
    proxy.connect_to(Some(backend));
    eventually("samples arrive again", || analyzer.sequences().len() >= 6).await;
    assert_eq!(
        analyzer.sequences()[..6],
        [1, 2, 3, 4, 5, 6],
        "from the first one without an answer on"
    );
    assert_eq!(collector.lost(), 0);
    collector.stop().await;
    server.abort();
    second.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_and_throttled_samples_are_losses_and_end_nothing() {
    for (status, reason) in [
        (AckStatus::Rejected, DropReason::Rejected),
        (AckStatus::Throttled, DropReason::Throttled),
    ] {
        let address = free_address().await;
        let analyzer = Analyzer::answering(status);
        let server = analyzer.serve(address).await;
        let collector = Running::start(address, |_| ()).await;
        eventually("losses are counted", || {
            collector.metrics.dropped_so_far(reason) >= 2
        })
        .await;
        assert_eq!(collector.metrics.acknowledged_so_far(), 0, "{reason:?}");
        assert_eq!(collector.metrics.reconnects(), 0, "{reason:?}");
        collector.stop().await;
        server.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_is_read_at_every_connect() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    let proxy = Proxy::start().await;
    let analyzer = Analyzer::answering(AckStatus::Ok);
    let backend = free_address().await;
    let server = analyzer.serve(backend).await;
    proxy.connect_to(Some(backend));
    let collector = Running::start(proxy.address, |config| config.token_file = Some(file.clone())).await;
    eventually("a missing token is no reason to give up", || {
        collector.metrics.reconnects() >= 1
    })
    .await;
    std::fs::write(&file, "one\n").unwrap();
    eventually("connected", || analyzer.tokens.lock().unwrap().len() == 1).await;
    std::fs::write(&file, "two\n").unwrap();
    proxy.connect_to(None);
    proxy.connect_to(Some(backend));
    eventually("connected again", || analyzer.tokens.lock().unwrap().len() >= 2).await;
    assert_eq!(
        analyzer.tokens.lock().unwrap()[..2],
        ["Bearer one".to_owned(), "Bearer two".to_owned()]
    );
    collector.stop().await;
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_does_not_wait_for_an_analyzer_that_is_down() {
    let collector = Running::start(free_address().await, |_| ()).await;
    eventually("it tried", || collector.metrics.reconnects() >= 1).await;
    collector.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_show_metrics_and_health() {
    let collector = Running::start(free_address().await, |_| ()).await;
    let get = |path: &'static str| async move {
        let mut connection = TcpStream::connect(collector.page).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        answer
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    let metrics = get("/metrics").await;
    assert!(metrics.starts_with("HTTP/1.1 200 OK"), "{metrics}");
    assert!(
        metrics.contains("content-type: text/plain; version=0.0.4"),
        "{metrics}"
    );
    assert!(
        metrics.contains("mco_collector_source_available{source=\"psi_io\"} 0"),
        "{metrics}"
    );
    for (path, status) in [
        ("/livez", "200"),
        ("/readyz", "200"),
        ("/healthz", "200"),
        ("/else", "404"),
    ] {
        let answer = get(path).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {answer}"
        );
    }
    collector.stop().await;
}

/// Passes TCP on to a backend that can be changed; a change breaks all connections, as the death of a process does.
struct Proxy {
    address: SocketAddr,
    backend: tokio::sync::watch::Sender<Option<SocketAddr>>,
}

impl Proxy {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (backend, target) = tokio::sync::watch::channel(None);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut target = target.clone();
                tokio::spawn(async move {
                    let Some(address) = *target.borrow_and_update() else {
                        return;
                    };
                    let Ok(mut server) = TcpStream::connect(address).await else {
                        return;
                    };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        _ = target.changed() => {}
                    }
                });
            }
        });
        Self { address, backend }
    }

    fn connect_to(&self, backend: Option<SocketAddr>) {
        self.backend.send_replace(backend);
    }
}
