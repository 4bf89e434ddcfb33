//! The analyzer at work: serving streams, evaluating at every tick, writing reports to the sink.

use std::sync::Arc;
use std::time::Duration;

use mco_crds::NodeInterferenceReportStatus;
use mco_proto::v1::analyzer_service_server::AnalyzerServiceServer;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpIncoming;
use tracing::{info, warn};

use super::Analyzer;
use crate::config::AnalyzerError;
use crate::ingest::Ingest;
use crate::sink::SinkError;
use crate::time::nanos;

/// Receive windows of HTTP/2: a sample is small, and thousands of streams share the memory.
const RECEIVE_WINDOW: u32 = 16 * 1024;
/// A connection that says nothing is asked after this time, and dropped when it does not answer within the other.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));
/// The longest pause after a sink failed; well below the 30 s after which a report counts as expired.
const LONGEST_BACK_OFF: Duration = Duration::from_secs(8);
/// So many reasons why reports fail are told before they are written again.
const REASONS: usize = 8;

impl Analyzer {
    /// Serves streams on this listener and reports, until cancelled. Streams are then told that the analyzer goes.
    ///
    /// # Errors
    /// The gRPC server failed.
    pub async fn run(
        self: &Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> Result<(), AnalyzerError> {
        // Whatever ends first takes the others with it.
        let stop = stop.child_token();
        let evaluate = self.evaluate_until(stop.clone());
        let write = self.write_until(stop.clone());
        let serve = async {
            let result = self.serve(listener, stop.clone()).await;
            stop.cancel();
            result
        };
        let ((), (), result) = tokio::join!(evaluate, write, serve);
        result
    }

    /// Serves streams only, for those who evaluate on their own.
    ///
    /// # Errors
    /// The gRPC server failed.
    pub async fn serve(&self, listener: TcpListener, stop: CancellationToken) -> Result<(), AnalyzerError> {
        let ingest = Ingest {
            nodes: self.nodes.clone(),
            metrics: self.metrics.clone(),
            clock: self.clock.clone(),
            stop: stop.clone(),
        };
        let service =
            AnalyzerServiceServer::new(ingest).max_decoding_message_size(mco_proto::MAX_MESSAGE_BYTES);
        tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE.0))
            .http2_keepalive_timeout(Some(KEEPALIVE.1))
            .initial_stream_window_size(RECEIVE_WINDOW)
            .initial_connection_window_size(RECEIVE_WINDOW)
            // A collector needs one; the rest is for its reconnects and for probes.
            .max_concurrent_streams(8)
            .add_service(service)
            .serve_with_incoming_shutdown(
                TcpIncoming::from(listener).with_nodelay(Some(true)),
                stop.cancelled_owned(),
            )
            .await?;
        Ok(())
    }

    async fn evaluate_until(&self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(self.config.report_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            self.evaluate();
        }
    }

    async fn write_until(&self, stop: CancellationToken) {
        let mut reports = self.latest.subscribe();
        let mut back_off = self.config.report_interval;
        let mut told: Vec<String> = Vec::new();
        while let Some(Ok(())) = stop.run_until_cancelled(reports.changed()).await {
            let report = reports.borrow_and_update().clone();
            if self.is_warming_up(&report) {
                continue;
            }
            let started = tokio::time::Instant::now();
            let result = self.sink.write(report).await;
            self.metrics.report_written(result.is_ok());
            back_off = match result {
                Ok(()) => self.config.report_interval,
                Err(_) => (back_off * 2).min(LONGEST_BACK_OFF.max(self.config.report_interval)),
            };
            // Each reason once, not once a second.
            match result {
                Ok(()) if !std::mem::take(&mut told).is_empty() => info!("reports are written again"),
                Err(SinkError(reason)) if told.len() < REASONS && !told.contains(&reason) => {
                    warn!(error = reason, "cannot write the report; trying again");
                    told.push(reason);
                }
                _ => {}
            }
            if stop
                .run_until_cancelled(tokio::time::sleep_until(started + back_off))
                .await
                .is_none()
            {
                return;
            }
        }
    }

    /// An analyzer that just started knows no node yet: its empty report must not replace a good one of its
    /// predecessor while collectors reconnect.
    fn is_warming_up(&self, report: &NodeInterferenceReportStatus) -> bool {
        let age = self.clock.now().nanos_since(self.started);
        report.nodes.is_empty() && age < nanos(self.config.window)
    }
}
