//! The shared cases of what a pod asks for.

#[path = "../../model/tests/common/mod.rs"]
mod common;

use common::{cases, number};
use mco_model::quantity::Quantity;
use mco_model::resource::{Unit, unit_of};
use mco_objects::request_of_pod;
use serde_json::Value;
use std::collections::BTreeMap;

const FAMILIES: [&str; 9] = [
    "containers",
    "init",
    "sidecars",
    "overhead",
    "limits",
    "pod-level",
    "resize",
    "ephemeral",
    "best-effort",
];

#[test]
fn pods_ask_for_what_kubernetes_counts_and_one_pod() {
    let mut failures = Vec::new();
    let mut passed = 0;
    for family in FAMILIES {
        for case in cases(&format!("pod-requests/{family}.jsonl"))
            .into_iter()
            .flatten()
        {
            match check(&case) {
                Ok(()) => passed += 1,
                Err(failure) => failures.push(format!("{}: {failure}", case["name"])),
            }
        }
    }
    println!("{passed} cases passed");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let request = request_of_pod(case["pod"].to_string().as_bytes()).map_err(|error| error.to_string())?;
    let amounts = &request.amounts;
    let recorded = &case["kubernetes1.34"]["inUnits"];
    let mut expected = BTreeMap::from([
        ("cpu", number(&recorded["cpu"])),
        ("memory", number(&recorded["memory"])),
    ]);
    let scalars = recorded["scalars"].as_object().into_iter().flatten();
    expected.extend(
        scalars
            .filter(|(name, _)| unit_of(name).is_some())
            .map(|(name, at)| (name.as_str(), number(at))),
    );
    *expected.entry("pods").or_default() += 1.0;
    let mut got = BTreeMap::from([("cpu", amounts.milli_cpu), ("memory", amounts.memory)]);
    got.extend(amounts.scalars.iter().map(|(name, amount)| (&**name, *amount)));
    for (name, text) in case["kubernetes1.34"]["requests"]
        .as_object()
        .into_iter()
        .flatten()
    {
        // Where the amount does not fit in 64 bits, upstream wraps around; ours stays at the end.
        let unit = if name == "memory" {
            Unit::Whole
        } else {
            Unit::Milli
        };
        let exact = unit.of(&Quantity::parse(text.as_str().unwrap()).unwrap());
        if exact >= i64::MAX as f64 {
            expected.insert(name, exact);
        }
    }
    if got != expected {
        return Err(format!("{got:?}, not {expected:?}"));
    }
    let nothing = expected
        .iter()
        .all(|(name, amount)| *name == "pods" || *amount <= 0.0);
    if request.best_effort != nothing {
        return Err(format!("best effort is {}", request.best_effort));
    }
    Ok(())
}
