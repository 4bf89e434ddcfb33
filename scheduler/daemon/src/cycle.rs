//! The cycle thread: it owns the cluster, takes deltas in between cycles, and hands decisions over by names.

use crate::health::Health;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::uuid::random_uuid;
use mco_cache::{Cache, Delta};
use mco_framework::TieBreak;
use mco_framework::conf::SchedulerConf;
use mco_model::time::Time;
use mco_model::{Cluster, Event};
use mco_registry::{CycleParameters, Registry, run_cycle_with};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// Deltas taken in between two looks at the clock.
const BATCH: usize = 1024;

/// What people ask of the cycle thread.
#[derive(Debug)]
pub enum Request {
    /// SIGUSR1: the cluster into a file.
    DumpToFile,
    /// SIGUSR2: the cluster into the log.
    DumpToLog,
}

/// Everything the thread works with.
pub struct Cycles {
    /// The only door out.
    pub cache: Arc<Cache>,
    /// What comes in.
    pub deltas: UnboundedReceiver<Delta>,
    /// The configuration in force.
    pub conf: watch::Receiver<Arc<SchedulerConf>>,
    /// Whether this process decides.
    pub leading: watch::Receiver<bool>,
    /// Pause between cycles.
    pub period: Duration,
    /// Queue of PodGroups that name none.
    pub default_queue: String,
    /// Where dumps go.
    pub dump_dir: std::path::PathBuf,
    /// What the pages show.
    pub health: Arc<Health>,
    /// What the metrics show.
    pub metrics: Arc<Metrics>,
    /// The end of it.
    pub stop: CancellationToken,
}

/// Starts the thread. It ends when `stop` is cancelled, and takes answers in as long as there are some.
///
/// # Errors
/// When the system gives no thread.
pub fn start(cycles: Cycles) -> std::io::Result<(std::thread::JoinHandle<()>, UnboundedSender<Request>)> {
    let (requests, asked) = unbounded_channel();
    let runtime = Handle::current();
    let thread = std::thread::Builder::new()
        .name("cycles".to_owned())
        .spawn(move || State::new(cycles, asked, runtime).run())?;
    Ok((thread, requests))
}

struct State {
    cycles: Cycles,
    requests: UnboundedReceiver<Request>,
    runtime: Handle,
    cluster: Cluster,
    registry: Registry,
    outbox: Outbox,
    complete: bool,
    threads: usize,
    serial: u64,
}

impl State {
    fn new(cycles: Cycles, requests: UnboundedReceiver<Request>, runtime: Handle) -> Self {
        Self {
            cluster: Cluster::new(&cycles.default_queue),
            cycles,
            requests,
            runtime,
            registry: Registry::new(),
            outbox: Outbox::default(),
            complete: false,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
            serial: 0,
        }
    }

    fn run(mut self) {
        let mut next = Instant::now();
        while !self.cycles.stop.is_cancelled() {
            self.take_in_until(next);
            self.cycles.health.turned();
            if self.cycles.stop.is_cancelled() {
                break;
            }
            if self.complete && *self.cycles.leading.borrow() {
                self.cycle();
            }
            next = Instant::now() + self.cycles.period;
        }
        // Those who write end after this thread; what they answer is nobody's any more.
        debug!("cycles ended");
    }

    /// Takes deltas in until the moment has come and none is left.
    fn take_in_until(&mut self, moment: Instant) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let (runtime, stop) = (self.runtime.clone(), self.cycles.stop.clone());
            let deltas = &mut self.cycles.deltas;
            let requests = &mut self.requests;
            let request = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => None,
                    request = requests.recv() => request,
                    _ = deltas.recv_many(&mut batch, BATCH) => None,
                    () = tokio::time::sleep_until(moment.into()) => None,
                }
            });
            if let Some(request) = request {
                self.serve(&request);
                continue;
            }
            let taken = batch.len();
            for delta in batch.drain(..) {
                self.take_in(delta);
            }
            // A flood that never ends must not keep cycles from running.
            let late = Instant::now() >= moment + self.cycles.period;
            if stop.is_cancelled() || (Instant::now() >= moment && (taken < BATCH || late)) {
                return;
            }
        }
    }

    fn take_in(&mut self, delta: Delta) {
        match delta {
            Delta::Complete => {
                self.complete = true;
                self.cycles.health.complete();
                info!("everything has been listed: cycles may begin");
            }
            Delta::Event(event) => {
                if let Event::Bound { uid } = &event {
                    let task = self.cluster.find_uid(uid);
                    let created = task.and_then(|task| self.cluster.task(task).created);
                    self.cycles.metrics.bound(created, now());
                }
                self.cluster.apply(event);
            }
        }
    }

    fn cycle(&mut self) {
        let conf = Arc::clone(&self.cycles.conf.borrow());
        self.serial += 1;
        let parameters = CycleParameters {
            uid: random_uuid().as_str().into(),
            now: now(),
            tie_break: TieBreak::Seeded(0),
            threads: self.threads,
        };
        let moment = parameters.now;
        let mut timing = self.cycles.metrics.start_cycle();
        let outcome = run_cycle_with(
            &mut self.cluster,
            &conf,
            &self.registry,
            parameters,
            &mut |phase, _| timing.lap(phase),
        );
        for warning in self.outbox.news(&outcome) {
            warn!("{warning}");
        }
        let commands = self.outbox.commands(&mut self.cluster, &outcome);
        let sent = commands.len();
        for command in commands {
            self.cycles.cache.send(command);
        }
        for command in self.outbox.outside(&self.cluster, moment) {
            self.cycles.cache.send(command);
        }
        self.cycles
            .metrics
            .end_cycle(timing, &self.cluster, &outcome, moment);
        debug!(
            cycle = self.serial,
            decisions = outcome.decisions.len(),
            writes = sent,
            "cycle done"
        );
    }

    fn serve(&mut self, request: &Request) {
        let told = match request {
            Request::DumpToFile => crate::dump::to_file(&self.cluster, &self.cycles.dump_dir, now())
                .map(|path| info!("the cluster is in {}", path.display())),
            Request::DumpToLog => {
                crate::dump::to_log(&self.cluster);
                Ok(())
            }
        };
        if let Err(error) = told {
            warn!(
                "the cluster cannot be dumped into {}: {error}",
                self.cycles.dump_dir.display()
            );
        }
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
