//! The cycle thread: it owns the cluster, takes deltas in between cycles, and hands decisions over by names.

use crate::health::Health;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::uuid::random_uuid;
use crate::zone::utc_offset;
use mco_cache::{About, Cache, Command, Delta};
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
    /// The pod this process runs in: what is odd about sessions is told on it.
    pub own_pod: About,
    /// Where dumps go.
    pub dump_dir: std::path::PathBuf,
    /// What the pages show.
    pub health: Arc<Health>,
    /// What the metrics show.
    pub metrics: Arc<Metrics>,
    /// The end of it.
    pub stop: CancellationToken,
}

/// Starts the thread. It ends when `stop` is cancelled. When a cycle breaks, it cancels `stop` and its handle tells: what the
/// cluster then says of itself is worth nothing, and the next process starts from what the API server has.
///
/// # Errors
/// When the system gives no thread.
pub fn start(cycles: Cycles) -> std::io::Result<(std::thread::JoinHandle<()>, UnboundedSender<Request>)> {
    let (requests, asked) = unbounded_channel();
    let runtime = Handle::current();
    let stop = cycles.stop.clone();
    let thread = guarded(stop, move || State::new(cycles, asked, runtime).run())?;
    Ok((thread, requests))
}

/// A thread with whose end, however it comes, everything ends.
fn guarded(
    stop: CancellationToken,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new()
        .name("cycles".to_owned())
        .spawn(move || {
            let _stop = stop.drop_guard();
            work();
        })
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

/// An empty cluster that knows when the process began to look at it.
fn started_cluster(default_queue: &str) -> Cluster {
    let mut cluster = Cluster::new(default_queue);
    cluster.apply(Event::ProcessStarted { at: now() });
    cluster
}

impl State {
    fn new(cycles: Cycles, requests: UnboundedReceiver<Request>, runtime: Handle) -> Self {
        Self {
            cluster: started_cluster(&cycles.default_queue),
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
                    // Nobody asks when dumps are not wanted.
                    Some(request) = requests.recv() => Some(request),
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
        let seconds = utc_offset(moment);
        if seconds != self.cluster.utc_offset() {
            self.cluster.apply(Event::UtcOffsetSet { seconds });
        }
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
            self.cycles.cache.send(Command::Tell {
                about: self.cycles.own_pod.clone(),
                warning: true,
                reason: "SessionWarning".into(),
                message: warning.into(),
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use mco_cache::watch::WatchSettings;
    use mco_cache::write::{Limits, Permit, WriteSettings};

    /// A cache that finds no API server.
    fn cache() -> Arc<Cache> {
        let nowhere = "http://127.0.0.1:1".parse().expect("a URL");
        let client = kube::Client::try_from(kube::Config::new(nowhere)).expect("a client");
        let writes = WriteSettings {
            limits: Limits { qps: 0.0, burst: 1.0 },
            component: "volcano".to_owned(),
            options: mco_objects::Options::default(),
            permit: Permit::none(),
        };
        Arc::new(Cache::start(client, &WatchSettings::default(), writes).0)
    }

    #[test]
    fn a_cycle_that_breaks_stops_everything() {
        let stop = CancellationToken::new();
        let thread = guarded(stop.clone(), || panic!("on purpose")).expect("a thread");
        assert!(thread.join().is_err(), "it is told");
        assert!(stop.is_cancelled());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_takes_in_what_comes_though_nobody_can_ask_for_dumps_and_ends_when_told() {
        let (deltas, receiver) = unbounded_channel();
        let health = Arc::new(Health::new(Duration::from_millis(5)));
        health.conf_read();
        let stop = CancellationToken::new();
        let (thread, requests) = start(Cycles {
            cache: cache(),
            deltas: receiver,
            conf: watch::channel(Arc::new(SchedulerConf::built_in())).1,
            leading: watch::channel(true).1,
            period: Duration::from_millis(5),
            default_queue: "default".to_owned(),
            own_pod: About::Lease {
                namespace: "n".into(),
                name: "l".into(),
            },
            dump_dir: std::env::temp_dir(),
            health: Arc::clone(&health),
            metrics: Arc::new(Metrics::new(true)),
            stop: stop.clone(),
        })
        .expect("a thread");
        drop(requests);
        deltas.send(Delta::Complete).expect("it listens");
        while !health.ready().well {
            assert!(!thread.is_finished(), "it goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
        thread.join().expect("it ends by itself");
    }
}
