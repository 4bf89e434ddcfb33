use super::*;
use mco_framework::conf::{Arguments, PluginOption, SchedulerConf, Value};
use mco_framework::fit::FitLog;
use mco_framework::view::Facts;
use mco_framework::{Dependence, NodeScore, Refusal, Scores, Severity, Verdicts};
use mco_model::event::{Amounts, NodeRecord, PodRecord};
use mco_model::interference::{InterferenceReport, NodeInterference};
use mco_model::time::Time;
use mco_model::{Cluster, Event, NodeId, TaskId};
use std::path::PathBuf;

/// What the plugin says to the pod `p` on each node, by name.
struct Answers {
    refusals: Vec<(String, Option<Box<Refusal>>)>,
    scores: Vec<f64>,
}

impl Answers {
    fn code(&self, node: &str) -> Option<&'static str> {
        let (_, refusal) = self.refusals.iter().find(|(name, _)| name == node).unwrap();
        refusal.as_ref().map(|refusal| refusal.reason.code)
    }
}

fn ask(cluster: &mut Cluster, now: Time, arguments: Arguments) -> Answers {
    cluster.refresh();
    let facts = Facts {
        now,
        ..Facts::default()
    };
    let fits = FitLog::default();
    let option = PluginOption {
        arguments,
        ..PluginOption::named(NAME)
    };
    let conf = SchedulerConf::default();
    let view = View::new(cluster, &facts, &fits);
    let mut context = OpenContext {
        view,
        option: &option,
        conf: &conf,
        warnings: Vec::new(),
    };
    let plugin = McoFactory.open(&mut context).unwrap();
    let task: TaskId = cluster.find_task("t", "p").unwrap();
    let nodes: Vec<NodeId> = cluster.nodes.ready().to_vec();
    let predicate = plugin.predicate().unwrap();
    assert_eq!(predicate.dependence(view, task), Dependence::ClassAndNode);
    let mut refusals = vec![None; nodes.len()];
    predicate
        .prepare(view, task)
        .check(&nodes, &mut Verdicts::new(&mut refusals));
    let (mut scores, mut failed) = (vec![0.0; nodes.len()], vec![false; nodes.len()]);
    let order = plugin.node_order().unwrap();
    NodeScore::score(
        order.prepare(view, task).as_ref(),
        &nodes,
        &mut Scores::new(&mut scores, &mut failed),
    );
    let names = nodes.iter().map(|node| cluster.nodes.row(*node).name.to_string());
    Answers {
        refusals: names.zip(refusals).collect(),
        scores,
    }
}

fn node(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut NodeRecord)) {
    let mut record = NodeRecord {
        name: name.into(),
        ready: true,
        allocatable: Amounts {
            milli_cpu: 8000.0,
            memory: 1e9,
            scalars: vec![("pods".into(), 110.0)],
            given: true,
        },
        ..NodeRecord::default()
    };
    change(&mut record);
    cluster.apply(Event::NodeSet(Box::new(record)));
}

fn pod(cluster: &mut Cluster, runtime: Option<&str>) {
    let mut record = PodRecord {
        namespace: "t".into(),
        name: "p".into(),
        uid: "p".into(),
        ours: true,
        request: Amounts {
            milli_cpu: 1000.0,
            memory: 1.0,
            scalars: vec![("pods".into(), 1.0)],
            given: true,
        },
        phase: mco_model::event::PodPhase::Pending,
        ..PodRecord::default()
    };
    record.spec.runtime_class = runtime.map(Into::into);
    cluster.apply(Event::PodSet(Box::new(record)));
}

fn entry(level: f64, memory_full: f64, io_some: f64) -> NodeInterference {
    NodeInterference {
        ok: true,
        level: Some(level),
        psi_available: true,
        psi_memory_full_avg10: Some(memory_full),
        psi_io_some_avg10: Some(io_some),
        ..NodeInterference::default()
    }
}

fn report(nodes: &[(&str, NodeInterference)]) -> Event {
    Event::ReportSet(Box::new(InterferenceReport {
        last_update: None,
        changed_at: Some(Time::from_seconds(100)),
        nodes: nodes
            .iter()
            .map(|(name, entry)| ((*name).into(), entry.clone()))
            .collect(),
    }))
}

#[test]
fn a_refusal_carries_what_was_measured() {
    let mut cluster = Cluster::new("default");
    node(&mut cluster, "hot", |_| ());
    pod(&mut cluster, None);
    cluster.apply(report(&[("hot", entry(0.75, 2.5, 90.0))]));
    let answers = ask(&mut cluster, Time::from_seconds(103), Arguments::default());
    let refusal = answers.refusals[0].1.as_ref().unwrap();
    assert_eq!(refusal.severity, Severity::Unresolvable);
    assert_eq!(refusal.reason.code, "psi_memory_full");
    let measured = refusal.reason.measured.unwrap();
    assert_eq!(
        (measured.value, measured.threshold, measured.age_seconds),
        (2.5, 0.0, 3.0)
    );
    assert_eq!(answers.scores, [25.0]);
}

