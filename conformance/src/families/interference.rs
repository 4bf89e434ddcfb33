//! The interference level, its rules, and what mco-plugin makes of a report.

use crate::case::said;
use crate::setup::{self, NOW, close};
use crate::verdict::Verdict;
use mco_model::event::Event;
use mco_model::time::Time;
use mco_registry::{Phase, Registry, World, run_cycle_with};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Runs a case of the level or of its rules.
#[must_use]
pub fn judge_level_or_rules(case: &Value) -> Verdict {
    match mco_analyzer::conformance::judge(&json!([case]).to_string()) {
        Ok(outcomes) => Verdict::of(
            outcomes
                .into_iter()
                .flat_map(|outcome| outcome.differences)
                .collect(),
        ),
        Err(error) => Verdict::Failed(format!("cannot be read: {error}")),
    }
}

/// Runs a case of mco-plugin: one pod, a report of some age, and the nodes it speaks of.
#[must_use]
pub fn judge_plugin(case: &Value) -> Verdict {
    let plugin = json!({"name": "mco-plugin", "arguments": case["arguments"]});
    let conf =
        match setup::conf(&json!({"actions": "allocate", "tiers": [{"plugins": [plugin]}]}).to_string()) {
            Ok(conf) => conf,
            Err(error) => return Verdict::Failed(format!("conf: {error}")),
        };
    let registry = Registry::new();
    if !registry.plugin_names().any(|name| name == "mco-plugin") {
        return Verdict::Skipped("plugin mco-plugin".to_owned());
    }
    let mut world = World::new("default");
    if let Err(error) = setup::apply_all(&mut world, &objects(case)) {
        return Verdict::Failed(format!("cannot be read: {error}"));
    }
    if let Err(error) = apply_report(&mut world, &case["report"]) {
        return Verdict::Failed(error);
    }
    let Some(task) = world.cluster().find_task("ns", "p") else {
        return Verdict::Failed("the pod is not taken up".to_owned());
    };
    let mut found = BTreeMap::new();
    let mut look = |phase: Phase<'_>, session: Option<&mco_framework::Session<'_>>| {
        if let (Phase::Open, Some(session)) = (phase, session) {
            let answers = said(session, task);
            let codes = refusal_codes(session, task);
            found = answers
                .scores
                .into_iter()
                .map(|(node, score)| (node, Ok(score)))
                .collect();
            found.extend(codes.into_iter().map(|(node, code)| (node, Err(code))));
        }
    };
    let _ = run_cycle_with(world.cluster_mut(), &conf, &registry, setup::cycle(1), &mut look);
    let mut differences = Vec::new();
    for (node, expected) in case["expect"].as_object().into_iter().flatten() {
        let agrees = match found.get(node) {
            Some(Ok(score)) => expected["score"]
                .as_f64()
                .is_some_and(|wanted| close(*score, wanted)),
            Some(Err(code)) => expected["rejected"] == *code,
            None => false,
        };
        if !agrees {
            differences.push(format!("{node}: {:?}, not {expected}", found.get(node)));
        }
    }
    Verdict::of(differences)
}

fn objects(case: &Value) -> Vec<Value> {
    let labels = case["nodeLabels"].as_object().into_iter().flatten();
    let amounts = json!({"cpu": "8", "memory": "16Gi", "pods": "110"});
    let node = |(name, labels): (&String, &Value)| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let mut objects: Vec<Value> = labels.map(node).collect();
    let mut spec = case["pod"].as_object().cloned().unwrap_or_default();
    spec.insert("schedulerName".to_owned(), "volcano".into());
    spec.insert(
        "containers".to_owned(),
        json!([{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]),
    );
    let api = "scheduling.volcano.sh/v1beta1";
    objects.extend([
        json!({"apiVersion": api, "kind": "Queue", "metadata": {"name": "default"}, "spec": {"weight": 1}}),
        json!({"apiVersion": api, "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
            "spec": {"minMember": 1, "queue": "default"}, "status": {"phase": "Inqueue"}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns",
            "annotations": {"scheduling.k8s.io/group-name": "g"}}, "spec": spec, "status": {"phase": "Pending"}}),
    ]);
    objects
}

/// The report as it was seen `ageSeconds` ago; its own time stamp says the same.
fn apply_report(world: &mut World, report: &Value) -> Result<(), String> {
    if report.is_null() {
        return Ok(());
    }
    let object = json!({"apiVersion": "mco.many-core.io/v1alpha1", "kind": "NodeInterferenceReport",
        "metadata": {"name": "cluster"}, "status": {"nodes": report["nodes"]}});
    // An entry that cannot be read leaves its node without data.
    let (event, _) = setup::event(&object).map_err(|error| error.to_string())?;
    let Some(Event::ReportSet(mut record)) = event else {
        return Err("no report in it".to_owned());
    };
    let age_ms = report["ageSeconds"].as_f64().unwrap_or(0.0) * 1000.0;
    let seen = Time(NOW.0 - age_ms as i64);
    record.changed_at = Some(seen);
    record.last_update = Some(seen);
    world.apply(Event::ReportSet(record));
    Ok(())
}

fn refusal_codes(
    session: &mco_framework::Session<'_>,
    task: mco_model::TaskId,
) -> Vec<(String, &'static str)> {
    use mco_actions::select::{Room, Search};
    let name = |node| session.view().cluster().nodes.row(node).name.to_string();
    let refusals = Search::new(1).refusals(session, task, Room::Future);
    refusals
        .into_iter()
        .filter_map(|(node, refusal)| Some((name(node), refusal?.reason.code)))
        .collect()
}
