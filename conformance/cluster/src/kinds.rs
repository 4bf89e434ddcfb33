//! The kinds of objects that tests deal with.

use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client};
use serde_json::Value;

/// A kind as the API server serves it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// API group, empty for the core.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// As it stands in paths.
    pub plural: &'static str,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

macro_rules! kinds {
    ($($name:ident = $group:literal $version:literal $kind:literal $plural:literal $namespaced:literal;)*) => {
        $(
            #[doc = concat!("`", $kind, "`")]
            pub const $name: Kind = Kind {
                group: $group,
                version: $version,
                kind: $kind,
                plural: $plural,
                namespaced: $namespaced,
            };
        )*
        /// All of them.
        pub const ALL: &[Kind] = &[$($name),*];
    };
}

// In the order in which a reset deletes: what others stand on comes last.
kinds! {
    POD = "" "v1" "Pod" "pods" true;
    POD_GROUP = "scheduling.volcano.sh" "v1beta1" "PodGroup" "podgroups" true;
    QUEUE = "scheduling.volcano.sh" "v1beta1" "Queue" "queues" false;
    REPORT = "mco.many-core.io" "v1alpha1" "NodeInterferenceReport" "nodeinterferencereports" false;
    RULES = "mco.many-core.io" "v1alpha1" "DetectionRuleConfig" "detectionruleconfigs" true;
    NODE = "" "v1" "Node" "nodes" false;
    EVENT = "" "v1" "Event" "events" true;
    LEASE = "coordination.k8s.io" "v1" "Lease" "leases" true;
    CONFIG_MAP = "" "v1" "ConfigMap" "configmaps" true;
    RESOURCE_QUOTA = "" "v1" "ResourceQuota" "resourcequotas" true;
    PERSISTENT_VOLUME_CLAIM = "" "v1" "PersistentVolumeClaim" "persistentvolumeclaims" true;
    PERSISTENT_VOLUME = "" "v1" "PersistentVolume" "persistentvolumes" false;
    STORAGE_CLASS = "storage.k8s.io" "v1" "StorageClass" "storageclasses" false;
    PRIORITY_CLASS = "scheduling.k8s.io" "v1" "PriorityClass" "priorityclasses" false;
    RUNTIME_CLASS = "node.k8s.io" "v1" "RuntimeClass" "runtimeclasses" false;
    NUMATOPOLOGY = "nodeinfo.volcano.sh" "v1alpha1" "Numatopology" "numatopologies" false;
    NAMESPACE = "" "v1" "Namespace" "namespaces" false;
    CLUSTER_ROLE = "rbac.authorization.k8s.io" "v1" "ClusterRole" "clusterroles" false;
    CLUSTER_ROLE_BINDING = "rbac.authorization.k8s.io" "v1" "ClusterRoleBinding" "clusterrolebindings" false;
    ROLE = "rbac.authorization.k8s.io" "v1" "Role" "roles" true;
    ROLE_BINDING = "rbac.authorization.k8s.io" "v1" "RoleBinding" "rolebindings" true;
    CRD = "apiextensions.k8s.io" "v1" "CustomResourceDefinition" "customresourcedefinitions" false;
}

impl Kind {
    /// That of an object, by its `kind`.
    pub fn of(object: &Value) -> Option<Self> {
        let kind = object["kind"].as_str()?;
        ALL.iter().find(|known| known.kind == kind).copied()
    }

    /// `v1` or `group/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Its objects, in `namespace` or, with an empty one, in all.
    pub fn api(&self, client: &Client, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            api_version: self.api_version(),
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
        };
        if self.namespaced && !namespace.is_empty() {
            Api::namespaced_with(client.clone(), namespace, &resource)
        } else {
            Api::all_with(client.clone(), &resource)
        }
    }
}
