//! The process itself: flags of the stock chart, pages, metrics, dumps and signals.

use mco_cluster_tests::scheduler::VARIABLE;
use mco_cluster_tests::tools::{own_binary, shared};
use mco_cluster_tests::wait::{SOON, until};
use mco_cluster_tests::{Cluster, Kubelet, Scheduler, Setup, gang, node, queue};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn the_stock_charts_arguments_are_taken_as_they_are() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let mut setup = Setup::default();
    setup
        .flags
        .extend(["--logtostderr", "-v=3", "2>&1"].map(str::to_owned));
    let mut scheduler = Scheduler::start_with(cluster.server, setup).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    for page in ["/healthz", "/livez", "/readyz"] {
        let (code, text) = scheduler.health(page).expect("it answers");
        assert_eq!(code, 200, "{page}: {text}");
    }
    let status = scheduler.stop();
    assert!(status.code().is_some(), "it ends by itself: {status}");
}

#[test]
fn version_is_printed_and_an_unknown_flag_refused() {
    let binary = own_binary("mco-volcano-scheduler", VARIABLE).expect("it has been built");
    let version = Command::new(&binary).arg("--version").output().expect("it runs");
    assert!(version.status.success());
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    let refused = Command::new(&binary)
        .arg("--no-such-flag=1")
        .output()
        .expect("it runs");
    assert!(!refused.status.success());
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("no-such-flag"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigusr1_dumps_nodes_to_a_file_and_sigusr2_to_the_log() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("dumped-node", "8", "32Gi")).await;
    let mut scheduler = Scheduler::start(cluster.server).await;
    cluster.create_in_order(&gang("t", "g", 1, "1", "1Gi")).await;
    cluster.until_all_bound().await;
    scheduler.signal(Signal::USR1);
    let text = until("a snapshot file", SOON, async || {
        let files = std::fs::read_dir(scheduler.dump_dir()).map_err(|error| error.to_string())?;
        let names: Vec<_> = files.flatten().map(|file| file.path()).collect();
        let is_snapshot = |path: &&std::path::PathBuf| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            name.starts_with("snapshot-") && name.ends_with(".json")
        };
        let path = names
            .iter()
            .find(is_snapshot)
            .ok_or_else(|| format!("{names:?}"))?;
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        if text.trim_end().ends_with('}') {
            Ok(text)
        } else {
            Err(text)
        }
    })
    .await;
    let snapshot: Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(snapshot.to_string().contains("dumped-node"), "{text}");
    let said_before = scheduler.log().matches("dumped-node").count();
    scheduler.signal(Signal::USR2);
    until("a dump in the log", SOON, async || {
        let log = scheduler.log();
        if log.matches("dumped-node").count() > said_before {
            Ok(())
        } else {
            Err(log)
        }
    })
    .await;
    assert!(scheduler.ended().is_none(), "it goes on");
}

/// What `/metrics` says of each series: its type, its labels and its buckets.
fn described(text: &str) -> BTreeMap<String, (String, BTreeSet<String>, Vec<String>)> {
    let mut described: BTreeMap<String, (String, BTreeSet<String>, Vec<String>)> = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, ""));
            described.entry(name.to_owned()).or_default().0 = kind.to_owned();
        } else if !line.starts_with('#') {
            let (series, labels) = match line.split_once('{') {
                Some((series, rest)) => (series, rest.split('}').next().unwrap_or_default()),
                None => (line.split(' ').next().unwrap_or_default(), ""),
            };
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| series.strip_suffix(end));
            let name = base
                .filter(|base| described.contains_key(*base))
                .unwrap_or(series);
            let entry = described.entry(name.to_owned()).or_default();
            for label in labels.split(',').filter(|label| !label.is_empty()) {
                let (key, value) = label.split_once('=').unwrap_or((label, ""));
                let value = value.trim_matches('"').to_owned();
                if key != "le" {
                    entry.1.insert(key.to_owned());
                } else if !entry.2.contains(&value) {
                    entry.2.push(value);
                }
            }
        }
    }
    described
}

/// Series of Volcano's that come with actions which do not exist yet.
const NOT_YET: [&str; 2] = [
    "volcano_pod_preemption_victims",
    "volcano_total_preemption_attempts",
];

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_named_typed_and_labelled_as_volcanos() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "4", "32Gi")).await;
    cluster.create(&queue("q", 1)).await;
    let _kubelet = Kubelet::start(&cluster);
    let scheduler = Scheduler::start(cluster.server).await;
    cluster.create_in_order(&gang("t", "fits", 2, "1", "1Gi")).await;
    cluster.create_in_order(&gang("t", "short", 9, "1", "1Gi")).await;
    cluster
        .until_placed("the gang is bound", |all| {
            all["fits-0"].is_some() && all["fits-1"].is_some()
        })
        .await;
    until("the bound pods are counted", SOON, async || {
        let count = scheduler.metric("volcano_task_scheduling_latency_milliseconds_count");
        if count >= Some(2.0) {
            Ok(())
        } else {
            Err(format!("{count:?}"))
        }
    })
    .await;
    let text = scheduler.metrics();
    let ours = described(&text);
    let core = [
        "volcano_e2e_scheduling_latency_milliseconds",
        "volcano_action_scheduling_latency_microseconds",
    ];
    for name in core {
        assert_eq!(
            ours.get(name).map(|series| series.0.as_str()),
            Some("histogram"),
            "{name}"
        );
    }
    let Some(path) = shared("conformance/wire/metrics-1.9.0.json") else {
        println!("the folder of shared cases is not here: not compared with Volcano's series");
        return;
    };
    let theirs: BTreeMap<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(path).expect("it can be read")).expect("it is JSON");
    let mut differences = Vec::new();
    for (name, series) in &theirs {
        let list = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let kind = series["type"].as_str().unwrap_or_default().to_owned();
        let expected = (
            kind,
            list(&series["labels"]).into_iter().collect(),
            list(&series["buckets"]),
        );
        match ours.get(name) {
            Some(series) if *series == expected => {}
            None if NOT_YET.contains(&name.as_str()) => println!("not covered yet: {name}"),
            other => differences.push(format!("{name}: expected {expected:?}, got {other:?}")),
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
