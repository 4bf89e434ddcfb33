//! What `binpack` and `overcommit` make of their arguments, held to the recorded configurations.

use mco_framework::conf::{self, SchedulerConf, float_text};
use mco_plugins_builtin::{binpack, overcommit};
use serde_json::{Value, json};
use std::path::PathBuf;

fn shared(path: &str) -> PathBuf {
    let root = std::env::var_os("MCO_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    root.unwrap_or_else(beside).join(path)
}

fn cases() -> Vec<Value> {
    let folder = shared("conformance/conf");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: no cases at {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let lines = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Value>>()
    };
    paths.iter().flat_map(lines).collect()
}

/// A number as the cases write it.
fn number(number: f64) -> Value {
    if number.is_finite() {
        json!(number)
    } else {
        json!(float_text(number))
    }
}

/// What the plugin uses, under the names of the cases; of a plugin that is listed several times the last entry counts.
fn effective(conf: &SchedulerConf, plugin: &str) -> Option<Value> {
    let option = conf.plugins().filter(|option| option.name == plugin).last()?;
    Some(match plugin {
        "overcommit" => json!({"overCommitFactor": number(overcommit::factor(&option.arguments).0)}),
        _ => {
            let (weights, _) = binpack::Weights::from_arguments(&option.arguments);
            json!({
                "BinPackingCPU": weights.of("cpu"),
                "BinPackingMemory": weights.of("memory"),
                "BinPackingResources": weights.resources,
                "BinPackingWeight": weights.score,
            })
        }
    })
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

#[test]
fn arguments_come_out_as_recorded() {
    let cases = cases();
    let mut compared = 0;
    for case in &cases {
        let (Some(text), Some(effects)) = (case["conf"].as_str(), case["expect"]["effective"].as_object())
        else {
            continue;
        };
        let conf = conf::read(text.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        for plugin in ["binpack", "overcommit"] {
            let Some(expected) = effects.get(plugin) else {
                continue;
            };
            let found = effective(&conf, plugin).unwrap_or_else(|| panic!("{}: no {plugin}", case["name"]));
            assert!(
                same(&found, expected),
                "{}: {found}, not {expected}",
                case["name"]
            );
            compared += 1;
        }
    }
    println!("{compared} compared");
    assert!(cases.is_empty() || compared > 30);
}
