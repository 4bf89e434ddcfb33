//! Cases from the field: a cluster, what happens to it step by step, and what must hold at each checkpoint.

mod check;
mod stage;

use crate::setup::{self, items};
use crate::verdict::Verdict;
use mco_framework::conf::SchedulerConf;
use mco_framework::tie::TieBreak;
use mco_registry::Registry;
use serde_json::Value;
use stage::{Order, Stage};

/// Runs with the objects in another order, after the one in the order of the file.
const SHUFFLES: u64 = 8;

/// Runs a case in the order of the file and, where its notes fix none, in several others.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    let registry = Registry::new();
    let texts = items(&case["steps"])
        .filter_map(|step| step["conf"].as_str())
        .chain(case["conf"].as_str());
    let confs = texts.filter_map(|text| setup::conf(text).ok());
    let mut missing: Vec<String> = confs
        .flat_map(|conf: SchedulerConf| setup::missing(&conf, &registry))
        .collect();
    missing.sort();
    missing.dedup();
    if !missing.is_empty() {
        return Verdict::Skipped(missing.join(", "));
    }
    let fixed = case["notes"]
        .as_str()
        .is_some_and(|notes| notes.contains("one second"));
    let mut differences = play(
        case,
        &registry,
        Order {
            created_apart: fixed,
            ..Order::default()
        },
        TieBreak::LowestName,
    );
    for seed in 1..=SHUFFLES {
        let order = Order {
            created_apart: fixed,
            shuffled_by: (!fixed).then_some(seed),
        };
        let found = play(case, &registry, order, TieBreak::Seeded(seed));
        differences.extend(
            found
                .into_iter()
                .map(|difference| format!("shuffle {seed}: {difference}")),
        );
    }
    Verdict::of(differences)
}

/// One run of all steps and checkpoints.
fn play(case: &Value, registry: &Registry, order: Order, tie_break: TieBreak) -> Vec<String> {
    let mut differences = Vec::new();
    let mut stage = match Stage::set(case, registry, order, tie_break) {
        Ok(stage) => stage,
        Err(error) => return vec![error],
    };
    differences.extend(moment(case, &mut stage, "start"));
    for step in items(&case["steps"]) {
        let name = step["name"].as_str().unwrap_or_default();
        if step.get("failBind").is_some() {
            // A run of its own from the same start, in which binds fail from the first one on.
            match Stage::set(case, registry, order, tie_break) {
                Ok(anew) => stage = anew,
                Err(error) => return vec![error],
            }
        }
        if let Err(error) = stage.step(step) {
            differences.push(format!("step {name}: {error}"));
            return differences;
        }
        differences.extend(moment(case, &mut stage, name));
    }
    differences
}

/// Lets as many cycles pass as the checkpoints of the moment allow and judges each when its own are over. Wishes
/// (`level: better`) are not asked for.
fn moment(case: &Value, stage: &mut Stage<'_>, name: &str) -> Vec<String> {
    let checkpoints: Vec<&Value> = items(&case["expect"])
        .filter(|checkpoint| checkpoint["after"] == name && checkpoint["level"] != "better")
        .collect();
    let cycles = |checkpoint: &Value| checkpoint["cycles"].as_u64().unwrap_or(1);
    let most = checkpoints
        .iter()
        .map(|checkpoint| cycles(checkpoint))
        .max()
        .unwrap_or(0);
    let mut differences = Vec::new();
    for cycle in 1..=most {
        stage.cycle();
        for checkpoint in checkpoints
            .iter()
            .filter(|checkpoint| cycles(checkpoint) == cycle)
        {
            let found = check::differences(checkpoint, stage);
            differences.extend(
                found
                    .into_iter()
                    .map(|difference| format!("after {name}: {difference}")),
            );
        }
    }
    differences
}
