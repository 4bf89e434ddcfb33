//! The kinds that are watched, as the API server serves them.

use mco_objects::Kind;

/// Where a kind is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) kind: Kind,
    /// API group, empty for the core.
    pub(crate) group: &'static str,
    version: &'static str,
    /// As it stands in paths and roles.
    pub(crate) plural: &'static str,
}

const fn resource(kind: Kind, group: &'static str, version: &'static str, plural: &'static str) -> Resource {
    Resource {
        kind,
        group,
        version,
        plural,
    }
}

/// All of them. Few objects first: what others refer to tends to be known before them.
pub(crate) const ALL: [Resource; 14] = [
    resource(Kind::Queue, "scheduling.volcano.sh", "v1beta1", "queues"),
    resource(Kind::PriorityClass, "scheduling.k8s.io", "v1", "priorityclasses"),
    resource(Kind::Namespace, "", "v1", "namespaces"),
    resource(Kind::Service, "", "v1", "services"),
    resource(Kind::ReplicationController, "", "v1", "replicationcontrollers"),
    resource(Kind::ReplicaSet, "apps", "v1", "replicasets"),
    resource(Kind::StatefulSet, "apps", "v1", "statefulsets"),
    resource(Kind::ResourceQuota, "", "v1", "resourcequotas"),
    resource(Kind::PodDisruptionBudget, "policy", "v1", "poddisruptionbudgets"),
    resource(
        Kind::Numatopology,
        "nodeinfo.volcano.sh",
        "v1alpha1",
        "numatopologies",
    ),
    resource(
        Kind::NodeInterferenceReport,
        "mco.many-core.io",
        "v1alpha1",
        "nodeinterferencereports",
    ),
    resource(Kind::Node, "", "v1", "nodes"),
    resource(Kind::PodGroup, "scheduling.volcano.sh", "v1beta1", "podgroups"),
    resource(Kind::Pod, "", "v1", "pods"),
];

impl Resource {
    /// The path under which all objects are listed and watched.
    pub(crate) fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}/{}", self.version, self.plural)
        } else {
            format!("/apis/{}/{}/{}", self.group, self.version, self.plural)
        }
    }

    /// `plural.group`, as people and error messages of the API server name it.
    pub(crate) fn full_name(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// What brings a kind that is not served.
    pub(crate) fn how_to_install(&self) -> &'static str {
        match self.kind {
            Kind::PodGroup | Kind::Queue => {
                "install Volcano's definitions (the chart's CRDs), without which nothing is scheduled"
            }
            Kind::Numatopology => {
                "install Volcano's definitions (the chart's CRDs), without which the plugin numa-aware knows no CPUs"
            }
            Kind::NodeInterferenceReport => {
                "install this chart's definitions (kubectl apply -f crds/), without which mco-plugin scores all nodes alike"
            }
            _ => "the API server is older than what this scheduler supports",
        }
    }
}