#[test]
fn a_level_out_of_range_says_nothing() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, None);
    let levels = [
        ("nan", f64::NAN),
        ("above", 1.01),
        ("below", -0.01),
        ("infinite", f64::INFINITY),
    ];
    let entries: Vec<_> = levels
        .iter()
        .map(|(name, level)| (*name, entry(*level, 0.0, 0.0)))
        .collect();
    for (name, _) in levels {
        node(&mut cluster, name, |_| ());
    }
    cluster.apply(report(&entries));
    let answers = ask(&mut cluster, Time::from_seconds(100), Arguments::default());
    assert_eq!(answers.scores, [NEUTRAL_SCORE; 4]);
}

#[test]
fn too_many_nodes_over_a_limit_turn_the_filter_off() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, None);
    for name in ["hot-1", "hot-2", "calm"] {
        node(&mut cluster, name, |_| ());
    }
    node(&mut cluster, "cordoned", |record| record.unschedulable = true);
    node(&mut cluster, "small", |record| {
        record.allocatable.milli_cpu = 100.0
    });
    cluster.apply(report(&[
        ("hot-1", entry(0.9, 0.0, 50.0)),
        ("hot-2", entry(0.9, 0.0, 50.0)),
        ("calm", entry(0.1, 0.0, 0.0)),
    ]));
    for (ratio, filtered) in [(1.0, true), (0.67, true), (0.66, false), (0.0, false)] {
        let arguments = [("maxExcludedRatio", Value::Float(ratio))].into_iter().collect();
        let answers = ask(&mut cluster, Time::from_seconds(100), arguments);
        assert_eq!(
            answers.code("hot-1").is_some(),
            filtered,
            "at {ratio}, with 2 of 3 over a limit"
        );
        assert_eq!(answers.code("calm"), None);
    }
}

#[test]
fn kata_readiness_counts_when_limits_do_not() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, Some("kata-qemu"));
    node(&mut cluster, "plain", |_| ());
    cluster.apply(report(&[("plain", entry(0.9, 9.0, 0.0))]));
    let arguments = [("maxExcludedRatio", Value::Int(0))].into_iter().collect();
    let answers = ask(&mut cluster, Time::from_seconds(100), arguments);
    assert_eq!(answers.code("plain"), Some("kata_not_ready"));
}

fn shared(path: &str) -> PathBuf {
    let root = std::env::var_os("MCO_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    root.unwrap_or_else(beside).join(path)
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap()),
        },
        serde_json::Value::String(text) => Value::Str(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value).collect()),
        serde_json::Value::Object(pairs) => Value::Map(
            pairs
                .iter()
                .map(|(key, entry)| (Value::Str(key.clone()), value(entry)))
                .collect(),
        ),
    }
}

#[test]
fn recorded_cases() {
    let path = shared("conformance/interference/plugin.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no cases at {}", path.display());
        return;
    };
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        let name = &case["name"];
        let mut cluster = Cluster::new("default");
        for (node_name, labels) in case["nodeLabels"].as_object().unwrap() {
            node(&mut cluster, node_name, |record| {
                let labels = labels.as_object().unwrap();
                record.labels = labels
                    .iter()
                    .map(|(key, text)| (key.as_str().into(), text.as_str().unwrap().into()))
                    .collect();
            });
        }
        pod(&mut cluster, case["pod"]["runtimeClassName"].as_str());
        let now = Time::from_seconds(1_000_000);
        if let Some(age) = case["report"]["ageSeconds"].as_i64() {
            let nodes = case["report"]["nodes"].as_object().unwrap().iter();
            let entries = nodes
                .map(|(name, given)| (name.as_str().into(), recorded_entry(given)))
                .collect();
            cluster.apply(Event::ReportSet(Box::new(InterferenceReport {
                last_update: Some(Time(now.0 - age * 1000)),
                changed_at: None,
                nodes: entries,
            })));
        }
        let arguments = case["arguments"].as_object().unwrap();
        let arguments = arguments
            .iter()
            .map(|(key, json)| (key.as_str(), value(json)))
            .collect();
        let answers = ask(&mut cluster, now, arguments);
        for ((node_name, refusal), score) in answers.refusals.iter().zip(&answers.scores) {
            let expected = &case["expect"][node_name];
            let code = refusal.as_ref().map(|refusal| refusal.reason.code);
            assert_eq!(code, expected["rejected"].as_str(), "{name}, node {node_name}");
            if let Some(expected) = expected["score"].as_f64() {
                assert!(
                    (score - expected).abs() <= 1e-9,
                    "{name}, node {node_name}: {score}, not {expected}"
                );
            }
        }
    }
}

fn recorded_entry(given: &serde_json::Value) -> NodeInterference {
    NodeInterference {
        ok: given["status"] == "ok",
        level: given["interferenceLevel"].as_f64(),
        psi_available: given["psiAvailable"] == true,
        psi_memory_full_avg10: given["metrics"]["psiMemoryFullAvg10"].as_f64(),
        psi_io_some_avg10: given["metrics"]["psiIoSomeAvg10"].as_f64(),
        ..NodeInterference::default()
    }
}
