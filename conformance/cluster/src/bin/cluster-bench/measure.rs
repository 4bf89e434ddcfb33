//! Builds the cluster, lets somebody bind its pods, and watches what it costs them.

use crate::Size;
use anyhow::{Context, bail};
use mco_cluster_tests::users::SCHEDULER;
use mco_cluster_tests::{
    Call, Cluster, Detail, Object, Process, Scheduler, Server, Setup, gang, kinds, node,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

/// No binder is this slow.
const GIVE_UP: Duration = Duration::from_secs(600);
/// How exactly the last bind is timed.
const TICK: Duration = Duration::from_millis(50);
/// What is written after the last bind is waited for: until there was nothing new for so long.
const SETTLED: Duration = Duration::from_secs(3);

/// What a burst cost.
pub(crate) struct Cost {
    /// From the start of the process to the last bind.
    pub(crate) wall: Duration,
    /// Of the binder's process, until the last bind.
    pub(crate) cpu: Duration,
    /// Of the API server and etcd, in the same time.
    pub(crate) server_cpu: Duration,
    /// Resident set size of the binder's process at its peak, in MiB.
    pub(crate) peak_mib: f64,
    /// Calls by verb and kind until all was quiet.
    pub(crate) calls: BTreeMap<String, usize>,
}

/// Our scheduler's cost.
pub(crate) async fn scheduler(size: Size) -> anyhow::Result<Cost> {
    let server = Server::start(Detail::Metadata).await?;
    let cluster = fill(&server, size).await;
    let before = server_cpu(&server)?;
    let start = Instant::now();
    let flags = vec!["--leader-elect=false".to_owned(), "-v=0".to_owned()];
    let scheduler = Scheduler::launch(
        &server,
        Setup {
            flags,
            ..Setup::default()
        },
    );
    let cost = watch(&cluster, size, start, scheduler.pid(), before).await;
    cost.with_context(|| format!("the scheduler said:\n{}", scheduler.log()))
}

/// The cost of binding alone.
pub(crate) async fn blind(size: Size) -> anyhow::Result<Cost> {
    let server = Server::start(Detail::Metadata).await?;
    let cluster = fill(&server, size).await;
    let mut list = String::new();
    for (index, pod) in cluster.list(kinds::POD, "t").await.iter().enumerate() {
        let text = |name: &str| pod["metadata"][name].as_str().unwrap_or_default().to_owned();
        writeln!(list, "t {} {} n{}", text("name"), text("uid"), index % size.nodes)?;
    }
    let path = server.dir().join("bindings");
    std::fs::write(&path, list)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("bind")
        .arg(server.kubeconfig(&SCHEDULER))
        .arg(path)
        .arg(size.concurrency.to_string());
    let before = server_cpu(&server)?;
    let start = Instant::now();
    let binder = Process::spawn("the blind binder", command, &server.dir().join("blind.log"))?;
    let cost = watch(&cluster, size, start, binder.pid(), before).await;
    cost.with_context(|| format!("the blind binder said:\n{}", binder.log()))
}

/// Nodes of 32 CPU, and gangs of one-CPU pods, all there before anybody looks.
async fn fill(server: &Server, size: Size) -> Cluster<'_> {
    let cluster = Cluster::on(server).await;
    cluster.prepare().await;
    let nodes: Vec<Object> = (0..size.nodes)
        .map(|index| node(&format!("n{index}"), "32", "128Gi"))
        .collect();
    cluster.create_all(&nodes).await;
    let members = u32::try_from(size.members).unwrap_or(u32::MAX);
    let gangs = (0..size.gangs).flat_map(|index| {
        let name = format!("g{index}");
        let least = json!({"cpu": members.to_string(), "memory": format!("{members}Gi")});
        gang("t", &name, members, "1", "1Gi")
            .into_iter()
            .map(move |object| {
                if object.0["kind"] == "PodGroup" {
                    object.with(&["spec", "minResources"], least.clone())
                } else {
                    object
                }
            })
    });
    let objects: Vec<Object> = gangs.collect();
    cluster.create_all(&objects).await;
    cluster
}

async fn watch(
    cluster: &Cluster<'_>,
    size: Size,
    start: Instant,
    pid: u32,
    server_before: Duration,
) -> anyhow::Result<Cost> {
    let bound = |calls: &[Call]| {
        calls
            .iter()
            .filter(|call| call.target() == "pods/binding" && call.code == 201)
            .count()
    };
    let mut samples = (Duration::ZERO, 0.0);
    loop {
        let calls = cluster.scheduler_calls();
        // The blind binder ends with its last answer, and its figures with it.
        samples = sample(pid).unwrap_or(samples);
        if bound(&calls) >= size.pods() {
            break;
        }
        if start.elapsed() > GIVE_UP {
            bail!(
                "{} of {} pods bound after {GIVE_UP:?}",
                bound(&calls),
                size.pods()
            );
        }
        tokio::time::sleep(TICK).await;
    }
    let wall = start.elapsed();
    let server_cpu = server_cpu(cluster.server)?.saturating_sub(server_before);
    let mut known = 0;
    let calls = loop {
        let calls = cluster.scheduler_calls();
        let writes = calls.iter().filter(|call| call.writes()).count();
        if writes == known {
            break calls;
        }
        known = writes;
        tokio::time::sleep(SETTLED).await;
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls {
        let refused = if call.code < 400 {
            String::new()
        } else {
            format!(" -> {}", call.code)
        };
        *counts
            .entry(format!("{} {}{refused}", call.verb, call.target()))
            .or_default() += 1;
    }
    let placed = cluster.placements("t").await.values().flatten().count();
    if placed != size.pods() {
        bail!("{placed} of {} pods have a node", size.pods());
    }
    Ok(Cost {
        wall,
        cpu: samples.0,
        server_cpu,
        peak_mib: samples.1,
        calls: counts,
    })
}

/// CPU time and peak memory of a process; none when it is gone.
fn sample(pid: u32) -> Option<(Duration, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((cpu_time(pid)?, kib / 1024.0))
}

/// User and system time of a process with all its threads.
fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces; what follows it starts with the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(
        ticks * 1000 / rustix::param::clock_ticks_per_second(),
    ))
}

fn server_cpu(server: &Server) -> anyhow::Result<Duration> {
    server
        .pids()
        .into_iter()
        .map(|pid| cpu_time(pid).context("the API server or etcd is gone"))
        .sum()
}
