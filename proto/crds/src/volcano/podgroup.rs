//! PodGroup: pods that start together or not at all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SCHEDULING_API_VERSION;
use crate::absent::null_is_default;
use crate::meta::ObjectMeta;
use crate::quantity::ResourceList;

/// Pods that start together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroup {
    /// `scheduling.volcano.sh/v1beta1`.
    pub api_version: String,
    /// `PodGroup`.
    pub kind: String,
    /// Name, namespace, labels, annotations and versions.
    pub metadata: ObjectMeta,
    /// What the group asks for.
    #[serde(default, deserialize_with = "null_is_default")]
    pub spec: PodGroupSpec,
    /// What the scheduler made of it. There is no status subresource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PodGroupStatus>,
}

impl PodGroup {
    /// A group without a status.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, spec: PodGroupSpec) -> Self {
        Self {
            api_version: SCHEDULING_API_VERSION.to_owned(),
            kind: "PodGroup".to_owned(),
            metadata: ObjectMeta {
                namespace: Some(namespace.into()),
                ..ObjectMeta::named(name)
            },
            spec,
            status: None,
        }
    }
}

/// What a group asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroupSpec {
    /// The fewest pods that are worth starting; 0 asks for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_member: Option<i32>,
    /// The same by role, which is the pods' annotation `volcano.sh/task-spec`.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub min_task_member: BTreeMap<String, i32>,
    /// The queue that the group waits in; the scheduler's default queue when empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The PriorityClass of the group; without one the cluster's default priority, or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// The least resources with which the group is let in; without them it is let in always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_resources: Option<ResourceList>,
}

/// How far a group got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroupStatus {
    /// `Pending`, `Inqueue`, `Running`, `Unknown` or `Completed`; empty before the scheduler saw the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why it is so, one condition per type.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<PodGroupCondition>,
    /// How many of its pods run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<i32>,
    /// How many of its pods succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<i32>,
    /// How many of its pods failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<i32>,
}

/// One condition of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroupCondition {
    /// `Unschedulable` or `Scheduled`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `True`, `False` or `Unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The scheduling session that wrote this.
    #[serde(rename = "transitionID", default, skip_serializing_if = "Option::is_none")]
    pub transition_id: Option<String>,
    /// When the condition last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_transition_time: Option<String>,
    /// One word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
