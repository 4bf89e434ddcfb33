//! Where a pod may go, node by node, and how good it is there.

use crate::case::said;
use crate::setup::{self, close, items};
use crate::verdict::Verdict;
use mco_registry::{Phase, Registry, World, run_cycle_with};
use serde_json::{Value, json};

/// Runs a case of one pod and its nodes through `predicates`, and `nodeorder` where the case has it.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    let mut plugins = vec![json!({"name": "predicates", "arguments": case["arguments"]})];
    if let Some(arguments) = case.get("nodeorder") {
        plugins.push(json!({"name": "nodeorder", "arguments": arguments}));
    }
    // JSON is YAML.
    let conf = match setup::conf(&json!({"actions": "allocate", "tiers": [{"plugins": plugins}]}).to_string())
    {
        Ok(conf) => conf,
        Err(error) => return Verdict::Failed(format!("conf: {error}")),
    };
    let registry = Registry::new();
    let missing = setup::missing(&conf, &registry);
    if !missing.is_empty() {
        return Verdict::Skipped(missing.join(", "));
    }
    let mut world = World::new("default");
    let pod = &case["pod"];
    let group = json!({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
        "metadata": {"name": pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"],
            "namespace": pod["metadata"]["namespace"]},
        "spec": {"minMember": 1, "queue": "default"}, "status": {"phase": "Inqueue"}});
    let queue = json!({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
        "metadata": {"name": "default"}, "spec": {"weight": 1}});
    let objects = [&queue, &group]
        .into_iter()
        .chain(items(&case["nodes"]))
        .chain(items(&case["others"]))
        .chain([pod]);
    if let Err(error) = setup::apply_all(&mut world, objects) {
        return Verdict::Failed(format!("cannot be read: {error}"));
    }
    let mut answers = None;
    let task = world.cluster().find_task(
        pod["metadata"]["namespace"].as_str().unwrap_or("default"),
        pod["metadata"]["name"].as_str().unwrap_or_default(),
    );
    let Some(task) = task else {
        return Verdict::Failed("the pod is not taken up".to_owned());
    };
    let mut look = |phase: Phase<'_>, session: Option<&mco_framework::Session<'_>>| {
        if let (Phase::Open, Some(session)) = (phase, session) {
            answers = Some(said(session, task));
        }
    };
    let _ = run_cycle_with(world.cluster_mut(), &conf, &registry, setup::cycle(1), &mut look);
    let Some(answers) = answers else {
        return Verdict::Failed("no session".to_owned());
    };
    let mut differences = Vec::new();
    for (node, expected) in case["expect"]["nodes"].as_object().into_iter().flatten() {
        match (answers.rejected.get(node), expected["fits"] == true) {
            (Some(reason), true) => differences.push(format!("{node}: refused, but should fit: {reason}")),
            (None, false) => {
                differences.push(format!("{node}: fits, but should not: {}", expected["reason"]))
            }
            _ => {}
        }
        let score = answers.scores.get(node);
        let Some(wanted) = expected.get("score") else {
            continue;
        };
        let agrees = match (score, wanted.as_f64()) {
            (Some(score), Some(wanted)) => close(*score, wanted),
            (None, None) => true,
            _ => false,
        };
        if !agrees {
            differences.push(format!("{node}: score {score:?}, not {wanted}"));
        }
    }
    Verdict::of(differences)
}
