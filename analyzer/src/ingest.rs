//! The gRPC service: one stream per node, bounded in rate and size, every sample answered.

use std::sync::Arc;
use std::time::Duration;

use mco_proto::v1::analyzer_service_server::AnalyzerService;
use mco_proto::v1::stream_ack::Status as AckStatus;
use mco_proto::v1::{MetricsSnapshot, StreamAck};
use prometheus::IntGauge;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::{debug, info, warn};

use crate::convert::{Converted, convert, cut};
use crate::metrics::{Metrics, Rejection};
use crate::nodes::{AdmissionError, Nodes, SampleError, StreamId};
use crate::time::{Clock, Moment};
use crate::window::SAMPLES_PER_SECOND;

/// Answers that wait for a collector that does not read them; more are dropped, its samples are still taken.
const ACK_BACKLOG: usize = 64;
/// Samples that may come at once, after an outage; from then on the average counts.
const BURST: f64 = 40.0;
/// A stream that does not say who it is for so long is ended.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Receives the samples of all nodes.
#[derive(Clone)]
pub struct Ingest {
    /// Where samples go.
    pub nodes: Arc<Nodes>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// When samples arrive.
    pub clock: Arc<dyn Clock>,
    /// Ends all streams.
    pub stop: CancellationToken,
}

#[tonic::async_trait]
impl AnalyzerService for Ingest {
    type StreamMetricsStream = ReceiverStream<Result<StreamAck, Status>>;

    async fn stream_metrics(
        &self,
        request: Request<Streaming<MetricsSnapshot>>,
    ) -> Result<Response<Self::StreamMetricsStream>, Status> {
        let (acks, answers) = mpsc::channel(ACK_BACKLOG);
        let ingest = self.clone();
        tokio::spawn(async move {
            let _open = Counted::new(ingest.metrics.streams());
            if let Err(status) = ingest.receive(request.into_inner(), &acks).await {
                // Nobody may be listening any more.
                let _ = acks.try_send(Err(status));
            }
        });
        Ok(Response::new(ReceiverStream::new(answers)))
    }
}

impl Ingest {
    async fn receive(
        &self,
        mut inbound: Streaming<MetricsSnapshot>,
        acks: &mpsc::Sender<Result<StreamAck, Status>>,
    ) -> Result<(), Status> {
        let end = self.stop.child_token();
        let introduction = tokio::time::timeout(INTRODUCTION, self.next(&mut inbound, &end)).await;
        let late = || Status::deadline_exceeded(format!("no sample within {} s", INTRODUCTION.as_secs()));
        let Some(first) = introduction.map_err(|_| late())?? else {
            return Ok(());
        };
        let (name, id) = self
            .nodes
            .open_stream(&first.node_name, self.clock.now(), end.clone())
            .map_err(|error| {
                warn!(%error, "stream refused");
                self.refusal(&error)
            })?;
        info!(node = %name, version = ?cut(&first.collector_version), "stream opened");
        let mut stream = NodeStream {
            ingest: self,
            name,
            id,
            rate: Rate::new(self.clock.now()),
        };
        let mut next = Some(first);
        let result = loop {
            let Some(snapshot) = next else { break Ok(()) };
            match stream.take(snapshot) {
                // A full backlog means that the collector does not read: it loses answers, not samples.
                Ok(ack) => drop(acks.try_send(Ok(ack))),
                Err(status) => break Err(status),
            }
            next = match self.next(&mut inbound, &end).await {
                Ok(next) => next,
                Err(status) => break Err(status),
            };
        };
        self.nodes.close_stream(&stream.name, id);
        info!(node = %stream.name, reason = result.as_ref().err().map(Status::message), "stream closed");
        result
    }

    /// The next message; `None` when the collector is done.
    async fn next(
        &self,
        inbound: &mut Streaming<MetricsSnapshot>,
        end: &CancellationToken,
    ) -> Result<Option<MetricsSnapshot>, Status> {
        match end.run_until_cancelled(inbound.message()).await {
            None if self.stop.is_cancelled() => Err(Status::unavailable("the analyzer is shutting down")),
            None => Err(Status::aborted(
                "a newer stream speaks for this node, or the node was removed",
            )),
            Some(Ok(message)) => Ok(message),
            Some(Err(status)) => {
                // The other codes say that the connection broke, which is no sample.
                if matches!(status.code(), tonic::Code::OutOfRange | tonic::Code::Internal) {
                    self.metrics.rejected(Rejection::Undecodable, 1);
                }
                Err(status)
            }
        }
    }

