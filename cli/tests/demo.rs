//! `mcoctl demo` from the outside: the real collector, analyzer and scheduler core in one process.

use serde_json::Value;
use std::process::{Command, Output};

fn demo(arguments: &[&str]) -> Output {
    let mcoctl = env!("CARGO_BIN_EXE_mcoctl");
    Command::new(mcoctl)
        .arg("demo")
        .args(arguments)
        .output()
        .expect("it is built")
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {path} in {value:#}"))
}

fn find<'a>(summary: &'a Value, list: &str, name: &str) -> &'a Value {
    let items = summary[list]
        .as_array()
        .unwrap_or_else(|| panic!("no {list} in {summary:#}"));
    items
        .iter()
        .find(|item| item["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {items:#?}"))
}

#[test]
fn once_places_a_gang_by_what_real_and_simulated_collectors_streamed() {
    let output = demo(&["--once", "--window", "5", "-o", "json"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let summary: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{told}"));
    assert_eq!(
        (output.status.code(), &summary["outcome"]),
        (Some(0), &"held".into()),
        "{told}\n{summary:#}"
    );
    assert_eq!(summary["warnings"], serde_json::json!([]));

    let host = summary["host"]["name"].as_str().expect("this machine has a name");
    let here = find(&summary, "nodes", host);
    assert_eq!(
        (&here["simulated"], &here["report"]["status"]),
        (&false.into(), &"ok".into()),
        "{here:#}"
    );
    assert!((0.0..=1.0).contains(&number(here, "/report/interferenceLevel")));
    assert!(number(here, "/report/metrics/memAvailableRatio") > 0.0);

    // Every level comes from the analyzer: 0.3 x 0.08 x 0.4 / 0.175 + 0.3 x 0.5 / 50 + 0.4 x (0.08 + 0.25) / 2.
    let level = |name: &str| number(find(&summary, "nodes", name), "/report/interferenceLevel");
    assert!(
        (level("sim-calm") - 0.123_857).abs() < 1e-4,
        "{}",
        level("sim-calm")
    );
    assert!(level("sim-calm") < level("sim-fair") && level("sim-fair") < level("sim-polluted"));
    let detected = |name: &str| find(&summary, "nodes", name)["report"]["detections"][0]["type"].clone();
    assert_eq!(
        (detected("sim-polluted"), detected("sim-hot")),
        ("CachePollution".into(), "IOQueueCongestion".into())
    );

    let gang = find(&summary, "jobs", "demo/first");
    assert_eq!(
        (&gang["state"], &gang["phase"]),
        (&"placed".into(), &"Running".into()),
        "{gang:#}"
    );
    let pods: Vec<_> = gang["pods"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pod| pod["node"].as_str())
        .collect();
    assert_eq!(pods.len(), 2);
    assert!(
        pods.contains(&Some("sim-calm")),
        "one of the two calmest nodes in any case: {pods:?}"
    );
    assert!(
        pods[0] != pods[1] && !pods.contains(&None) && !pods.contains(&Some("sim-hot")),
        "{pods:?}"
    );
    let said = gang["candidates"].as_array().expect("a list");
    let hot = said
        .iter()
        .find(|candidate| candidate["node"] == "sim-hot")
        .expect("it was asked");
    assert_eq!(hot["refused"]["code"], "psi_io_some");
    assert_eq!(
        (
            number(hot, "/refused/value").round(),
            number(hot, "/refused/threshold")
        ),
        (42.0, 20.0)
    );
    assert!(number(hot, "/refused/ageSeconds") >= 0.0);
    let verdicts: Vec<_> = summary["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|check| check["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["held", "notAsked", "notAsked", "held", "notAsked"]);
}

#[test]
fn what_cannot_be_used_is_told_by_name() {
    let rows: [(&[&str], &str); 4] = [
        (&["--cluster", "/nowhere.yaml"], "--cluster /nowhere.yaml"),
        (&["--conf", "/nowhere.conf"], "--conf /nowhere.conf"),
        (&["--load-seconds", "100000"], "--load-seconds"),
        (&["--colour"], "--colour"),
    ];
    for (arguments, part) in rows {
        let output = demo(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part), "{told}");
    }
}
