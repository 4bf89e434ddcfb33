//! One node's entry and the status that says whether it may be acted on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::figures::{Availability, Detection, Dimensions, Metrics};
use crate::absent::{null_is_default, section};

/// One node of the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeEntry {
    /// `ok`, `stale` or `error`. Only an `ok` entry may be acted on.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub interference_level: Option<f64>,
    /// When the newest sample was taken, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_sample_time: Option<String>,
    /// When this entry was computed, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
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

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
