//! Prints a run beside Volcano's recorded one.

use crate::Size;
use crate::measure::Cost;
use anyhow::Context;
use mco_cluster_tests::tools::{shared, target_dir};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Which entry of the shared measurements is this burst at its default size.
const UPSTREAM: &str = "online-burst-1k-500x10";

/// Prints both costs and keeps them as JSON in the target folder.
pub(crate) fn print(size: Size, scheduler: &Cost, blind: &Cost) -> anyhow::Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "a count of pods")]
    let pods = size.pods() as f64;
    println!(
        "{} nodes of 32 CPU, {} gangs of {} one-CPU pods; from the start of the process to the last bind",
        size.nodes, size.gangs, size.members
    );
    let volcano = upstream()?;
    let figure = |pointer: &str| {
        volcano
            .as_ref()
            .and_then(|value| value.pointer(pointer)?.as_f64())
    };
    row("", "here", "blind binder", "Volcano 1.9.0");
    let numbers = |label: &str, ours: f64, blind: f64, theirs: Option<f64>| {
        let theirs = theirs.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        row(label, &format!("{ours:.1}"), &format!("{blind:.1}"), &theirs);
    };
    let per_pod = |cost: std::time::Duration| cost.as_secs_f64() * 1000.0 / pods;
    numbers(
        "wall, s",
        scheduler.wall.as_secs_f64(),
        blind.wall.as_secs_f64(),
        figure("/wallSeconds"),
    );
    numbers(
        "pods/s",
        pods / scheduler.wall.as_secs_f64(),
        pods / blind.wall.as_secs_f64(),
        figure("/podsPerSecond"),
    );
    numbers(
        "own CPU, ms a pod",
        per_pod(scheduler.cpu),
        per_pod(blind.cpu),
        figure("/schedulerCpuSeconds").map(|seconds| seconds * 1000.0 / 5000.0),
    );
    numbers(
        "API server and etcd CPU, ms a pod",
        per_pod(scheduler.server_cpu),
        per_pod(blind.server_cpu),
        None,
    );
    numbers(
        "peak RSS, MiB",
        scheduler.peak_mib,
        blind.peak_mib,
        figure("/peakRssMiB"),
    );
    println!("calls a pod until all was quiet");
    let kinds: BTreeSet<&String> = scheduler.calls.keys().chain(blind.calls.keys()).collect();
    for kind in kinds {
        let told = |cost: &Cost| {
            let count = cost.calls.get(kind).copied().unwrap_or(0);
            #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
            let share = count as f64 / pods;
            format!("{share:.4} ({count})")
        };
        let theirs = match kind.as_str() {
            "create pods/binding" => figure("/calls/bindings"),
            "create events" => figure("/calls/events"),
            "update podgroups" => figure("/calls/podgroupUpdates"),
            _ => None,
        };
        let theirs = theirs.map_or_else(
            || "-".to_owned(),
            |count| format!("{:.4} ({count})", count / 5000.0),
        );
        row(&format!("  {kind}"), &told(scheduler), &told(blind), &theirs);
    }
    let path = target_dir()?.join("cluster-bench.json");
    let kept = json!({"here": json(scheduler), "blind": json(blind), "pods": size.pods()});
    std::fs::write(&path, serde_json::to_string_pretty(&kept)?)?;
    println!("kept in {}", path.display());
    Ok(())
}

fn row(label: &str, here: &str, blind: &str, volcano: &str) {
    println!("{label:<36}{here:>18}{blind:>18}{volcano:>18}");
}

fn json(cost: &Cost) -> Value {
    json!({
        "wallSeconds": cost.wall.as_secs_f64(),
        "cpuSeconds": cost.cpu.as_secs_f64(),
        "serverCpuSeconds": cost.server_cpu.as_secs_f64(),
        "peakRssMiB": cost.peak_mib,
        "calls": cost.calls,
    })
}

fn upstream() -> anyhow::Result<Option<Value>> {
    let Some(path) = shared("bench/upstream.json") else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path)?;
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(value.get(UPSTREAM).cloned())
}
