//! Numatopology: where the CPUs of a node are, as the node's exporter saw them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::NODEINFO_API_VERSION;
use crate::absent::null_is_default;
use crate::meta::ObjectMeta;

/// Where the CPUs of a node are. The object has the node's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Numatopology {
    /// `nodeinfo.volcano.sh/v1alpha1`.
    pub api_version: String,
    /// `Numatopology`.
    pub kind: String,
    /// The node's name, and versions.
    pub metadata: ObjectMeta,
    /// What the exporter saw.
    #[serde(default, deserialize_with = "null_is_default")]
    pub spec: NumatopologySpec,
}

impl Numatopology {
    /// The topology of this node.
    pub fn new(node: impl Into<String>, spec: NumatopologySpec) -> Self {
        Self {
            api_version: NODEINFO_API_VERSION.to_owned(),
            kind: "Numatopology".to_owned(),
            metadata: ObjectMeta::named(node),
            spec,
        }
    }
}

/// What the exporter saw on a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NumatopologySpec {
    /// The kubelet's policies by the manager's name, `CPUManagerPolicy` and `TopologyManagerPolicy`.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub policies: BTreeMap<String, String>,
    /// What the node keeps for itself, by resource.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub res_reserved: BTreeMap<String, String>,
    /// What there is and what is free, by resource.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub numares: BTreeMap<String, NumaResource>,
    /// Where each CPU is, by its number.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub cpu_detail: BTreeMap<String, CpuPlace>,
}

/// What there is of a resource and what is free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NumaResource {
    /// The free units, as a set such as `0-3,8-11`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocatable: Option<String>,
    /// How many units there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<i64>,
}

/// Where a CPU is. What is not given is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CpuPlace {
    /// The NUMA node.
    pub numa: i64,
    /// The socket.
    pub socket: i64,
    /// The core; unique inside its socket only.
    pub core: i64,
}
