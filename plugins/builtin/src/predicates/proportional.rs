//! Keeps CPU and memory of a node for those that use its scarce resources.

use super::reasons::out_of_proportion;
use mco_framework::{Refusal, View};
use mco_model::NodeId;
use mco_model::resource::Resource;
use mco_model::spec::Text;

/// How much CPU and memory belongs to one unit of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportion {
    /// Name of the scarce resource.
    pub resource: Text,
    /// CPUs for one unit.
    pub cpu: f64,
    /// Gigabytes (10^9 bytes) for one unit.
    pub memory: f64,
}

/// Bytes of memory for a thousandth of a unit, at a rate of 1.
const BYTES: f64 = 1e6;

/// Refuses the node when the request would leave too little for what is idle of a scarce resource. Requests that ask for
/// such a resource themselves are free to take it.
pub(super) fn check(
    view: View<'_>,
    node: NodeId,
    request: &Resource,
    proportions: &[Proportion],
) -> Option<Refusal> {
    let known = || {
        proportions
            .iter()
            .filter_map(|proportion| Some((proportion, view.scalars.get(&proportion.resource)?)))
    };
    if known().any(|(_, id)| request.scalar(id).is_some_and(|amount| amount > 0.0)) {
        return None;
    }
    let idle = &view.nodes.idle;
    let (cpu, memory) = (
        idle.milli_cpu(node) - request.milli_cpu,
        idle.memory(node) - request.memory,
    );
    let short = known().find(|(proportion, id)| {
        idle.scalar(node, *id).is_some_and(|amount| {
            cpu < amount * proportion.cpu || memory < amount * proportion.memory * BYTES
        })
    });
    short.map(|(proportion, _)| out_of_proportion(&proportion.resource))
}
