//! NodeInterferenceReport: how much every node suffers from interference, in one cluster-scoped object.

mod entry;
mod figures;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::absent::null_is_default;
use crate::meta::{Condition, ObjectMeta};

pub use entry::{NodeEntry, NodeStatus};
pub use figures::{Availability, Detection, Dimensions, Metrics};

/// The kind, as objects carry it.
pub const KIND: &str = "NodeInterferenceReport";
/// The name in API paths.
pub const PLURAL: &str = "nodeinterferencereports";
/// The short name for kubectl.
pub const SHORT_NAME: &str = "nir";

/// The report object. There is one, named `cluster`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeInterferenceReport {
    /// `mco.many-core.io/v1alpha1`.
    pub api_version: String,
    /// `NodeInterferenceReport`.
    pub kind: String,
    /// Name and versions.
    pub metadata: ObjectMeta,
    /// Nothing to configure.
    #[serde(default, deserialize_with = "null_is_default")]
    pub spec: NodeInterferenceReportSpec,
    /// What the analyzer wrote last; absent until its first report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeInterferenceReportStatus>,
}

impl NodeInterferenceReport {
    /// An object of this name that carries `status`.
    pub fn new(name: impl Into<String>, status: NodeInterferenceReportStatus) -> Self {
        Self {
            api_version: crate::API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            metadata: ObjectMeta::named(name),
            spec: NodeInterferenceReportSpec::default(),
            status: Some(status),
        }
    }
}

/// Empty: a report has nothing to configure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeInterferenceReportSpec {}

/// All nodes as the analyzer saw them at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeInterferenceReportStatus {
    /// The generation of the object that was seen when this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What is to be known about the report as a whole.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])))]
    pub conditions: Vec<Condition>,
    /// When this was written, RFC 3339 with microseconds, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_update_time: Option<String>,
    /// Which analyzer wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<String>,
    /// Counts the rule changes that this analyzer has accepted; the levels below follow these rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_generation: Option<i64>,
    /// Identifies the rules' values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_hash: Option<String>,
    /// The figures of kubectl's columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Every reported node, by its name.
    #[serde(default, deserialize_with = "null_is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-map-type" = "atomic")))]
    pub nodes: BTreeMap<String, NodeEntry>,
}

/// The report in five figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// How many nodes are in the report.
    #[serde(default)]
    pub nodes: u32,
    /// The highest level of all nodes, 0 to 1; absent when no node has a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub max_level: Option<f64>,
    /// How many nodes have at least one detection.
    #[serde(default)]
    pub hot: u32,
    /// How many nodes stopped sending samples.
    #[serde(default)]
    pub stale: u32,
    /// How many nodes send samples from which no level can be computed.
    #[serde(default)]
    pub error: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_writing_and_reading() {
        let entry = NodeEntry {
            status: NodeStatus::Ok,
            interference_level: Some(0.25),
            detections: vec![Detection {
                kind: "MemoryPressure".into(),
                ..Detection::default()
            }],
            ..NodeEntry::default()
        };
        let status = NodeInterferenceReportStatus {
            nodes: BTreeMap::from([("n1".to_owned(), entry)]),
            ..NodeInterferenceReportStatus::default()
        };
        let report = NodeInterferenceReport::new("cluster", status);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            serde_json::from_str::<NodeInterferenceReport>(&text).unwrap(),
            report
        );
    }
}
