//! The analyzer as one object: takes streams, evaluates all nodes at every tick, hands reports to its sink.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mco_crds::decode::format_time_micros;
use mco_crds::{Condition, NodeInterferenceReportStatus};
use mco_proto::v1::analyzer_service_server::AnalyzerServiceServer;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpIncoming;
use tracing::{info, warn};

use crate::config::{AnalyzerError, Config};
use crate::health::{Health, Probe};
use crate::ingest::Ingest;
use crate::metrics::Metrics;
use crate::nodes::{Limits, Nodes};
use crate::report::{self, EvaluationTime, Since};
use crate::rules::{Rules, RulesKeeper, RulesUpdate, RulesVerdict};
use crate::sink::ReportSink;
use crate::time::{Clock, Moment, SystemClock, nanos};

/// Receive windows of HTTP/2: a sample is small, and thousands of streams share the memory.
const RECEIVE_WINDOW: u32 = 16 * 1024;
/// A connection that says nothing is asked after this time, and dropped when it does not answer within the other.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));
/// The longest pause after a sink failed; well below the 30 s after which a report counts as expired.
const LONGEST_BACK_OFF: Duration = Duration::from_secs(8);

/// The analyzer.
pub struct Analyzer {
    config: Config,
    clock: Arc<dyn Clock>,
    started: Moment,
    nodes: Arc<Nodes>,
    metrics: Arc<Metrics>,
    health: Health,
    rules: Mutex<RulesInForce>,
    since: Mutex<Since>,
    latest: watch::Sender<Arc<NodeInterferenceReportStatus>>,
    sink: Arc<dyn ReportSink>,
}

struct RulesInForce {
    keeper: RulesKeeper,
    /// When `accepted` last changed.
    transition_micros: i64,
}

impl Analyzer {
    /// An analyzer without nodes. `rules` are in force until an update brings others.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(config: Config, rules: Rules, sink: Arc<dyn ReportSink>) -> Result<Arc<Self>, AnalyzerError> {
        Self::with_clock(config, rules, sink, Arc::new(SystemClock::default()))
    }

    /// The same on another clock, for tests.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn with_clock(
        config: Config,
        rules: Rules,
        sink: Arc<dyn ReportSink>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, AnalyzerError> {
        config.check()?;
        let limits = Limits {
            window: config.window,
            max_nodes: config.max_nodes,
            forget_after: config.forget_after,
        };
        let transition_micros = clock.wall_micros();
        Ok(Arc::new(Self {
            started: clock.now(),
            nodes: Arc::new(Nodes::new(limits)),
            metrics: Arc::new(Metrics::new()?),
            health: Health::new(config.report_interval, clock.now()),
            rules: Mutex::new(RulesInForce {
                keeper: RulesKeeper::new(rules),
                transition_micros,
            }),
            since: Mutex::default(),
            latest: watch::Sender::new(Arc::default()),
            sink,
            clock,
            config,
        }))
    }

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

    /// Evaluates all nodes now; the answer is also the latest report from here on.
    pub fn evaluate(&self) -> Arc<NodeInterferenceReportStatus> {
        let timer = self.metrics.generation().start_timer();
        let time = EvaluationTime {
            now: self.clock.now(),
            wall_micros: self.clock.wall_micros(),
        };
        let (rules, generation, hash, condition) = {
            let rules = lock(&self.rules);
            let keeper = &rules.keeper;
            (
                keeper.rules(),
                keeper.generation(),
                keeper.verdict().effective_hash.clone(),
                rules.condition(),
            )
        };
        let views = self.nodes.views(time.now, self.config.p99);
        let entries = lock(&self.since).entries(&views, &rules, time, self.config.window.as_secs_f64());
        let status = Arc::new(NodeInterferenceReportStatus {
            observed_generation: None,
            conditions: vec![condition],
            last_update_time: Some(format_time_micros(time.wall_micros)),
            reporter: self.config.reporter.clone(),
            rules_generation: i64::try_from(generation).ok(),
            rules_hash: Some(hash),
            summary: Some(report::summary(&entries)),
            nodes: entries,
        });
        timer.observe_duration();
        self.latest.send_replace(status.clone());
        self.health.tick(time.now);
        status
    }

    /// The report of the last evaluation; empty before the first.
    pub fn latest(&self) -> Arc<NodeInterferenceReportStatus> {
        self.latest.borrow().clone()
    }

    /// The report of every evaluation, as it comes.
    pub fn subscribe(&self) -> watch::Receiver<Arc<NodeInterferenceReportStatus>> {
        self.latest.subscribe()
    }

    /// Takes an update of the rules; they hold from the next evaluation on.
    pub fn apply_rules(&self, update: &RulesUpdate) -> RulesVerdict {
        let mut rules = lock(&self.rules);
        let before = rules.keeper.verdict().clone();
        let verdict = rules.keeper.apply(update).clone();
        if before.accepted != verdict.accepted {
            rules.transition_micros = self.clock.wall_micros();
        }
        self.metrics
            .rules_generation()
            .set(i64::try_from(rules.keeper.generation()).unwrap_or(i64::MAX));
        drop(rules);
        if verdict != before {
            let reason = verdict.reason.as_str();
            if verdict.accepted {
                info!(
                    reason,
                    hash = verdict.effective_hash,
                    "rules: {}",
                    verdict.message
                );
            } else {
                warn!(
                    reason,
                    hash = verdict.effective_hash,
                    "rules: {}",
                    verdict.message
                );
            }
        }
        verdict
    }

    /// The rules in force.
    pub fn rules(&self) -> Arc<Rules> {
        lock(&self.rules).keeper.rules()
    }

    /// What became of the last update of the rules.
    pub fn rules_verdict(&self) -> RulesVerdict {
        lock(&self.rules).keeper.verdict().clone()
    }

    /// All nodes, for a source that knows which of them are in the cluster.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The counters.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Everything at `/metrics`.
    ///
    /// # Errors
    /// Never in practice; see [`Metrics::render`].
    pub fn metrics_text(&self) -> Result<String, prometheus::Error> {
        self.metrics.render(&self.latest())
    }

    /// What readiness waits for.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Whether evaluations go on.
    pub fn live(&self) -> Probe {
        self.health.live(self.clock.now())
    }

    /// Whether everything that had to be loaded at start was.
    pub fn ready(&self) -> Probe {
        self.health.ready(self.clock.now())
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
        let mut failing = false;
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
            // Once per change, not once a second.
            match result {
                Ok(()) if failing => info!("reports are written again"),
                Err(error) if !failing => warn!(%error, "cannot write the report; trying again"),
                _ => {}
            }
            failing = back_off > self.config.report_interval;
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

impl RulesInForce {
    fn condition(&self) -> Condition {
        let verdict = self.keeper.verdict();
        Condition {
            kind: "RulesAccepted".to_owned(),
            status: if verdict.accepted { "True" } else { "False" }.to_owned(),
            reason: verdict.reason.as_str().to_owned(),
            message: verdict.message.clone(),
            last_transition_time: Some(format_time_micros(self.transition_micros)),
            observed_generation: None,
        }
    }
}

/// A panic elsewhere leaves whole values behind in every lock of this file.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
