//! The shared cases of quantities written as YAML scalars.

#[path = "../../model/tests/common/mod.rs"]
mod common;

use common::{cases, number};
use mco_model::quantity::Quantity;
use mco_objects::yaml::to_json;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[test]
fn scalars_in_manifests_are_the_quantities_kubectl_sends() {
    let mut failures = Vec::new();
    let mut passed = 0;
    for case in cases("quantities/yaml-scalar.jsonl").into_iter().flatten() {
        match check(&case) {
            Ok(()) => passed += 1,
            Err(failure) => failures.push(format!("{}: {failure}", case["name"])),
        }
    }
    println!("{passed} cases passed");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let expect = &case["expect"];
    let scalar = case["scalar"].as_str().unwrap();
    let manifest = format!("requests:\n  cpu: {scalar}\n");
    let read = to_json(&manifest)
        .map_err(|error| error.to_string())
        .and_then(|document| {
            let object: BTreeMap<String, BTreeMap<String, Box<RawValue>>> =
                serde_json::from_str(&document.json).unwrap();
            let cpu = &object["requests"]["cpu"];
            match cpu.get() {
                "null" => Ok((Quantity::default(), String::new())),
                text => {
                    let text = text.trim_matches('"').to_owned();
                    Quantity::parse_trimmed(&text)
                        .map(|quantity| (quantity, text))
                        .map_err(|error| error.to_string())
                }
            }
        });
    let quantity = match (read, expect["ok"] == true) {
        (Err(_), false) => return Ok(()),
        (Ok((quantity, _)), false) => return Err(format!("{scalar} reads as {quantity}")),
        (Err(error), true) => return Err(error),
        (Ok((quantity, _)), true) => quantity,
    };
    let float = number(&expect["asFloat"]);
    let close = quantity.as_f64() == float || (quantity.as_f64() / float - 1.0).abs() <= 1e-12;
    let fits = float.abs() * 1000.0 < i64::MAX as f64 * (1.0 - 1e-12);
    let canonical = expect.get("canonicalRecomputed").unwrap_or(&expect["canonical"]);
    if !close || *canonical != quantity.canonical() {
        return Err(format!("{scalar} reads as {quantity}, not {canonical}"));
    }
    if fits && (expect["value"] != quantity.value() || expect["milliValue"] != quantity.milli_value()) {
        return Err(format!(
            "{scalar}: {} and {}",
            quantity.value(),
            quantity.milli_value()
        ));
    }
    Ok(())
}
