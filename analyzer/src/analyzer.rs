//! The analyzer as one object: takes streams, evaluates all nodes at every tick, hands reports to its sink.

mod rules;
mod run;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mco_crds::NodeInterferenceReportStatus;
use mco_crds::decode::format_time_micros;
use tokio::sync::watch;

use crate::config::{AnalyzerError, Config};
use crate::health::{Health, Probe};
use crate::metrics::Metrics;
use crate::nodes::{Limits, Nodes};
use crate::report::{self, EvaluationTime, Since};
use crate::rules::{Rules, RulesKeeper};
use crate::sink::ReportSink;
use crate::time::{Clock, Moment, SystemClock};
use rules::RulesInForce;

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
}

/// A panic elsewhere leaves whole values behind in every lock of the analyzer.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
