//! The life of the process: what starts in which order, and what ends it.

use crate::conf_watch::{self, ConfKeeper, Reload};
use crate::cycle::{self, Cycles, Request};
use crate::flags::Flags;
use crate::health::Health;
use crate::leader::lead;
use crate::log::Loudness;
use crate::log_socket;
use crate::metrics::Metrics;
use crate::pages;
use anyhow::{Context, bail};
use mco_cache::client::{self, Access};
use mco_cache::door::{Answer, Door};
use mco_cache::lease::End;
use mco_cache::watch::{NodeSelector, State, WatchSettings};
use mco_cache::write::{Limits, Permit, WriteSettings};
use mco_cache::{About, Cache, Command, PodRef};
use mco_framework::conf::SchedulerConf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// After a signal, writes under way have this long to end.
const GRACE: Duration = Duration::from_secs(20);
/// Between two tries to create the default queue.
const QUEUE_RETRY: Duration = Duration::from_secs(1);
/// The same once it has been tried for long: its kind may not be installed.
const QUEUE_RETRY_LATER: Duration = Duration::from_secs(30);
const QUEUE_TRIES: u32 = 60;

/// Runs until a signal, or until the Lease is lost.
///
/// # Errors
/// When something that must be there at the start is not, or the Lease is lost.
pub fn run(flags: Flags, loudness: Loudness) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start")?;
    let result = runtime.block_on(schedule(flags, loudness));
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn schedule(flags: Flags, loudness: Loudness) -> anyhow::Result<()> {
    info!(
        "mco-volcano-scheduler {}, for pods of {}",
        env!("CARGO_PKG_VERSION"),
        flags.scheduler_names.join(", ")
    );
    for warning in &flags.warnings {
        warn!("{warning}");
    }
    if std::env::var("MULTI_SCHEDULER_ENABLE").is_ok_and(|value| value == "true") {
        bail!(
            "MULTI_SCHEDULER_ENABLE=true: sharing a cluster out among several schedulers is not supported yet; unset it, and run \
             one scheduler, or several with --leader-elect=true"
        );
    }
    let stop = CancellationToken::new();
    let signals = Signals::new()?;
    tokio::spawn(log_socket::serve(log_socket::folder(), loudness, stop.clone()));
    let access = Access {
        master: flags.master.clone(),
        kubeconfig: flags.kubeconfig.clone(),
    };
    let client = client::connect(&access).await?;
    let door = Door::new(client.clone());

    let health = Arc::new(Health::new(flags.schedule_period));
    let metrics = Arc::new(Metrics::new(flags.metrics_per_node));
    let mut conf = ConfKeeper::new(flags.scheduler_conf.clone());
    let first = conf.look();
    let in_force = conf.subscribe();
    health.conf_read();
    if let Some(first) = &first {
        conf_watch::log(first, true);
        metrics.reloaded(matches!(first, Reload::Loaded));
    }
    tokio::spawn(create_queue(
        door.clone(),
        flags.default_queue.clone(),
        stop.clone(),
    ));
    if flags.enable_metrics {
        let listener = pages::listen("listen-address", &flags.listen_address).await?;
        tokio::spawn(pages::serve_metrics(listener, Arc::clone(&metrics), stop.clone()));
    }
    if flags.enable_healthz {
        let tls = flags.tls.as_ref().map(pages::tls).transpose()?;
        let listener = pages::listen("healthz-address", &flags.healthz_address).await?;
        tokio::spawn(pages::serve_health(
            listener,
            tls,
            Arc::clone(&health),
            stop.clone(),
        ));
    }

    let permit = if flags.leader_elect {
        Permit::none()
    } else {
        Permit::always()
    };
    let report_name = report_name(&in_force.borrow());
    let (cache, deltas) = start_cache(&flags, client, permit.clone(), &report_name);
    let cache = Arc::new(cache);
    metrics.follow(cache.clone());
    let (leading, leads) = watch::channel(false);
    let own_pod = own_pod(&flags);
    let (thread, requests) = cycle::start(Cycles {
        cache: cache.clone(),
        deltas,
        conf: in_force.clone(),
        leading: leads,
        period: flags.schedule_period,
        default_queue: flags.default_queue.clone(),
        own_pod: own_pod.clone(),
        dump_dir: flags.cache_dump_dir.clone(),
        health: Arc::clone(&health),
        metrics: Arc::clone(&metrics),
        stop: stop.clone(),
    })
    .context("cannot start the cycle thread")?;
    if let Some(Reload::Refused(why)) = first {
        cache.send(refused(&own_pod, &why));
    }
    let told = {
        let (cache, metrics) = (cache.clone(), Arc::clone(&metrics));
        move |reload: &Reload| {
            conf_watch::log(reload, false);
            metrics.reloaded(matches!(reload, Reload::Loaded));
            if let Reload::Refused(why) = reload {
                cache.send(refused(&own_pod, why));
            }
        }
    };
    tokio::spawn(conf.watch(told, stop.clone()));
    tokio::spawn(follow_report_name(cache.clone(), in_force, stop.clone()));
    tokio::spawn(note_watches(cache.clone(), Arc::clone(&health), stop.clone()));
    tokio::spawn(signals.serve(flags.cache_dumper.then_some(requests), stop.clone()));

    let ended = lead(&flags, door, &cache, &permit, &leading, &health, &stop).await;
    stop.cancel();
    let joined = tokio::task::spawn_blocking(move || thread.join()).await;
    let all_ended = cache.shutdown(GRACE).await;
    let (mut candidate, end) = ended;
    if let (Some(candidate), End::Stopped) = (&mut candidate, end) {
        candidate.release(&permit).await;
    }
    if !matches!(joined, Ok(Ok(()))) {
        bail!("a cycle broke: the process ends, so that the next starts from what the API server has");
    }
    if end == End::Lost {
        bail!("the Lease is lost: another may decide now");
    }
    if !all_ended {
        warn!("not every write ended within {} s", GRACE.as_secs());
    }
    info!("stopped");
    Ok(())
}

