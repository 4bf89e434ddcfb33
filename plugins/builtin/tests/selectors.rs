//! The shared cases of node selection, taints, cordons, host ports and scores, through a session.

use mco_framework::conf::{Arguments, PluginOption, SchedulerConf, Tier, Value};
use mco_framework::points::{Scores, Verdicts};
use mco_framework::{PluginFactory, Plugins, Refusal, Session, SessionParameters, TieBreak};
use mco_model::time::Time;
use mco_model::{Cluster, NodeId, TaskId};
use mco_objects::{Options, decode};
use serde_json::Value as Json;
use std::path::PathBuf;

struct Builtin(Vec<Box<dyn PluginFactory>>);

impl Plugins for Builtin {
    fn find(&self, name: &str) -> Option<&dyn PluginFactory> {
        self.0
            .iter()
            .find(|factory| factory.name() == name)
            .map(AsRef::as_ref)
    }
}

/// The lines of a shared file; nothing, and a word about it, when the shared folder is not there.
fn cases(file: &str) -> Vec<Json> {
    let shared = std::env::var_os("MCO_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join("conformance/selectors").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return Vec::new();
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn items(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn cluster(case: &Json) -> Cluster {
    let mut cluster = Cluster::new("default");
    for object in items(&case["nodes"])
        .chain(items(&case["others"]))
        .chain([&case["pod"]])
    {
        let decoded = decode(object.to_string().as_bytes(), &Options::default()).unwrap();
        cluster.apply(decoded.event.unwrap());
    }
    cluster
}

fn plugin(name: &str, arguments: &Json) -> PluginOption {
    let value = |value: &Json| match value {
        Json::Bool(on) => Value::Bool(*on),
        Json::Number(number) if number.is_i64() => Value::Int(number.as_i64().unwrap()),
        Json::Number(number) => Value::Float(number.as_f64().unwrap()),
        other => Value::Str(other.as_str().unwrap().into()),
    };
    let arguments: Arguments = arguments
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, argument)| (key, value(argument)))
        .collect();
    PluginOption {
        arguments,
        ..PluginOption::named(name)
    }
}

fn conf(case: &Json) -> SchedulerConf {
    let mut plugins = vec![plugin("predicates", &case["arguments"])];
    if !case["nodeorder"].is_null() {
        plugins.push(plugin("nodeorder", &case["nodeorder"]));
    }
    SchedulerConf {
        tiers: vec![Tier { plugins }],
        ..SchedulerConf::default()
    }
}

/// What every node says, asked in blocks of two.
fn refusals(session: &Session<'_>, task: TaskId, nodes: &[NodeId]) -> Vec<Option<Box<Refusal>>> {
    let mut refusals = vec![None; nodes.len()];
    if let Err(reason) = session.pre_predicate(task) {
        refusals.fill(Some(Box::new(Refusal::unresolvable(reason))));
        return refusals;
    }
    for predicate in session.predicates() {
        let check = predicate.prepare(session.view(), task);
        for (nodes, refusals) in nodes.chunks(2).zip(refusals.chunks_mut(2)) {
            check.check(nodes, &mut Verdicts::new(refusals));
        }
    }
    refusals
}

fn scores(session: &Session<'_>, task: TaskId, nodes: &[NodeId]) -> Vec<f64> {
    let (mut totals, mut failed) = (vec![0.0; nodes.len()], vec![false; nodes.len()]);
    for order in session.node_orders() {
        order
            .prepare(session.view(), task)
            .score(nodes, &mut Scores::new(&mut totals, &mut failed));
    }
    for (total, failed) in totals.iter_mut().zip(failed) {
        *total = if failed { 0.0 } else { *total };
    }
    for order in session.batch_node_orders() {
        order.score(session.view(), task, nodes, &mut totals).unwrap();
    }
    totals
}

fn check(case: &Json) -> Vec<String> {
    let mut cluster = cluster(case);
    let known = Builtin(mco_plugins_builtin::factories());
    let parameters = SessionParameters {
        uid: "test".into(),
        now: Time::default(),
        tie_break: TieBreak::LowestName,
        threads: 1,
    };
    let session = Session::open(&mut cluster, &conf(case), &known, parameters);
    let view = session.view();
    let task = view.find_task("ns", "p").unwrap();
    let nodes = view.nodes.ready().to_vec();
    let refusals = refusals(&session, task, &nodes);
    let open = |index: &usize| refusals[*index].is_none();
    let fitting: Vec<NodeId> = (0..nodes.len()).filter(open).map(|index| nodes[index]).collect();
    let scores = scores(&session, task, &fitting);
    let mut differences = Vec::new();
    for (node, refusal) in nodes.iter().zip(&refusals) {
        let name = &view.nodes.row(*node).name;
        let expected = &case["expect"]["nodes"][&**name];
        let at = |what: String| format!("{} on {name}: {what}", case["name"]);
        match (refusal, expected["fits"] == true) {
            (None, true) => {
                let score = fitting
                    .iter()
                    .position(|fitting| fitting == node)
                    .map(|index| scores[index]);
                if expected["score"].is_number() && score != expected["score"].as_f64() {
                    differences.push(at(format!("{score:?} instead of {}", expected["score"])));
                }
            }
            (Some(refusal), false) => {
                let by = expected["by"].as_str().unwrap_or_default();
                let text = format!(
                    "plugin {by} predicates failed {}",
                    expected["reason"].as_str().unwrap_or_default()
                );
                if refusal.reason.text != text {
                    differences.push(at(format!("`{}` instead of `{text}`", refusal.reason.text)));
                }
            }
            (None, false) => differences.push(at(format!("fits, but {expected}"))),
            (Some(refusal), true) => differences.push(at(format!("refused: {}", refusal.reason.text))),
        }
    }
    differences
}

fn run(file: &str) {
    let differences: Vec<String> = cases(file).iter().flat_map(check).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn node_selectors() {
    run("node-selector.jsonl");
}

#[test]
fn node_affinity() {
    run("node-affinity.jsonl");
}

#[test]
fn taints() {
    run("taints.jsonl");
}

#[test]
fn cordons() {
    run("unschedulable.jsonl");
}

#[test]
fn host_ports() {
    run("host-ports.jsonl");
}

#[test]
fn preference_scores() {
    run("scores.jsonl");
}
