//! What `predicates` says when a node or a task is refused. The texts are those that Volcano's users know.

use mco_framework::{Reason, Refusal};
use mco_model::spec::{Claim, Taint, Text};
use std::fmt::Display;

/// Name of the plugin, as configurations spell it.
pub const NAME: &str = "predicates";

/// Evicting pods from the node may help.
const fn unschedulable(code: &'static str, text: &'static str) -> Refusal {
    Refusal::unschedulable(Reason::fixed(NAME, code, text))
}

/// Evicting pods from the node cannot help.
const fn unresolvable(code: &'static str, text: &'static str) -> Refusal {
    Refusal::unresolvable(Reason::fixed(NAME, code, text))
}

pub(super) fn too_many_pods() -> Refusal {
    unschedulable("pod-limit", "node(s) pod number exceeded")
}

pub(super) fn cordoned() -> Refusal {
    unresolvable(
        "cordoned",
        "plugin NodeUnschedulable predicates failed node(s) were unschedulable",
    )
}

pub(super) fn not_selected() -> Refusal {
    unresolvable(
        "node-affinity",
        "plugin NodeAffinity predicates failed node(s) didn't match Pod's node affinity/selector",
    )
}

pub(super) fn tainted(taint: &Taint) -> Refusal {
    let (key, value) = (&taint.key, &taint.value);
    Refusal::unresolvable(Reason::about(
        NAME,
        "taint",
        format!("plugin TaintToleration predicates failed node(s) had untolerated taint {{{key}: {value}}}"),
    ))
}

/// The answer was taken over from another pod of the template. Volcano says nothing more then, and lets preemption look
/// past it.
pub(super) fn refused_before() -> Refusal {
    Refusal::error(Reason::fixed(
        NAME,
        "template-cache",
        "plugin equivalence cache predicates failed",
    ))
}

pub(super) fn port_taken() -> Refusal {
    unschedulable(
        "host-ports",
        "plugin NodePorts predicates failed node(s) didn't have free ports for the requested pod ports",
    )
}

pub(super) fn no_pod_to_be_with() -> Refusal {
    unresolvable(
        "pod-affinity",
        "plugin InterPodAffinity predicates failed node(s) didn't match pod affinity rules",
    )
}

pub(super) fn pod_to_avoid() -> Refusal {
    unschedulable(
        "pod-anti-affinity",
        "plugin InterPodAffinity predicates failed node(s) didn't match pod anti-affinity rules",
    )
}

pub(super) fn avoided_by_pod() -> Refusal {
    unschedulable(
        "existing-anti-affinity",
        "plugin InterPodAffinity predicates failed node(s) didn't satisfy existing pods anti-affinity rules",
    )
}

pub(super) fn no_topology_label() -> Refusal {
    unresolvable(
        "topology-label",
        "plugin PodTopologySpread predicates failed node(s) didn't match pod topology spread constraints (missing \
         required label)",
    )
}

pub(super) fn skewed() -> Refusal {
    unschedulable(
        "topology-spread",
        "plugin PodTopologySpread predicates failed node(s) didn't match pod topology spread constraints",
    )
}

pub(super) fn out_of_proportion(resource: &str) -> Refusal {
    Refusal::unresolvable(Reason::about(
        NAME,
        "proportional",
        format!("proportional of resource {resource} check failed"),
    ))
}

/// A rule of the pod cannot be read, so that no node is asked.
pub(super) fn unreadable(rule: &str, why: impl Display) -> Reason {
    Reason::about(
        NAME,
        "invalid-rule",
        format!("plugin {rule} pre-predicates failed {why}"),
    )
}

/// The pod needs a volume, which this scheduler cannot place yet.
pub(super) fn needs_volume(claim: &Claim) -> Reason {
    let (kind, name): (&str, &Text) = match claim {
        Claim::Persistent(name) => ("persistent volume claim", name),
        Claim::Ephemeral(name) => ("ephemeral volume", name),
    };
    Reason::about(
        NAME,
        "volumes",
        format!("volumes are not supported yet: the pod uses {kind} `{name}`"),
    )
}
