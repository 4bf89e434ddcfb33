//! What a pod asks for, by the rules of Kubernetes 1.34.

use super::number;
use crate::verdict::Verdict;
use mco_model::resource::unit_of;
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs a case of one pod: ours is what Kubernetes counts, in the units of the scheduler, and one of `pods` more.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    let request = match mco_objects::request_of_pod(case["pod"].to_string().as_bytes()) {
        Ok(request) => request,
        Err(error) => return Verdict::Failed(format!("cannot be read: {error}")),
    };
    let wanted = &case["kubernetes1.34"]["inUnits"];
    let mut scalars: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, amount) in wanted["scalars"].as_object().into_iter().flatten() {
        if unit_of(name).is_some() {
            scalars.insert(name, number(amount));
        }
    }
    *scalars.entry("pods").or_default() += 1.0;
    let ours: BTreeMap<&str, f64> = request
        .amounts
        .scalars
        .iter()
        .map(|(name, amount)| (&**name, *amount))
        .collect();
    let (cpu, memory) = (number(&wanted["cpu"]), number(&wanted["memory"]));
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
    Verdict::of(differences)
}
