//! NodeInterferenceReport: how much every node suffers from interference, in one cluster-scoped object.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::meta::{Condition, ObjectMeta};

/// The kind, as objects carry it.
pub const KIND: &str = "NodeInterferenceReport";
/// The name in API paths.
pub const PLURAL: &str = "nodeinterferencereports";
/// The short name for kubectl.
pub const SHORT_NAME: &str = "nir";

/// The report object. There is one, named `cluster`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
pub struct NodeInterferenceReportSpec {}

/// All nodes as the analyzer saw them at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub conditions: Vec<Condition>,
    /// When this was written, RFC 3339 with microseconds, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub nodes: BTreeMap<String, NodeEntry>,
}

/// The report in five figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// How many nodes are in the report.
    #[serde(default)]
    pub nodes: u32,
    /// The highest level of all nodes, 0 to 1; absent when no node has a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// One node of the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeEntry {
    /// `ok`, `stale` or `error`. Only an `ok` entry may be acted on.
    pub status: NodeStatus,
    /// True when memory is judged without PSI.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "is_false"
    )]
    pub degraded: bool,
    /// One word on why the entry is not `ok` or is degraded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How strong the interference is, 0 (calm) to 1; absent when it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference_level: Option<f64>,
    /// When the newest sample was taken, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sample_time: Option<String>,
    /// When this entry was computed, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<String>,
    /// How many samples were inside the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_count: Option<u32>,
    /// The window's length in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_seconds: Option<f64>,
    /// True when pressure figures of both I/O and memory are present.
    #[serde(default, deserialize_with = "null_is_default")]
    pub psi_available: bool,
    /// Which sources gave data.
    #[serde(default, deserialize_with = "section")]
    pub availability: Availability,
    /// Why a source gave no data, one word each, by the source's name as the collector gives it.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub unavailable: BTreeMap<String, String>,
    /// The window's means.
    #[serde(default, deserialize_with = "section")]
    pub metrics: Metrics,
    /// The index of each dimension that has data, 0 to 1.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Dimensions::is_empty"
    )]
    pub indices: Dimensions,
    /// The weight of each dimension that has data, after redistribution and penalties.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Dimensions::is_empty"
    )]
    pub weights: Dimensions,
    /// Metrics that were unknown and for which a rule's value was taken instead, by their names in `metrics`.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub assumed: Vec<String>,
    /// The kinds of interference whose thresholds are crossed, sorted by name.
    #[serde(default, deserialize_with = "null_is_default")]
    pub detections: Vec<Detection>,
}

/// Whether an entry may be acted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum NodeStatus {
    /// The level is computed from samples inside the window.
    Ok,
    /// The node's samples stopped.
    Stale,
    /// There are samples, but no level can be computed from them.
    Error,
    /// A word that this version does not know; treat it as not `ok`.
    Other(String),
}

impl NodeStatus {
    /// The word in the report.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ok => "ok",
            Self::Stale => "stale",
            Self::Error => "error",
            Self::Other(word) => word,
        }
    }

    /// True for the one status whose figures count.
    pub fn is_ok(&self) -> bool {
        *self == Self::Ok
    }
}

impl Default for NodeStatus {
    /// An entry nobody judged is not `ok`.
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl From<String> for NodeStatus {
    fn from(word: String) -> Self {
        match word.as_str() {
            "ok" => Self::Ok,
            "stale" => Self::Stale,
            "error" => Self::Error,
            _ => Self::Other(word),
        }
    }
}

impl From<NodeStatus> for String {
    fn from(status: NodeStatus) -> Self {
        match status {
            NodeStatus::Other(word) => word,
            known => known.as_str().to_owned(),
        }
    }
}

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of a node's sources gave data inside the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Availability {
    /// Last-level cache miss rate.
    pub llc: bool,
    /// Block I/O latency.
    pub bio_latency: bool,
    /// I/O pressure.
    pub psi_io: bool,
    /// Memory pressure.
    pub psi_memory: bool,
    /// Available memory.
    pub mem_available: bool,
    /// Page scans.
    pub page_scan: bool,
}

/// A node's figures over the window. Absent means unknown, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// Last-level cache misses over references, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_miss_rate: Option<f64>,
    /// Last-level cache bytes in use over its size, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_occupancy: Option<f64>,
    /// Block I/O latency, 95th percentile, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bio_latency_p95_ms: Option<f64>,
    /// Block I/O latency, 99th percentile, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bio_latency_p99_ms: Option<f64>,
    /// I/O pressure `some avg10`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psi_io_some_avg10: Option<f64>,
    /// I/O pressure `full avg10`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psi_io_full_avg10: Option<f64>,
    /// Memory pressure `some avg10`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psi_memory_some_avg10: Option<f64>,
    /// Memory pressure `full avg10`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psi_memory_full_avg10: Option<f64>,
    /// MemAvailable over MemTotal, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_available_ratio: Option<f64>,
    /// Pages scanned for reclaim per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_scan_rate: Option<f64>,
    /// Pages of the working set read back after reclaim, per second. Shown beside the others, not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refault_rate: Option<f64>,
    /// Major page faults per second. Shown beside the others, not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_fault_rate: Option<f64>,
    /// Block I/O latency, 99th percentile over all requests of the window, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bio_latency_window_p99_ms: Option<f64>,
}

/// One figure for each dimension that has data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dimensions {
    /// Cache pollution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<f64>,
    /// Memory pressure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<f64>,
    /// I/O queue congestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<f64>,
}

impl Dimensions {
    /// True when no dimension has data.
    pub fn is_empty(&self) -> bool {
        self.cache.is_none() && self.memory.is_none() && self.io.is_none()
    }
}

/// A kind of interference whose thresholds are crossed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detection {
    /// `CachePollution`, `IOQueueCongestion` or `MemoryPressure`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How far towards saturation, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<f64>,
    /// Since when without a break, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The values and the thresholds they crossed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Kubernetes clients may write `null` where they mean "not set".
pub(crate) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A nested object or `null`. Derived readers would take a list for a struct, by position.
pub(crate) fn section<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    struct MapOnly<T>(PhantomData<T>);
    impl<'de, T: Default + Deserialize<'de>> Visitor<'de> for MapOnly<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_any(MapOnly(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_use_the_documented_names() {
        let all = Metrics {
            llc_miss_rate: Some(0.1),
            llc_occupancy: Some(0.2),
            bio_latency_p95_ms: Some(3.0),
            bio_latency_p99_ms: Some(4.0),
            psi_io_some_avg10: Some(5.0),
            psi_io_full_avg10: Some(6.0),
            psi_memory_some_avg10: Some(7.0),
            psi_memory_full_avg10: Some(8.0),
            mem_available_ratio: Some(0.9),
            page_scan_rate: Some(10.0),
            ..Metrics::default()
        };
        let value = serde_json::to_value(all).unwrap();
        let mut names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "bioLatencyP95Ms",
                "bioLatencyP99Ms",
                "llcMissRate",
                "llcOccupancy",
                "memAvailableRatio",
                "pageScanRate",
                "psiIoFullAvg10",
                "psiIoSomeAvg10",
                "psiMemoryFullAvg10",
                "psiMemorySomeAvg10",
            ]
        );
    }

    #[test]
    fn an_unknown_metric_is_left_out_rather_than_written_as_zero() {
        let entry = NodeEntry {
            status: NodeStatus::Error,
            ..NodeEntry::default()
        };
        let text = serde_json::to_string(&entry).unwrap();
        assert!(
            !text.contains("interferenceLevel") && !text.contains("Rate"),
            "{text}"
        );
    }

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
