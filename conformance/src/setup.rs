//! What all families need to run the core: the moment they stand for, objects into a world, one cycle.

use mco_framework::conf::{ConfError, SchedulerConf};
use mco_framework::tie::TieBreak;
use mco_model::event::Event;
use mco_model::extra::NodeUsageRecord;
use mco_model::time::Time;
use mco_objects::{DecodeError, Options};
use mco_registry::{CycleParameters, World};
use serde_json::Value;

/// The moment at which cases run, 2026-06-01T12:00:00Z. Times in cases lie before it.
pub const NOW: Time = Time::from_seconds(1_780_315_200);

/// Actions that a configuration may name, those of later versions included: whether an action exists is asked later.
pub const ACTIONS: [&str; 8] = [
    "enqueue",
    "allocate",
    "backfill",
    "preempt",
    "reclaim",
    "shuffle",
    "gangpreempt",
    "gangreclaim",
];

/// Plugins of Volcano 1.9 and 1.15. A name beyond them stands for no plugin anywhere.
const VOLCANO_PLUGINS: [&str; 25] = [
    "binpack",
    "capacity",
    "cdp",
    "conformance",
    "deviceshare",
    "drf",
    "extender",
    "gang",
    "network-topology-aware",
    "nodegroup",
    "nodeorder",
    "numa-aware",
    "numaaware",
    "overcommit",
    "pdb",
    "predicates",
    "priority",
    "proportion",
    "rescheduling",
    "resource-strategy-fit",
    "resourcequota",
    "sla",
    "task-topology",
    "tdm",
    "usage",
];

/// Reads a configuration; one that is refused leaves the built-in one in force, as at a start.
pub fn conf(text: &str) -> Result<SchedulerConf, ConfError> {
    mco_framework::conf::read_with_actions(text.as_bytes(), &ACTIONS)
}

/// Plugins and actions of the configuration that Volcano has and this build lacks, by name.
#[must_use]
pub fn missing(conf: &SchedulerConf, registry: &mco_registry::Registry) -> Vec<String> {
    let actions = conf.actions.iter().filter(|name| registry.action(name).is_none());
    let actions = actions.map(|name| format!("action {name}"));
    let known: Vec<&str> = registry.plugin_names().collect();
    let lacks = |name: &str| VOLCANO_PLUGINS.contains(&name) && !known.contains(&name);
    let plugins = conf.plugins().filter(|option| lacks(&option.name));
    let plugins = plugins.map(|option| format!("plugin {}", option.name));
    let mut missing: Vec<String> = actions.chain(plugins).collect();
    missing.sort();
    missing.dedup();
    missing
}

/// The event of an object; `None` when the scheduler does not read such objects. What could not be read of it comes
/// beside.
///
/// # Errors
/// An object that cannot be read at all.
pub fn event(object: &Value) -> Result<(Option<Event>, Vec<DecodeError>), DecodeError> {
    let decoded = mco_objects::decode(object.to_string().as_bytes(), &Options::default())?;
    Ok((decoded.event, decoded.problems))
}

/// Applies objects in their order.
///
/// # Errors
/// The first object that cannot be read.
pub fn apply_all<'a>(
    world: &mut World,
    objects: impl IntoIterator<Item = &'a Value>,
) -> Result<(), DecodeError> {
    for object in objects {
        if let (Some(event), _) = event(object)? {
            world.apply(event);
        }
    }
    Ok(())
}

/// The load of nodes that a case was recorded with, as of [`NOW`].
pub fn node_usage(usage: &Value) -> impl Iterator<Item = Event> + '_ {
    usage.as_object().into_iter().flatten().map(|(node, measured)| {
        let age = measured["ageSeconds"].as_i64().unwrap_or(0);
        let load = |kind: &str| {
            let periods = measured[kind].as_object().into_iter().flatten();
            let load = |(period, load): (&String, &Value)| Some((period.as_str().into(), load.as_f64()?));
            periods.filter_map(load).collect()
        };
        Event::NodeUsageSet(Box::new(NodeUsageRecord {
            node: node.as_str().into(),
            at: Time(NOW.0 - age * 1000),
            cpu: load("cpu"),
            memory: load("memory"),
        }))
    })
}

/// Parameters of the cycle of that number, with ties broken by lowest name.
#[must_use]
pub fn cycle(number: usize) -> CycleParameters {
    CycleParameters {
        uid: format!("session-{number}").as_str().into(),
        now: NOW,
        tie_break: TieBreak::LowestName,
        threads: 1,
    }
}

/// The items of a list; none when it is absent.
pub fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Two numbers agree to a relative difference of 1e-9.
#[must_use]
pub fn close(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}
