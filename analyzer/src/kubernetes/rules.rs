//! Follows the DetectionRuleConfig and writes back what became of it.

use std::time::Duration;

use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::runtime::watcher;
use kube::{Api, Client};
use mco_crds::decode::format_time_micros;
use mco_crds::rules as crd;
use mco_crds::{Condition, DetectionRuleConfigStatus};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Names;
use super::follow::{Failure, Follow, Trouble, refusal, told};
use crate::analyzer::Analyzer;
use crate::rules::{RulesUpdate, RulesVerdict};
use crate::time::{Clock, SystemClock};

/// How the API server calls the rules.
const RESOURCE: &str = "detectionruleconfigs.mco.many-core.io";
/// What readiness waits for until the rule object was looked for once.
const READY: &str = "detection rules";
/// A status write that takes longer than this failed.
const DEADLINE: Duration = Duration::from_secs(10);
/// The pause after a status write that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// Applies the rule object to the analyzer whenever it changes, until cancelled. The analyzer is not ready before the
/// object was looked for once.
pub async fn watch_rules(client: Client, names: &Names, analyzer: &Analyzer, stop: CancellationToken) {
    analyzer.health().wait_for(READY);
    let api = api(client, names);
    let wanted = watch::Sender::new(None);
    let follow = stop.run_until_cancelled(follow(&api, &names.rules, analyzer, &wanted));
    let write = stop.run_until_cancelled(write_status(&api, &names.rules, wanted.subscribe()));
    tokio::join!(follow, write);
}

fn api(client: Client, names: &Names) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(mco_crds::GROUP, mco_crds::VERSION, crd::KIND);
    let resource = ApiResource::from_gvk_with_plural(&kind, crd::PLURAL);
    Api::namespaced_with(client, &names.rules_namespace, &resource)
}

async fn follow(
    api: &Api<DynamicObject>,
    name: &str,
    analyzer: &Analyzer,
    wanted: &watch::Sender<Option<DetectionRuleConfigStatus>>,
) {
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut events = Follow::new("the detection rules", RESOURCE, api.clone(), config);
    let mut listed = false;
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => listed = false,
            Ok(watcher::Event::InitApply(object)) => {
                listed = true;
                apply(&object, analyzer, wanted);
            }
            Ok(watcher::Event::InitDone) => {
                if !listed {
                    gone(analyzer, wanted);
                }
                analyzer.health().arrived(READY);
            }
            Ok(watcher::Event::Apply(object)) => apply(&object, analyzer, wanted),
            Ok(watcher::Event::Delete(_)) => gone(analyzer, wanted),
            Err(error) => {
                if let Some(status) = refusal(&error) {
                    match status.code {
                        // Without the definition there can be no object.
                        404 => gone(analyzer, wanted),
                        _ => unreadable(&status.message, analyzer, wanted),
                    }
                    analyzer.health().arrived(READY);
                }
            }
        }
    }
}

fn apply(
    object: &DynamicObject,
    analyzer: &Analyzer,
    wanted: &watch::Sender<Option<DetectionRuleConfigStatus>>,
) {
    let spec = object.data.get("spec").cloned().unwrap_or(Value::Null);
    let verdict = analyzer.apply_rules(&RulesUpdate::Spec {
        spec,
        generation: object.metadata.generation,
    });
    let now = format_time_micros(SystemClock::default().wall_micros());
    wanted.send_replace(new_status(object.data.get("status"), &verdict, now));
}

fn gone(analyzer: &Analyzer, wanted: &watch::Sender<Option<DetectionRuleConfigStatus>>) {
    analyzer.apply_rules(&RulesUpdate::Absent);
    wanted.send_replace(None);
}

fn unreadable(problem: &str, analyzer: &Analyzer, wanted: &watch::Sender<Option<DetectionRuleConfigStatus>>) {
    analyzer.apply_rules(&RulesUpdate::Unreadable {
        problem: format!("the rule object cannot be read: {problem}"),
    });
    wanted.send_replace(None);
}

