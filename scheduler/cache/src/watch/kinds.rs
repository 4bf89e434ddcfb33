//! Where each kind is served.

use kube::api::ApiResource;
use mco_objects::Kind;

/// Kinds in the order in which their watches start: nodes before the pods on them.
pub(super) const KINDS: [Kind; 11] = [
    Kind::Node,
    Kind::Queue,
    Kind::PriorityClass,
    Kind::PodGroup,
    Kind::Pod,
    Kind::Namespace,
    Kind::Service,
    Kind::ReplicationController,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::NodeInterferenceReport,
];

/// Group, version and plural of a kind.
pub(super) fn resource(kind: Kind) -> ApiResource {
    let (group, version, plural) = match kind {
        Kind::Node => ("", "v1", "nodes"),
        Kind::Pod => ("", "v1", "pods"),
        Kind::Namespace => ("", "v1", "namespaces"),
        Kind::Service => ("", "v1", "services"),
        Kind::ReplicationController => ("", "v1", "replicationcontrollers"),
        Kind::ReplicaSet => ("apps", "v1", "replicasets"),
        Kind::StatefulSet => ("apps", "v1", "statefulsets"),
        Kind::PriorityClass => ("scheduling.k8s.io", "v1", "priorityclasses"),
        Kind::PodGroup => ("scheduling.volcano.sh", "v1beta1", "podgroups"),
        Kind::Queue => ("scheduling.volcano.sh", "v1beta1", "queues"),
        Kind::NodeInterferenceReport => ("mco.many-core.io", "v1alpha1", "nodeinterferencereports"),
    };
    let api_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.name().to_owned(),
        plural: plural.to_owned(),
    }
}
