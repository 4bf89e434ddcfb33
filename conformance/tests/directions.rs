//! Who may depend on whom: the directions of ARCHITECTURE.md, read from what cargo knows.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What each crate may depend on among our own.
const ALLOWED: [(&str, &[&str]); 17] = [
    ("mco-model", &[]),
    ("mco-crds", &[]),
    ("mco-crdgen", &["mco-crds"]),
    ("mco-proto", &[]),
    ("mco-framework", &["mco-model"]),
    ("mco-actions", &["mco-model", "mco-framework"]),
    ("mco-plugins-builtin", &["mco-model", "mco-framework"]),
    ("mco-plugin", &["mco-model", "mco-framework", "mco-crds"]),
    ("mco-objects", &["mco-model", "mco-crds"]),
    (
        "mco-registry",
        &[
            "mco-model",
            "mco-framework",
            "mco-actions",
            "mco-plugins-builtin",
            "mco-plugin",
        ],
    ),
    ("mco-cache", &["mco-model", "mco-objects"]),
    (
        "mco-daemon",
        &[
            "mco-model",
            "mco-framework",
            "mco-registry",
            "mco-plugin",
            "mco-objects",
            "mco-cache",
        ],
    ),
    ("mco-collector", &["mco-proto"]),
    ("mco-analyzer", &["mco-proto", "mco-crds"]),
    (
        "mcoctl",
        &[
            "mco-model",
            "mco-framework",
            "mco-actions",
            "mco-objects",
            "mco-registry",
            "mco-plugin",
            "mco-crds",
            "mco-proto",
            "mco-collector",
            "mco-analyzer",
        ],
    ),
    (
        "conformance",
        &[
            "mco-model",
            "mco-framework",
            "mco-actions",
            "mco-objects",
            "mco-registry",
            "mco-crds",
            "mco-collector",
            "mco-analyzer",
        ],
    ),
    ("mco-cluster-tests", &["mco-proto"]),
];

/// Crates that do no I/O and are never asynchronous, and what they may not reach by any way.
const PURE: [&str; 7] = [
    "mco-model",
    "mco-framework",
    "mco-actions",
    "mco-plugins-builtin",
    "mco-plugin",
    "mco-objects",
    "mco-registry",
];
const IMPURE: [&str; 8] = [
    "tokio",
    "kube",
    "kube-client",
    "tonic",
    "hyper",
    "axum",
    "rand",
    "fastrand",
];

/// Clients and servers appear in these alone.
const CONNECTED: [&str; 7] = [
    "mco-proto",
    "mco-collector",
    "mco-analyzer",
    "mcoctl",
    "mco-cache",
    "mco-daemon",
    "mco-cluster-tests",
];

/// What helps tests only is allowed to look across, but never up to what is built on a crate.
const DEV_ALLOWED: [(&str, &[&str]); 4] = [
    ("mco-actions", &["mco-plugins-builtin", "mco-objects"]),
    ("mco-plugin", &["mco-objects", "mco-plugins-builtin"]),
    ("mco-plugins-builtin", &["mco-objects", "mco-actions"]),
    ("mco-cluster-tests", &["mco-cache", "mco-model", "mco-objects"]),
];

fn metadata(arguments: &[&str]) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo can be run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// The target of this machine, as rustc names it.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc can be run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}

struct Edge {
    from: String,
    to: String,
    is_dev: bool,
}

fn direct_edges() -> Vec<Edge> {
    let metadata = metadata(&["--no-deps"]);
    let mut edges = Vec::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        for dependency in package["dependencies"]
            .as_array()
            .expect("a list of dependencies")
        {
            edges.push(Edge {
                from: package["name"].as_str().expect("a name").to_owned(),
                to: dependency["name"].as_str().expect("a name").to_owned(),
                is_dev: dependency["kind"] == "dev",
            });
        }
    }
    edges
}

#[test]
fn our_crates_depend_only_downwards() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into();
    let for_tests: BTreeMap<&str, &[&str]> = DEV_ALLOWED.into();
    let edges = direct_edges();
    let ours: BTreeSet<&str> = edges.iter().map(|edge| edge.from.as_str()).collect();
    let forbidden: Vec<String> = edges
        .iter()
        .filter(|edge| ours.contains(edge.to.as_str()) && edge.from != edge.to)
        .filter(|edge| {
            let listed = |table: &BTreeMap<&str, &[&str]>| {
                table
                    .get(edge.from.as_str())
                    .is_some_and(|targets| targets.contains(&edge.to.as_str()))
            };
            !(listed(&allowed) || edge.is_dev && listed(&for_tests))
        })
        .map(|edge| {
            format!(
                "{} -> {}{}",
                edge.from,
                edge.to,
                if edge.is_dev { " (for tests)" } else { "" }
            )
        })
        .collect();
    assert!(forbidden.is_empty(), "forbidden: {forbidden:#?}");
    let unknown: Vec<&&str> = ours.iter().filter(|name| !allowed.contains_key(*name)).collect();
    assert!(
        unknown.is_empty(),
        "crates without a line in this test: {unknown:?}"
    );
}

#[test]
fn clients_and_servers_are_used_only_at_the_edges() {
    let wire = ["kube", "k8s-openapi", "tokio", "tonic", "axum", "hyper"];
    let forbidden: Vec<String> = direct_edges()
        .into_iter()
        .filter(|edge| wire.contains(&edge.to.as_str()) && !CONNECTED.contains(&edge.from.as_str()))
        .map(|edge| format!("{} -> {}", edge.from, edge.to))
        .collect();
    assert!(forbidden.is_empty(), "forbidden: {forbidden:#?}");
}

#[test]
fn the_core_reaches_no_network_no_runtime_and_no_chance() {
    // For this machine alone: what other systems need may not be here.
    let metadata = metadata(&["--filter-platform", &host()]);
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .iter()
        .map(|package| {
            (
                package["id"].as_str().expect("an id"),
                package["name"].as_str().expect("a name"),
            )
        })
        .collect();
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        let built_in = |kinds: &Value| {
            kinds
                .as_array()
                .into_iter()
                .flatten()
                .any(|kind| kind["kind"].is_null())
        };
        let dependencies = node["deps"].as_array().expect("a list of dependencies").iter();
        below.insert(
            node["id"].as_str().expect("an id"),
            dependencies
                .filter(|dependency| built_in(&dependency["dep_kinds"]))
                .map(|dependency| dependency["pkg"].as_str().expect("an id"))
                .collect(),
        );
    }
    for (start, name) in names.iter().filter(|(_, name)| PURE.contains(name)) {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![*start];
        while let Some(id) = waiting.pop() {
            if reached.insert(id) {
                waiting.extend(below.get(id).into_iter().flatten());
            }
        }
        let impure: Vec<&&str> = reached
            .iter()
            .filter_map(|id| names.get(id))
            .filter(|name| IMPURE.contains(name))
            .collect();
        assert!(impure.is_empty(), "{name} reaches {impure:?}");
    }
}