/// The status the object should have; `None` when it says all that already, so that our own write, which comes back
/// as an event, is the last one.
fn new_status(
    current: Option<&Value>,
    verdict: &RulesVerdict,
    now: String,
) -> Option<DetectionRuleConfigStatus> {
    // What cannot be read is not ours and is replaced.
    let current: DetectionRuleConfigStatus = current
        .and_then(|status| serde_json::from_value(status.clone()).ok())
        .unwrap_or_default();
    let before = current
        .conditions
        .iter()
        .find(|condition| condition.kind == "Accepted");
    let status = if verdict.accepted { "True" } else { "False" };
    let since = before
        .filter(|before| before.status == status)
        .and_then(|before| before.last_transition_time.clone());
    let accepted = Condition {
        kind: "Accepted".to_owned(),
        status: status.to_owned(),
        reason: verdict.reason.as_str().to_owned(),
        message: verdict.message.clone(),
        last_transition_time: Some(since.unwrap_or(now)),
        observed_generation: verdict.observed_generation,
    };
    let others = current
        .conditions
        .iter()
        .filter(|condition| condition.kind != "Accepted")
        .cloned();
    let wanted = DetectionRuleConfigStatus {
        observed_generation: verdict.observed_generation,
        conditions: others.chain([accepted]).collect(),
        effective_hash: Some(verdict.effective_hash.clone()),
    };
    (wanted != current).then_some(wanted)
}

/// Writes the newest wanted status, again after a while when that fails.
async fn write_status(
    api: &Api<DynamicObject>,
    name: &str,
    mut wanted: watch::Receiver<Option<DetectionRuleConfigStatus>>,
) {
    let mut trouble = Trouble::new("the status of the detection rules", "be written");
    while wanted.changed().await.is_ok() {
        loop {
            let Some(status) = wanted.borrow_and_update().clone() else {
                break;
            };
            let patch = Patch::Merge(json!({ "status": status }));
            let params = PatchParams::default();
            let write = api.patch_status(name, &params, &patch);
            match tokio::time::timeout(DEADLINE, write).await {
                Ok(Ok(_)) => {
                    trouble.over();
                    break;
                }
                // Gone in the meantime: nothing to write to.
                Ok(Err(kube::Error::Api(error))) if error.code == 404 => break,
                Ok(Err(error)) => trouble.met(Failure::of(&error), &told(&error, RESOURCE)),
                Err(_) => trouble.met(Failure::Unanswered, "no answer in time"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Rules, RulesKeeper};

    fn verdict(spec: Value) -> RulesVerdict {
        let mut keeper = RulesKeeper::new(Rules::default());
        keeper
            .apply(&RulesUpdate::Spec {
                spec,
                generation: Some(3),
            })
            .clone()
    }

    #[test]
    fn our_own_write_is_not_answered_with_another() {
        let bad = verdict(json!({"weights": {"io": -1}}));
        let first = new_status(None, &bad, "t1".to_owned()).expect("a status");
        assert_eq!(first.observed_generation, Some(3));
        assert_eq!(
            (
                first.conditions[0].status.as_str(),
                first.conditions[0].reason.as_str()
            ),
            ("False", "Invalid")
        );
        assert!(
            first.conditions[0].message.contains("spec.weights.io"),
            "{first:?}"
        );
        let written = serde_json::to_value(&first).unwrap();
        assert_eq!(new_status(Some(&written), &bad, "t2".to_owned()), None);
    }

    #[test]
    fn the_transition_time_changes_only_with_the_verdict() {
        let time = |status: &DetectionRuleConfigStatus| status.conditions[0].last_transition_time.clone();
        let good = verdict(json!({}));
        let first = serde_json::to_value(new_status(None, &good, "t1".to_owned()).unwrap()).unwrap();
        let other = new_status(
            Some(&first),
            &verdict(json!({"weights": {"io": 0.9}})),
            "t2".to_owned(),
        )
        .unwrap();
        assert_eq!(time(&other).as_deref(), Some("t1"), "still accepted");
        let bad = new_status(Some(&first), &verdict(json!("x")), "t3".to_owned()).unwrap();
        assert_eq!(time(&bad).as_deref(), Some("t3"));
    }

    #[test]
    fn a_status_of_the_wrong_shape_is_replaced_and_foreign_conditions_are_kept() {
        let good = verdict(json!({}));
        assert!(new_status(Some(&json!("x")), &good, "t".to_owned()).is_some());
        let foreign = json!({"conditions": [{"type": "Reviewed", "status": "True"}]});
        let status = new_status(Some(&foreign), &good, "t".to_owned()).unwrap();
        let kinds: Vec<_> = status
            .conditions
            .iter()
            .map(|condition| condition.kind.as_str())
            .collect();
        assert_eq!(kinds, ["Reviewed", "Accepted"]);
    }
}
