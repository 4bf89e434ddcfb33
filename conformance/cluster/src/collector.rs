//! A node's collector as the analyzer sees it: samples of our choice, several a second, for as long as it lives.

use crate::analyzer::Analyzer;
use mco_proto::v1::analyzer_service_client::AnalyzerServiceClient;
use mco_proto::v1::{BlockMetrics, MemoryMetrics, MetricsSnapshot, PsiMetrics};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;

/// Between two samples; the analyzer takes up to five a second.
const INTERVAL: Duration = Duration::from_millis(250);
/// Before the next attempt to connect.
const PAUSE: Duration = Duration::from_millis(200);

/// What a node suffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Block I/O latency, 99th percentile, milliseconds.
    pub block_p99_ms: f64,
    /// I/O pressure `some avg10`, percent.
    pub psi_io: f64,
    /// Memory pressure `some avg10`, percent.
    pub psi_memory: f64,
    /// Memory pressure `full avg10`, percent.
    pub psi_memory_full: f64,
}

impl Load {
    /// Nothing at all.
    pub const CALM: Self = Self {
        block_p99_ms: 0.0,
        psi_io: 0.0,
        psi_memory: 0.0,
        psi_memory_full: 0.0,
    };
    /// A queue in front of the disks.
    pub const HOT_IO: Self = Self {
        block_p99_ms: 150.0,
        psi_io: 45.0,
        ..Self::CALM
    };

    fn sample(self, node: &str, sequence: u64, started: Instant) -> MetricsSnapshot {
        let psi = |some, full| {
            Some(PsiMetrics {
                some_avg10: Some(some),
                full_avg10: Some(full),
                ..Default::default()
            })
        };
        MetricsSnapshot {
            node_name: node.to_owned(),
            boot_id: "boot".to_owned(),
            sequence,
            monotonic_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            interval_ms: u32::try_from(INTERVAL.as_millis()).unwrap_or_default(),
            block: Some(BlockMetrics {
                p99_ms: Some(self.block_p99_ms),
                ..Default::default()
            }),
            psi_io: psi(self.psi_io, 0.0),
            psi_memory: psi(self.psi_memory, self.psi_memory_full),
            memory: Some(MemoryMetrics {
                available_ratio: Some(0.9),
                page_scan_rate: Some(0.0),
                ..Default::default()
            }),
            ..Default::default()
        }
    }
}

/// Speaks for one node until it is dropped. It connects again when it loses its analyzer.
pub struct Collector {
    load: watch::Sender<Load>,
    task: JoinHandle<()>,
}

impl Collector {
    /// Starts to report that `node` suffers `load`.
    pub fn start(analyzer: &Analyzer, node: &str, load: Load) -> Self {
        let (url, node) = (analyzer.grpc_url(), node.to_owned());
        let (load, current) = watch::channel(load);
        let task = tokio::spawn(async move {
            let started = Instant::now();
            let mut sequence = 0;
            loop {
                if let Ok(client) = AnalyzerServiceClient::connect(url.clone()).await {
                    stream(client, &node, &current, started, &mut sequence).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { load, task }
    }

    /// From the next sample on the node suffers this. The analyzer judges by the mean of its window.
    pub fn suffers(&self, load: Load) {
        self.load.send_replace(load);
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends samples until the stream ends.
async fn stream(
    mut client: AnalyzerServiceClient<tonic::transport::Channel>,
    node: &str,
    load: &watch::Receiver<Load>,
    started: Instant,
    sequence: &mut u64,
) {
    let (samples, outgoing) = mpsc::channel(1);
    let send = async {
        loop {
            *sequence += 1;
            let sample = load.borrow().sample(node, *sequence, started);
            if samples.send(sample).await.is_err() {
                return;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    let listen = async {
        let Ok(answers) = client.stream_metrics(ReceiverStream::new(outgoing)).await else {
            return;
        };
        let mut answers = answers.into_inner();
        while let Ok(Some(_)) = answers.message().await {}
    };
    tokio::select! {
        () = send => {}
        () = listen => {}
    }
}
