//! Bad input to `mcoctl simulate`: told with its place, left out, and never in the way of anything else.

mod common;

use common::{NODES, gang, group, pod, report, simulate};

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

const MCO: &str = "actions: \"enqueue, allocate, backfill\"
tiers:
- plugins: [{name: gang}, {name: mco-plugin}]
- plugins: [{name: predicates}]
";

fn conf_file(name: &str, text: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("mcoctl-{}-{name}.conf", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    path
}

fn interference(updated: &str, level: &str, io: &str) -> String {
    format!(
        "---\napiVersion: mco.many-core.io/v1alpha1\nkind: NodeInterferenceReport\nmetadata: {{name: cluster}}\nstatus:\n  \
         lastUpdateTime: {updated:?}\n  nodes:\n    n1: {{status: ok, psiAvailable: true, interferenceLevel: {level}, metrics: \
         {{psiIoSomeAvg10: {io}}}}}\n    n2: {{status: ok, psiAvailable: true, interferenceLevel: 0.4, metrics: {{}}}}\n"
    )
}

fn placed(conf: &std::path::Path, cluster: &str) -> serde_json::Value {
    let conf = conf.to_str().expect("a plain path");
    report(&simulate(
        cluster,
        &["--conf", conf, "--tie-break", "lowest-name"],
    ))["binds"]["t/a-0"]
        .clone()
}

#[test]
fn a_broken_configuration_is_refused_with_its_place() {
    let rows = [
        ("typo", "actions: \"enqueue, alocate\"\ntiers: []\n", "alocate"),
        ("yaml", "actions: \"enqueue\"\ntiers:\n- plugins: [\n", "line"),
        (
            "type",
            "actions: \"enqueue\"\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: \"yes\"\n",
            "enableJobOrder",
        ),
    ];
    for (name, text, place) in rows {
        let path = conf_file(name, text);
        let output = simulate(NODES, &["--conf", path.to_str().expect("a plain path")]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(told.contains(place), "{name}: {told}");
    }
}

#[test]
fn odd_annotations_fall_back_and_never_stop_the_pod() {
    let rows = [
        "volcano.sh/task-priority: high",
        "volcano.sh/preemptable: maybe",
        "volcano.sh/task-spec: ''",
    ];
    for odd in rows {
        let pod = pod("a-0", "a", "1", "").replace("annotations: {", &format!("annotations: {{{odd}, "));
        let report = report(&simulate(&format!("{NODES}{}{pod}", group("a", 1, "")), &[]));
        assert!(report["binds"].get("t/a-0").is_some(), "{odd}: {report}");
    }
}

#[test]
fn negative_and_fractional_amounts_are_read_or_told_but_never_crash() {
    for cpu in ["-1", "0.0001", "1.5", "-1e-9", "1e-400"] {
        let output = simulate(
            &format!("{NODES}{}{}", gang("odd", 1, cpu), gang("good", 1, "1")),
            &[],
        );
        let report = report(&output);
        assert!(report["binds"].get("t/good-0").is_some(), "{cpu}: {report}");
        let known = report["binds"].get("t/odd-0").is_some()
            || report["pending"].get("t/odd-0").is_some()
            || report["errors"].to_string().contains("odd-0");
        assert!(known, "{cpu}: the pod is placed, waits, or is told of: {report}");
    }
}

#[test]
fn reports_that_cannot_be_true_keep_no_node_out() {
    let conf = conf_file("mco", MCO);
    let cluster = |report: &str| format!("{NODES}{report}{}", gang("a", 1, "1"));
    let fresh = "2026-11-30T11:59:55Z";
    let rows = [
        (
            "a fresh report keeps a node under pressure out",
            interference(fresh, "0.1", "90"),
            "n2",
        ),
        (
            "and prefers the calmer one",
            interference(fresh, "0.1", "3"),
            "n1",
        ),
        (
            "a level that is no number scores like an unknown node",
            interference(fresh, "\"NaN\"", "3"),
            "n2",
        ),
        (
            "a level out of range scores like an unknown node",
            interference(fresh, "7", "3"),
            "n2",
        ),
        (
            "a report from the future counts for nothing",
            interference("2026-11-30T13:00:00Z", "0.1", "90"),
            "n1",
        ),
        (
            "an old report counts for nothing",
            interference("2026-11-30T11:00:00Z", "0.1", "90"),
            "n1",
        ),
        (
            "a time that is none counts for nothing",
            interference("yesterday", "0.1", "90"),
            "n1",
        ),
        ("no report counts for nothing", String::new(), "n1"),
    ];
    for (name, report, node) in rows {
        assert_eq!(placed(&conf, &cluster(&report)), node, "{name}");
    }
}
