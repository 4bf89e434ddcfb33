//! Queue: who shares the cluster, and how.

use serde::{Deserialize, Serialize};

use super::SCHEDULING_API_VERSION;
use crate::absent::null_is_default;
use crate::meta::ObjectMeta;
use crate::quantity::ResourceList;

/// A share of the cluster that PodGroups wait for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Queue {
    /// `scheduling.volcano.sh/v1beta1`.
    pub api_version: String,
    /// `Queue`.
    pub kind: String,
    /// Name, labels, annotations and versions.
    pub metadata: ObjectMeta,
    /// How the queue shares.
    #[serde(default, deserialize_with = "null_is_default")]
    pub spec: QueueSpec,
    /// What goes on in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<QueueStatus>,
}

impl Queue {
    /// A queue without a status.
    pub fn new(name: impl Into<String>, spec: QueueSpec) -> Self {
        Self {
            api_version: SCHEDULING_API_VERSION.to_owned(),
            kind: "Queue".to_owned(),
            metadata: ObjectMeta::named(name),
            spec,
            status: None,
        }
    }
}

/// How a queue shares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueSpec {
    /// The queue's part of the cluster in proportion to the other queues' weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i32>,
    /// The most the queue may ever use; what is not named is not limited.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "ResourceList::is_empty"
    )]
    pub capability: ResourceList,
    /// What the queue is entitled to: lent out while it is idle, and taken back when needed.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "ResourceList::is_empty"
    )]
    pub deserved: ResourceList,
    /// What nobody else may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<Guarantee>,
    /// Whether other queues may take back what this one uses above its share; they may when this is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaimable: Option<bool>,
    /// Which groups of nodes the queue's pods want or avoid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// The kind of queue; the scheduler does not read it.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The queue above this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Other clusters that the queue's jobs may go to; the scheduler does not read them.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extend_clusters: Vec<ExtendCluster>,
}

/// What nobody else may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Guarantee {
    /// Amounts kept for this queue.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "ResourceList::is_empty"
    )]
    pub resource: ResourceList,
}

/// Which groups of nodes, by their label `volcano.sh/nodegroup-name`, the queue's pods want or avoid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Affinity {
    /// Groups to go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_group_affinity: Option<NodeGroupTerms>,
    /// Groups to keep away from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_group_anti_affinity: Option<NodeGroupTerms>,
}

/// Names of node groups, by how strongly they are meant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeGroupTerms {
    /// Always.
    #[serde(
        rename = "requiredDuringSchedulingIgnoredDuringExecution",
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub required: Vec<String>,
    /// Where possible.
    #[serde(
        rename = "preferredDuringSchedulingIgnoredDuringExecution",
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub preferred: Vec<String>,
}

/// Another cluster that the queue's jobs may go to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtendCluster {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its part of the jobs, in proportion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i32>,
    /// What it has.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "ResourceList::is_empty"
    )]
    pub capacity: ResourceList,
}

/// What goes on in a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// `Open`, `Closed`, `Closing` or `Unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// How many PodGroups are in phase Unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<i32>,
    /// How many PodGroups are in phase Pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<i32>,
    /// How many PodGroups are in phase Running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<i32>,
    /// How many PodGroups are in phase Inqueue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inqueue: Option<i32>,
    /// How many PodGroups are in phase Completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<i32>,
    /// Nodes locked for the queue; the scheduler does not read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<Reservation>,
    /// What the queue's running pods use. A status without it is refused.
    pub allocated: ResourceList,
}

/// Nodes locked for a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reservation {
    /// Their names.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub nodes: Vec<String>,
    /// What is idle on them, in sum.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "ResourceList::is_empty"
    )]
    pub resource: ResourceList,
}