    fn refusal(&self, error: &AdmissionError) -> Status {
        match error {
            AdmissionError::BadName { .. } => {
                self.metrics.rejected(Rejection::BadName, 1);
                Status::invalid_argument(error.to_string())
            }
            AdmissionError::Full { .. } => {
                self.metrics.rejected(Rejection::Full, 1);
                Status::resource_exhausted(error.to_string())
            }
        }
    }
}

/// A stream that speaks for a node.
struct NodeStream<'i> {
    ingest: &'i Ingest,
    name: Arc<str>,
    id: StreamId,
    rate: Rate,
}

impl NodeStream<'_> {
    /// The answer to a sample, or why the stream has to end.
    fn take(&mut self, snapshot: MetricsSnapshot) -> Result<StreamAck, Status> {
        let Ingest {
            nodes,
            metrics,
            clock,
            ..
        } = self.ingest;
        if *snapshot.node_name != *self.name {
            metrics.rejected(Rejection::OtherNode, 1);
            return Err(Status::invalid_argument(format!(
                "this stream speaks for node {}; open another one for another node",
                self.name
            )));
        }
        let (now, sequence) = (clock.now(), snapshot.sequence);
        if let Err(wait) = self.rate.spend(now) {
            metrics.rejected(Rejection::TooFast, 1);
            let message = format!("more than {SAMPLES_PER_SECOND} samples a second");
            let retry_after_ms = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
            return Ok(StreamAck {
                sequence,
                status: AckStatus::Throttled.into(),
                retry_after_ms,
                message,
            });
        }
        let Converted {
            arrival,
            dropped,
            bad_buckets,
        } = convert(snapshot, now);
        match nodes.take(&self.name, self.id, arrival) {
            Ok(missed) => metrics.missed(missed),
            Err(error @ SampleError::NotNewer) => {
                metrics.rejected(Rejection::NotNewer, 1);
                return Ok(answer(sequence, AckStatus::Rejected, error.to_string()));
            }
            Err(error @ SampleError::Superseded) => {
                metrics.rejected(Rejection::Superseded, 1);
                return Err(Status::aborted(error.to_string()));
            }
        }
        metrics.rejected(Rejection::OutOfRange, dropped.len() as u64);
        metrics.rejected(Rejection::BadBuckets, u64::from(bad_buckets));
        if dropped.is_empty() && !bad_buckets {
            return Ok(answer(sequence, AckStatus::Ok, String::new()));
        }
        let mut parts: Vec<_> = dropped
            .iter()
            .map(|dropped| format!("{} {}", dropped.metric.name(), dropped.value))
            .collect();
        parts.extend(bad_buckets.then(|| "malformed latency buckets".to_owned()));
        let message = format!("dropped as out of range: {}", parts.join(", "));
        debug!(node = %self.name, message, "sample taken in part");
        Ok(answer(sequence, AckStatus::Partial, message))
    }
}

fn answer(sequence: u64, status: AckStatus, message: String) -> StreamAck {
    StreamAck {
        sequence,
        status: status.into(),
        retry_after_ms: 0,
        message,
    }
}

/// Lets through a burst, then so many a second.
struct Rate {
    left: f64,
    last: Moment,
}

impl Rate {
    fn new(now: Moment) -> Self {
        Self {
            left: BURST,
            last: now,
        }
    }

    /// Takes one, or says how long to wait for it.
    fn spend(&mut self, now: Moment) -> Result<(), Duration> {
        let per_second = f64::from(SAMPLES_PER_SECOND);
        let elapsed = now.nanos_since(self.last).max(0) as f64 / 1e9;
        self.left = (self.left + elapsed * per_second).min(BURST);
        self.last = now;
        if self.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.left) / per_second));
        }
        self.left -= 1.0;
        Ok(())
    }
}

/// Counts itself for as long as it lives.
struct Counted<'g>(&'g IntGauge);

impl<'g> Counted<'g> {
    fn new(gauge: &'g IntGauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}
