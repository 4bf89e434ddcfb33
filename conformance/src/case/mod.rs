//! Cases of whole clusters: objects, a configuration, and what Volcano decides on them.

mod compare;
mod expect;
mod initial;
mod outcome;
mod perform;

pub(crate) use initial::said;

use crate::setup::{self, items};
use crate::verdict::Verdict;
use mco_framework::conf::SchedulerConf;
use mco_registry::Registry;
use serde_json::Value;

/// Runs a case by the comparison rule.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    if let Some(reason) = volumes(case) {
        return Verdict::Skipped(reason);
    }
    let conf =
        setup::conf(case["conf"].as_str().unwrap_or_default()).unwrap_or_else(|_| SchedulerConf::built_in());
    let registry = Registry::new();
    let missing = setup::missing(&conf, &registry);
    if !missing.is_empty() {
        return Verdict::Skipped(missing.join(", "));
    }
    let expectation = match expect::Expectation::of(case) {
        Ok(expectation) => expectation,
        Err(reason) => return Verdict::Skipped(reason),
    };
    match perform::run(case, &conf, &registry) {
        Ok(run) => {
            let fault =
                matches!(expectation.decisions, expect::Decisions::Ends).then_some("crashes or hangs");
            Verdict::of(compare::differences(&expectation, &run)).where_upstream(fault)
        }
        Err(error) => Verdict::Failed(format!("cannot be read: {error}")),
    }
}

/// Pods with volumes that need a claim are not handled yet.
fn volumes(case: &Value) -> Option<String> {
    let changed = items(&case["changes"]).flat_map(|change| items(&change["set"]));
    let needs = items(&case["objects"]).chain(changed).any(|object| {
        object["kind"] == "PersistentVolumeClaim"
            || items(&object["spec"]["volumes"]).any(|volume| {
                volume.get("persistentVolumeClaim").is_some() || volume.get("ephemeral").is_some()
            })
    });
    needs.then(|| "volume claims".to_owned())
}