fn start_cache(
    flags: &Flags,
    client: kube::Client,
    permit: Permit,
    report_name: &str,
) -> (Cache, tokio::sync::mpsc::UnboundedReceiver<mco_cache::Delta>) {
    let options = mco_objects::Options {
        scheduler_names: flags
            .scheduler_names
            .iter()
            .map(|name| name.as_str().into())
            .collect(),
        report_name: report_name.into(),
        ..mco_objects::Options::default()
    };
    let watches = WatchSettings {
        options: options.clone(),
        node_selector: NodeSelector::parse(flags.node_selector.iter().map(String::as_str)),
        priority_classes: flags.priority_class,
        ..WatchSettings::default()
    };
    let writes = WriteSettings {
        limits: Limits {
            qps: flags.kube_api_qps,
            burst: flags.kube_api_burst,
        },
        component: flags.scheduler_names[0].clone(),
        options,
        permit,
    };
    Cache::start(client, &watches, writes)
}

pub(crate) fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// The pod that this process runs in, which is named after its host there.
fn own_pod(flags: &Flags) -> About {
    let namespace = std::env::var("POD_NAMESPACE")
        .ok()
        .or_else(|| std::fs::read_to_string("/var/run/secrets/kubernetes.io/serviceaccount/namespace").ok())
        .unwrap_or_else(|| flags.lock_object_namespace.clone());
    let namespace = namespace.trim();
    About::Pod(PodRef {
        namespace: if namespace.is_empty() {
            "default"
        } else {
            namespace
        }
        .into(),
        name: host_name().as_str().into(),
        uid: std::env::var("POD_UID").unwrap_or_default().as_str().into(),
    })
}

fn refused(about: &About, why: &str) -> Command {
    Command::Tell {
        about: about.clone(),
        warning: true,
        reason: "ConfigurationRefused".into(),
        message: why.into(),
    }
}

/// The report that the configuration's mco-plugin goes by.
fn report_name(conf: &SchedulerConf) -> String {
    conf.plugins()
        .find(|plugin| plugin.name == mco_plugin::NAME)
        .map_or_else(mco_plugin::Settings::default, |plugin| {
            mco_plugin::Settings::from_arguments(&plugin.arguments).0
        })
        .cr_name
}

async fn follow_report_name(
    cache: Arc<Cache>,
    mut conf: watch::Receiver<Arc<SchedulerConf>>,
    stop: CancellationToken,
) {
    while let Some(Ok(())) = stop.run_until_cancelled(conf.changed()).await {
        let name = report_name(&conf.borrow_and_update());
        cache.set_report_name(&name);
    }
}

/// Carries how the watches stand to the readiness page.
async fn note_watches(cache: Arc<Cache>, health: Arc<Health>, stop: CancellationToken) {
    loop {
        let lines: Vec<String> = cache
            .status()
            .kinds
            .into_iter()
            .map(|kind| format!("{}: {}", kind.kind.name(), described(&kind.state)))
            .collect();
        health.note(lines.join("\n"));
        if stop
            .run_until_cancelled(tokio::time::sleep(Duration::from_secs(1)))
            .await
            .is_none()
        {
            return;
        }
    }
}

fn described(state: &State) -> String {
    match state {
        State::Starting => "not listed yet".to_owned(),
        State::Listed => "followed".to_owned(),
        State::Absent => "left out, it is not installed".to_owned(),
        State::Forbidden(why) => format!("left out, it may not be read: {why}"),
        State::Failing(why) => format!("failing: {why}"),
    }
}

/// Creates the queue of PodGroups that name none. Whoever created it first was right.
async fn create_queue(door: Door, name: String, stop: CancellationToken) {
    let mut tries = 0;
    loop {
        let trouble = match door.create_queue(&name).await {
            Answer::Done(_) => {
                info!("created queue {name}");
                return;
            }
            Answer::Conflict(_) => return,
            other => other.trouble().unwrap_or_default(),
        };
        tries += 1;
        if tries == 1 {
            warn!("queue {name} cannot be created yet, trying again: {trouble}");
        }
        let pause = if tries < QUEUE_TRIES {
            QUEUE_RETRY
        } else {
            QUEUE_RETRY_LATER
        };
        if stop
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_none()
        {
            return;
        }
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    dump: Signal,
    log: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            dump: listen(SignalKind::user_defined1())?,
            log: listen(SignalKind::user_defined2())?,
        })
    }

    /// Serves signals; those for dumps do nothing when they are not wanted.
    async fn serve(mut self, dumps: Option<UnboundedSender<Request>>, stop: CancellationToken) {
        let ask = |request| {
            if let Some(dumps) = &dumps {
                let _ = dumps.send(request);
            }
        };
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = self.terminate.recv() => break,
                _ = self.interrupt.recv() => break,
                _ = self.dump.recv() => ask(Request::DumpToFile),
                _ = self.log.recv() => ask(Request::DumpToLog),
            }
        }
        info!("stopping");
        stop.cancel();
    }
}
