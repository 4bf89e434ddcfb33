//! One cycle: open a session, run the configured actions in order, close it.

use crate::Registry;
use mco_framework::close::SessionOutcome;
use mco_framework::conf::SchedulerConf;
use mco_framework::{Session, SessionParameters};
use mco_model::Cluster;

/// What a cycle needs to know besides the cluster and the configuration.
pub type CycleParameters = SessionParameters;

/// A part of a cycle that has just ended, for shells that keep time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase<'a> {
    /// The plugin of that name has opened its part of the session.
    PluginOpen(&'a str),
    /// The plugin of that name has closed its part of the session.
    PluginClose(&'a str),
    /// The session is open.
    Open,
    /// The action of that name is done.
    Action(&'a str),
    /// The session is closed.
    Close,
}

/// Runs one cycle on the cluster. What it commits stays in the cluster as assumed until an event says otherwise.
pub fn run_cycle(
    cluster: &mut Cluster,
    conf: &SchedulerConf,
    registry: &Registry,
    parameters: CycleParameters,
) -> SessionOutcome {
    run_cycle_with(cluster, conf, registry, parameters, &mut |_, _| {})
}

/// Runs one cycle and calls `ended` after each of its parts, with the session while it is open.
pub fn run_cycle_with(
    cluster: &mut Cluster,
    conf: &SchedulerConf,
    registry: &Registry,
    parameters: CycleParameters,
    ended: &mut dyn FnMut(Phase<'_>, Option<&Session<'_>>),
) -> SessionOutcome {
    let mut session = Session::open_with(cluster, conf, registry, parameters, &mut |plugin| {
        ended(Phase::PluginOpen(plugin), None);
    });
    ended(Phase::Open, Some(&session));
    for name in &conf.actions {
        match registry.action(name) {
            Some(action) => action.run(&mut session),
            None => session.warn(format!(
                "action `{name}` does not exist in this version: it is passed over"
            )),
        }
        ended(Phase::Action(name), Some(&session));
    }
    let outcome = session.close_with(&mut |plugin| ended(Phase::PluginClose(plugin), None));
    ended(Phase::Close, None);
    outcome
}
