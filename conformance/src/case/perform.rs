//! Running a case: its objects into a world, its cycles, what happens between them.

use super::expect::Initial;
use super::initial;
use super::outcome::{self, Cycle, Outcome};
use crate::setup::{self, items};
use mco_framework::Session;
use mco_framework::conf::SchedulerConf;
use mco_objects::{DecodeError, Kind};
use mco_registry::{Phase, PodName, Registry, World, run_cycle, run_cycle_with};
use serde_json::Value;
use std::collections::BTreeMap;

/// What came of a case.
pub(super) struct Run {
    pub(super) outcome: Outcome,
    pub(super) initial: BTreeMap<String, Initial>,
    /// The group of each pod of a group, both as `namespace/name`.
    groups: BTreeMap<String, String>,
}

impl Run {
    /// How many pods of the job were `bound`, `evicted` or `pipelined`.
    pub(super) fn count_of(&self, job: &str, what: &str) -> usize {
        let of_job = |pod: &&String| self.groups.get(*pod).is_some_and(|group| group == job);
        let total = &self.outcome.total;
        match what {
            "bound" => total.binds.keys().filter(of_job).count(),
            "evicted" => total.evicts.iter().filter(of_job).count(),
            _ => total.pipelined.keys().filter(of_job).count(),
        }
    }
}

/// Runs all cycles of a case.
pub(super) fn run(case: &Value, conf: &SchedulerConf, registry: &Registry) -> Result<Run, DecodeError> {
    let mut world = World::new("default");
    setup::apply_all(&mut world, items(&case["objects"]))?;
    setup::node_usage(&case["nodeUsage"]).for_each(|event| world.apply(event));
    let mut run = Run {
        outcome: Outcome::default(),
        initial: BTreeMap::new(),
        groups: BTreeMap::new(),
    };
    let mut cycles = Vec::new();
    for number in 1..=case["cycles"].as_u64().unwrap_or(1) as usize {
        for change in items(&case["changes"]).filter(|change| change["before"] == number) {
            apply_change(&mut world, change)?;
        }
        run.note_groups(&world);
        if number == 1 {
            run.initial = look(&world, conf, registry);
        }
        let outcome = run_cycle(world.cluster_mut(), conf, registry, setup::cycle(number));
        let decided = world.decided(&outcome);
        run.outcome.groups = outcome::groups(world.cluster(), &outcome);
        run.outcome.devices.extend(outcome::devices(&world, &outcome));
        cycles.push(Cycle::of(&decided));
        world.settle(&decided);
    }
    run.outcome.total = total(&cycles);
    run.outcome.per_cycle = Some(cycles);
    Ok(run)
}

/// The answers before any action, from a session of their own: plugins remember what they were asked.
fn look(world: &World, conf: &SchedulerConf, registry: &Registry) -> BTreeMap<String, Initial> {
    let mut world = world.clone();
    let idle = SchedulerConf {
        actions: Vec::new(),
        ..conf.clone()
    };
    let mut answers = BTreeMap::new();
    let mut look = |phase: Phase<'_>, session: Option<&Session<'_>>| {
        if let (Phase::Open, Some(session)) = (phase, session) {
            answers = initial::look(session);
        }
    };
    run_cycle_with(world.cluster_mut(), &idle, registry, setup::cycle(1), &mut look);
    answers
}

impl Run {
    fn note_groups(&mut self, world: &World) {
        for (id, task) in world.cluster().tasks() {
            if let Some(job) = task.job {
                self.groups.insert(
                    world.pod_name(id).to_string(),
                    world.cluster().job(job).uid.to_string(),
                );
            }
        }
    }
}

fn total(cycles: &[Cycle]) -> Cycle {
    let mut total = Cycle::default();
    for cycle in cycles {
        total.binds.extend(cycle.binds.clone());
        total.evicts.extend(cycle.evicts.clone());
    }
    total.evicts.sort();
    total.pipelined = cycles
        .last()
        .map(|last| last.pipelined.clone())
        .unwrap_or_default();
    total
}

fn apply_change(world: &mut World, change: &Value) -> Result<(), DecodeError> {
    for pod in items(&change["finish"]).filter_map(Value::as_str) {
        if let Some((namespace, name)) = pod.split_once('/') {
            world.finish(&PodName {
                namespace: namespace.into(),
                name: name.into(),
            });
        }
    }
    for removed in items(&change["remove"]).filter_map(Value::as_str) {
        remove(world, removed);
    }
    for object in items(&change["set"]) {
        // What is set comes last of its kind, so a node that is replaced arrives anew.
        if let (Some(kind @ Kind::Node), Some(name)) = (kind_of(object), object["metadata"]["name"].as_str())
        {
            world.apply(mco_objects::removal(kind, "", name));
        }
        setup::apply_all(world, [object])?;
    }
    Ok(())
}

fn kind_of(object: &Value) -> Option<Kind> {
    Kind::of(object["apiVersion"].as_str()?, object["kind"].as_str()?)
}

/// `Kind namespace/name`, or `Kind name` for what has no namespace.
fn remove(world: &mut World, removed: &str) {
    let Some((kind, name)) = removed.split_once(' ') else {
        return;
    };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let groups = [
        "v1",
        "scheduling.volcano.sh/v1beta1",
        "scheduling.k8s.io/v1",
        "apps/v1",
    ];
    if let Some(kind) = groups.iter().find_map(|group| Kind::of(group, kind)) {
        world.apply(mco_objects::removal(kind, namespace, name));
    }
}
