//! What a pod asks for, by the rules of Kubernetes 1.34.

use super::number;
use crate::verdict::Verdict;
use mco_model::quantity::Quantity;
use mco_model::resource::{Unit, unit_of};
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs a case of one pod: ours is what Kubernetes counts, in the units of the scheduler, and one of `pods` more.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    let request = match mco_objects::request_of_pod(case["pod"].to_string().as_bytes()) {
        Ok(request) => request,
        Err(error) => return Verdict::Failed(format!("cannot be read: {error}")),
    };
    let kubernetes = &case["kubernetes1.34"];
    let wanted = &kubernetes["inUnits"];
    let mut scalars: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, amount) in wanted["scalars"].as_object().into_iter().flatten() {
        if unit_of(name).is_some() {
            scalars.insert(name, sane(kubernetes, name, number(amount)));
        }
    }
    *scalars.entry("pods").or_default() += 1.0;
    let ours: BTreeMap<&str, f64> = request
        .amounts
        .scalars
        .iter()
        .map(|(name, amount)| (&**name, *amount))
        .collect();
    let of = |name: &str| sane(kubernetes, name, number(&wanted[name]));
    let (cpu, memory) = (of("cpu"), of("memory"));
    let mut differences = Vec::new();
    if request.amounts.milli_cpu != cpu {
        differences.push(format!("cpu {}, not {cpu}", request.amounts.milli_cpu));
    }
    if request.amounts.memory != memory {
        differences.push(format!("memory {}, not {memory}", request.amounts.memory));
    }
    if ours != scalars {
        differences.push(format!("scalars {ours:?}, not {scalars:?}"));
    }
    let nothing = cpu < 0.1
        && memory < 0.1
        && scalars
            .iter()
            .all(|(name, amount)| *name == "pods" || *amount < 0.1);
    if request.best_effort != nothing {
        differences.push(format!("best effort {}, not {nothing}", request.best_effort));
    }
    let wraps = cpu != number(&wanted["cpu"])
        || memory != number(&wanted["memory"])
        || scalars.iter().any(|(name, amount)| {
            wanted["scalars"]
                .get(*name)
                .is_some_and(|recorded| *name != "pods" && number(recorded) != *amount)
        });
    Verdict::of(differences).where_upstream(wraps.then_some("wraps around"))
}

/// The amount as recorded; where upstream wrapped around because the request does not fit into 64 bits, the most that
/// does.
fn sane(kubernetes: &Value, name: &str, recorded: f64) -> f64 {
    let asked = kubernetes["requests"][name]
        .as_str()
        .and_then(|text| Quantity::parse(text).ok());
    let unit = if unit_of(name) == Some(Unit::Milli) {
        1000.0
    } else {
        1.0
    };
    match asked {
        Some(asked) if asked.as_f64() * unit >= i64::MAX as f64 => i64::MAX as f64,
        _ => recorded,
    }
}
