//! `mcoctl simulate` as a user runs it: files in, decisions and reasons out.

mod common;

use common::{NODES, gang, group, pod, report, simulate};

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
