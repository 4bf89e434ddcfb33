//! The cases that are shared with other implementations of the contract.

use super::fixture::*;
use mco_framework::conf::Value;
use mco_model::interference::{InterferenceReport, NodeInterference};
use mco_model::time::Time;
use mco_model::{Cluster, Event};
use std::path::PathBuf;

fn shared(path: &str) -> PathBuf {
    let root = std::env::var_os("MCO_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    root.unwrap_or_else(beside).join(path)
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap()),
        },
        serde_json::Value::String(text) => Value::Str(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value).collect()),
        serde_json::Value::Object(pairs) => Value::Map(
            pairs
                .iter()
                .map(|(key, entry)| (Value::Str(key.clone()), value(entry)))
                .collect(),
        ),
    }
}

#[test]
fn recorded_cases() {
    let path = shared("conformance/interference/plugin.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no cases at {}", path.display());
        return;
    };
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        let name = &case["name"];
        let mut cluster = Cluster::new("default");
        for (node_name, labels) in case["nodeLabels"].as_object().unwrap() {
            node(&mut cluster, node_name, |record| {
                let labels = labels.as_object().unwrap();
                record.labels = labels
                    .iter()
                    .map(|(key, text)| (key.as_str().into(), text.as_str().unwrap().into()))
                    .collect();
            });
        }
        pod(&mut cluster, case["pod"]["runtimeClassName"].as_str());
        let now = Time::from_seconds(1_000_000);
        if let Some(age) = case["report"]["ageSeconds"].as_i64() {
            let nodes = case["report"]["nodes"].as_object().unwrap().iter();
            let entries = nodes
                .map(|(name, given)| (name.as_str().into(), recorded_entry(given)))
                .collect();
            cluster.apply(Event::ReportSet(Box::new(InterferenceReport {
                last_update: Some(Time(now.0 - age * 1000)),
                changed_at: None,
                nodes: entries,
            })));
        }
        let arguments = case["arguments"].as_object().unwrap();
        let arguments = arguments
            .iter()
            .map(|(key, json)| (key.as_str(), value(json)))
            .collect();
        let answers = ask(&mut cluster, now, arguments);
        for ((node_name, refusal), score) in answers.refusals.iter().zip(&answers.scores) {
            let expected = &case["expect"][node_name];
            let code = refusal.as_ref().map(|refusal| refusal.reason.code);
            assert_eq!(code, expected["rejected"].as_str(), "{name}, node {node_name}");
            if let Some(expected) = expected["score"].as_f64() {
                assert!(
                    (score - expected).abs() <= 1e-9,
                    "{name}, node {node_name}: {score}, not {expected}"
                );
            }
        }
    }
}

fn recorded_entry(given: &serde_json::Value) -> NodeInterference {
    NodeInterference {
        ok: given["status"] == "ok",
        level: given["interferenceLevel"].as_f64(),
        psi_available: given["psiAvailable"] == true,
        psi_memory_full_avg10: given["metrics"]["psiMemoryFullAvg10"].as_f64(),
        psi_io_some_avg10: given["metrics"]["psiIoSomeAvg10"].as_f64(),
        ..NodeInterference::default()
    }
}
