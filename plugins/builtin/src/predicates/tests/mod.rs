//! The plugin on small clusters.

mod affinity;
mod spread;
mod task;

use super::{PredicatesFactory, Switches};
use crate::fixture::{Fixture, amounts, conf};
use mco_framework::conf::{Arguments, PluginOption, Value};
use mco_framework::{Dependence, Refusal, SessionPlugin, Severity, Verdicts};
use mco_model::event::{NodeRecord, PodRecord};
use mco_model::spec::{Claim, LabelSelector, PodAffinityTerm, Taint, Text, TopologySpreadConstraint};
use mco_model::status::TaskStatus;
use mco_model::{Event, NodeId, TaskId};

const HOST: &str = "kubernetes.io/hostname";

/// Nodes `a1` and `a2` in zone `a`, `b1` in zone `b`, and `bare` without a zone.
fn cluster() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.queue("default", |_| {});
    fixture.job("g", "default", |_| {});
    for (name, zone) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("bare", "")] {
        node(&mut fixture, name, zone, |_| {});
    }
    fixture
}

fn node(fixture: &mut Fixture, name: &str, zone: &str, change: impl FnOnce(&mut NodeRecord)) {
    let mut record = NodeRecord {
        name: name.into(),
        allocatable: amounts("cpu=8,memory=8e9"),
        ready: true,
        max_pods: 3,
        ..NodeRecord::default()
    };
    record.labels.insert(HOST.into(), name.into());
    if !zone.is_empty() {
        record.labels.insert("zone".into(), zone.into());
    }
    change(&mut record);
    fixture.cluster.apply(Event::NodeSet(Box::new(record)));
}

fn labels(app: &str) -> impl Fn(&mut PodRecord) {
    move |pod| {
        pod.labels.insert("app".into(), app.into());
    }
}

fn selects(app: &str) -> Option<LabelSelector> {
    let labels = [(Text::from("app"), Text::from(app))].into();
    Some(LabelSelector {
        labels,
        expressions: vec![],
    })
}

fn term(app: &str, key: &str) -> PodAffinityTerm {
    PodAffinityTerm {
        selector: selects(app),
        topology_key: key.into(),
        ..PodAffinityTerm::default()
    }
}

fn with(app: &str, key: &str) -> impl Fn(&mut PodRecord) {
    let term = term(app, key);
    move |pod| pod.spec.pod_affinity.required.push(term.clone())
}

fn without(app: &str, key: &str) -> impl Fn(&mut PodRecord) {
    let term = term(app, key);
    move |pod| pod.spec.pod_anti_affinity.required.push(term.clone())
}

fn answers(fixture: &Fixture, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<(String, Option<Refusal>)> {
    let view = fixture.view();
    let nodes: Vec<NodeId> = view.nodes.ready().to_vec();
    let mut refusals = vec![None; nodes.len()];
    match plugin.pre_predicate().unwrap().check(view, task) {
        Err(reason) => refusals.fill(Some(Box::new(Refusal::unresolvable(reason)))),
        Ok(()) => {
            let check = plugin.predicate().unwrap().prepare(view, task);
            check.check(&nodes, &mut Verdicts::new(&mut refusals));
        }
    }
    let name = |node: &NodeId| view.nodes.row(*node).name.to_string();
    nodes
        .iter()
        .map(name)
        .zip(
            refusals
                .into_iter()
                .map(|refusal| refusal.map(|refusal| *refusal)),
        )
        .collect()
}

/// Names of the nodes that take the task.
fn fits(fixture: &Fixture, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<String> {
    let answers = answers(fixture, plugin, task).into_iter();
    answers
        .filter(|(_, refusal)| refusal.is_none())
        .map(|(name, _)| name)
        .collect()
}

fn codes(fixture: &Fixture, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<String> {
    let code = |refusal: Option<Refusal>| refusal.map_or("fits", |refusal| refusal.reason.code).to_owned();
    answers(fixture, plugin, task)
        .into_iter()
        .map(|(_, refusal)| code(refusal))
        .collect()
}

fn place(fixture: &mut Fixture, task: TaskId, node: &str) {
    let node = fixture.cluster.nodes.find(node).unwrap();
    fixture.cluster.set_status(task, TaskStatus::Allocated);
    fixture.cluster.count_on(task, node);
    fixture.cluster.occupy(task, node);
}

fn take_back(fixture: &mut Fixture, task: TaskId) {
    let node = fixture.cluster.task(task).node.unwrap();
    fixture.cluster.vacate(task, node);
    fixture.cluster.set_status(task, TaskStatus::Pending);
    fixture.cluster.uncount(task);
}

fn arguments(pairs: &[(&str, Value)]) -> mco_framework::conf::SchedulerConf {
    let arguments: Arguments = pairs.iter().map(|(key, value)| (*key, value.clone())).collect();
    conf(PluginOption {
        arguments,
        ..PluginOption::named("predicates")
    })
}
