//! `mcoctl simulate` as a user runs it: files in, decisions and reasons out, bad input told and left out.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

const NODES: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"#;

fn group(name: &str, min: usize, more: &str) -> String {
    format!(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {{name: {name}, namespace: t}}\n\
         spec: {{minMember: {min}{more}}}\n"
    )
}

fn pod(name: &str, group: &str, cpu: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: t\n  \
         annotations: {{scheduling.k8s.io/group-name: {group}}}\nspec:\n  schedulerName: volcano\n  \
         containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu:?}}}}}}}]\n{more}"
    )
}

fn gang(name: &str, size: usize, cpu: &str) -> String {
    let pods = (0..size).map(|index| pod(&format!("{name}-{index}"), name, cpu, ""));
    group(name, size, "") + &pods.collect::<String>()
}

fn simulate(cluster: &str, flags: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcoctl"))
        .args([
            "simulate",
            "--cluster",
            "-",
            "--now",
            "2026-11-30T12:00:00Z",
            "-o",
            "json",
        ])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mcoctl starts");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(cluster.as_bytes())
        .expect("mcoctl reads");
    child.wait_with_output().expect("mcoctl ends")
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no JSON: {error}\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_gang_that_fits_is_bound_and_one_that_does_not_waits_whole() {
    let cluster = format!("{NODES}{}{}", gang("a", 2, "3"), gang("b", 2, "3"));
    let output = simulate(&cluster, &["--tie-break", "lowest-name"]);
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(report["binds"], serde_json::json!({"t/a-0": "n1", "t/a-1": "n2"}));
    assert_eq!(report["podgroups"]["t/a"]["phase"], "Running");
    assert_eq!(
        report["podgroups"]["t/b"]["conditions"][0]["reason"],
        "NotEnoughResources"
    );
    let waiting = &report["pending"]["t/b-0"];
    assert_eq!(waiting["status"], "Pending");
    assert_eq!(waiting["reason"], "Unschedulable");
}

#[test]
fn with_lowest_names_the_order_of_files_does_not_matter() {
    let (a, b) = (gang("a", 2, "3"), gang("b", 3, "1"));
    let one = simulate(&format!("{NODES}{a}{b}"), &["--tie-break", "lowest-name"]);
    let two = simulate(&format!("{b}{a}---\n{NODES}"), &["--tie-break", "lowest-name"]);
    assert_eq!(report(&one)["binds"], report(&two)["binds"]);
}

#[test]
fn a_broken_document_is_told_with_its_place_and_stops_nothing_else() {
    let cluster = format!("{NODES}---\nkind: [Pod\n{}", gang("a", 1, "1"));
    let output = simulate(&cluster, &[]);
    let report = report(&output);
    assert_eq!(output.status.code(), Some(1), "some input was refused");
    assert_eq!(report["binds"].as_object().map(serde_json::Map::len), Some(1));
    let errors = report["errors"].as_array().expect("errors are listed");
    assert!(
        errors
            .iter()
            .any(|error| error.as_str().is_some_and(|text| text.contains("document 3"))),
        "{errors:?}"
    );
}

#[test]
fn quantities_that_make_no_sense_are_told_with_their_field() {
    let rows = [
        ("1e400x", "requests.cpu"),
        ("-", "requests.cpu"),
        ("one", "requests.cpu"),
    ];
    for (cpu, place) in rows {
        let output = simulate(
            &format!("{NODES}{}{}", gang("bad", 1, cpu), gang("good", 1, "1")),
            &[],
        );
        let report = report(&output);
        assert!(
            report["binds"].get("t/good-0").is_some(),
            "{cpu}: the other gang is bound"
        );
        if output.status.code() == Some(1) {
            assert!(
                report["errors"].to_string().contains(place),
                "{cpu}: {}",
                report["errors"]
            );
        }
    }
}

#[test]
fn amounts_beyond_all_nodes_or_below_zero_leave_the_pod_waiting() {
    for cpu in ["1e400", "100E"] {
        let report = report(&simulate(&format!("{NODES}{}", gang("a", 1, cpu)), &[]));
        assert_eq!(report["binds"], serde_json::json!({}), "{cpu}");
        assert!(report["pending"].get("t/a-0").is_some(), "{cpu}");
    }
}

#[test]
fn a_pod_that_needs_a_volume_waits_with_that_reason() {
    let claim = "  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]\n";
    let cluster = format!("{NODES}{}{}", group("a", 1, ""), pod("a-0", "a", "1", claim));
    let report = report(&simulate(&cluster, &[]));
    assert_eq!(report["binds"], serde_json::json!({}));
    let message = report["pending"]["t/a-0"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_lowercase();
    assert!(message.contains("volume"), "{message}");
}

#[test]
fn pods_without_group_and_groups_without_queue_are_told_why_they_wait() {
    let alone = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: alone, namespace: t}\n\
                 spec: {schedulerName: volcano, containers: [{name: c, image: i}]}\n";
    let lost = group("lost", 1, ", queue: nowhere") + &pod("lost-0", "lost", "1", "");
    let orphan = pod("orphan-0", "missing", "1", "");
    let report = report(&simulate(&format!("{NODES}{alone}{lost}{orphan}"), &[]));
    let code = |pod: &str| report["pending"][pod]["reasons"][0]["code"].clone();
    assert_eq!(code("t/alone"), "no_pod_group");
    assert_eq!(code("t/lost-0"), "queue_missing");
    assert_eq!(code("t/orphan-0"), "pod_group_missing");
}

#[test]
fn between_cycles_bound_pods_run_and_their_room_is_taken() {
    let cluster = format!("{NODES}{}{}", gang("a", 2, "3"), gang("b", 2, "3"));
    let report = report(&simulate(
        &cluster,
        &["--cycles", "3", "--tie-break", "lowest-name"],
    ));
    let cycles = report["perCycle"].as_array().expect("three cycles");
    assert_eq!(cycles.len(), 3);
    assert_eq!(cycles[1]["binds"], serde_json::json!({}));
    assert_eq!(report["podgroups"]["t/a"]["phase"], "Running");
}

#[test]
fn time_says_how_long_each_part_took() {
    let report = report(&simulate(&format!("{NODES}{}", gang("a", 2, "1")), &["--time"]));
    let timing = &report["timing"];
    for key in [
        "openSeconds",
        "closeSeconds",
        "cycleWallSeconds",
        "cycleCpuSeconds",
        "peakRssMiB",
    ] {
        assert!(
            timing[key].as_f64().is_some_and(|figure| figure >= 0.0),
            "{key}: {timing}"
        );
    }
    assert!(timing["actions"]["allocate"].is_number());
    assert_eq!((&timing["binds"], &timing["evicts"]), (&2.into(), &0.into()));
}

#[test]
fn what_cannot_be_run_is_refused_with_a_sentence() {
    let rows: [(&[&str], &str); 4] = [
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--cycles", "0"], "--cycles 0"),
        (&["--conf", "/does/not/exist.conf"], "/does/not/exist.conf"),
        (&["--tie-break", "coin"], "coin"),
    ];
    for (flags, named) in rows {
        let output = simulate(NODES, flags);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(told.contains(named), "{flags:?}: {told}");
    }
}
