//! DetectionRuleConfig: thresholds, weights and saturations, with the guide's values as defaults.

use serde::{Deserialize, Serialize};

use crate::absent::{null_is_default, section};
use crate::meta::{Condition, ObjectMeta};

/// The kind, as objects carry it.
pub const KIND: &str = "DetectionRuleConfig";
/// The name in API paths.
pub const PLURAL: &str = "detectionruleconfigs";
/// The short name for kubectl.
pub const SHORT_NAME: &str = "drc";

/// The rule object. There is one, `cluster` in namespace `mco-system`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DetectionRuleConfig {
    /// `mco.many-core.io/v1alpha1`.
    pub api_version: String,
    /// `DetectionRuleConfig`.
    pub kind: String,
    /// Name, namespace and versions.
    pub metadata: ObjectMeta,
    /// The rules.
    #[serde(default, deserialize_with = "section")]
    pub spec: DetectionRuleConfigSpec,
    /// What the analyzer made of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DetectionRuleConfigStatus>,
}

/// The rules. What is not given has the guide's value.
///
/// This type is for writing rules and for reading ones that are known to be good; the analyzer reads what people
/// write through its own parser, which names every field it refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DetectionRuleConfigSpec {
    /// How much each dimension counts; the sum should be about 1.
    #[serde(default, deserialize_with = "section")]
    pub weights: Weights,
    /// The values at which an index reaches 1.
    #[serde(default, deserialize_with = "section")]
    pub saturation: Saturation,
    /// The values above which interference is detected or a penalty applies.
    #[serde(default, deserialize_with = "section")]
    pub thresholds: Thresholds,
    /// What compound interference multiplies weights by.
    #[serde(default, deserialize_with = "section")]
    pub penalties: Penalties,
    /// How memory is judged without PSI.
    #[serde(default, deserialize_with = "section")]
    pub degraded_memory: DegradedMemory,
}

/// How much each dimension counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Weights {
    /// Cache pollution.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub cache: f64,
    /// Memory pressure.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub memory: f64,
    /// I/O queue congestion.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub io: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            cache: 0.30,
            memory: 0.30,
            io: 0.40,
        }
    }
}

/// The values at which an index reaches 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Saturation {
    /// Miss rate times occupancy.
    #[cfg_attr(feature = "schema", schemars(range(max = 1e9), extend("minimum" = 0.0, "exclusiveMinimum" = true)))]
    pub cache_product: f64,
    /// Memory pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(max = 1e9), extend("minimum" = 0.0, "exclusiveMinimum" = true)))]
    pub psi_memory: f64,
    /// Block I/O latency P99, milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(max = 1e9), extend("minimum" = 0.0, "exclusiveMinimum" = true)))]
    pub bio_latency_p99_ms: f64,
    /// I/O pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(max = 1e9), extend("minimum" = 0.0, "exclusiveMinimum" = true)))]
    pub psi_io: f64,
}

impl Default for Saturation {
    fn default() -> Self {
        Self {
            cache_product: 0.175,
            psi_memory: 50.0,
            bio_latency_p99_ms: 100.0,
            psi_io: 20.0,
        }
    }
}

/// The values above which interference is detected or a penalty applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Thresholds {
    /// Cache miss rate, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub cache_miss_rate: f64,
    /// Cache occupancy, 0 to 1; also stands in for an unknown occupancy.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub llc_occupancy: f64,
    /// Block I/O latency P99, milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub bio_latency_p99_ms: f64,
    /// I/O pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub psi_io: f64,
    /// Memory pressure `some`, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub psi_memory_some: f64,
    /// Memory pressure `full`, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub psi_memory_full: f64,
    /// I/O penalty: latency P99, milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub io_penalty_p99_ms: f64,
    /// I/O penalty: I/O pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub io_penalty_psi_io: f64,
    /// Penalty on memory and I/O: memory pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub mem_io_penalty_memory: f64,
    /// Penalty on memory and I/O: I/O pressure, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub mem_io_penalty_psi_io: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            cache_miss_rate: 0.20,
            llc_occupancy: 0.70,
            bio_latency_p99_ms: 50.0,
            psi_io: 20.0,
            psi_memory_some: 10.0,
            psi_memory_full: 0.0,
            io_penalty_p99_ms: 50.0,
            io_penalty_psi_io: 20.0,
            mem_io_penalty_memory: 50.0,
            mem_io_penalty_psi_io: 20.0,
        }
    }
}

/// What compound interference multiplies weights by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Penalties {
    /// On the I/O weight.
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 10.0)))]
    pub io_multiplier: f64,
    /// On the memory and the I/O weight.
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 10.0)))]
    pub mem_io_multiplier: f64,
}

impl Default for Penalties {
    fn default() -> Self {
        Self {
            io_multiplier: 1.2,
            mem_io_multiplier: 1.1,
        }
    }
}

/// How memory is judged without PSI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DegradedMemory {
    /// Below this share of available memory there is pressure, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub mem_available_ratio_threshold: f64,
    /// Above this many scanned pages per second there is pressure.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1e9)))]
    pub page_scan_rate_threshold: f64,
}

impl Default for DegradedMemory {
    fn default() -> Self {
        Self {
            mem_available_ratio_threshold: 0.30,
            page_scan_rate_threshold: 10_000.0,
        }
    }
}

/// What the analyzer made of the rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DetectionRuleConfigStatus {
    /// The generation that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Accepted`, with reason `Parsed`, `Invalid` or `FallbackToLastValid`.
    #[serde(
        default,
        deserialize_with = "null_is_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])))]
    pub conditions: Vec<Condition>,
    /// Identifies the values in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_hash: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_guides_spec_key_by_key() {
        let guide = serde_json::json!({
            "weights": {"cache": 0.30, "memory": 0.30, "io": 0.40},
            "saturation": {"cacheProduct": 0.175, "psiMemory": 50.0, "bioLatencyP99Ms": 100.0, "psiIo": 20.0},
            "thresholds": {
                "cacheMissRate": 0.20, "llcOccupancy": 0.70, "bioLatencyP99Ms": 50.0, "psiIo": 20.0,
                "psiMemorySome": 10.0, "psiMemoryFull": 0.0, "ioPenaltyP99Ms": 50.0, "ioPenaltyPsiIo": 20.0,
                "memIoPenaltyMemory": 50.0, "memIoPenaltyPsiIo": 20.0
            },
            "penalties": {"ioMultiplier": 1.2, "memIoMultiplier": 1.1},
            "degradedMemory": {"memAvailableRatioThreshold": 0.30, "pageScanRateThreshold": 10000.0}
        });
        assert_eq!(
            serde_json::to_value(DetectionRuleConfigSpec::default()).unwrap(),
            guide
        );
    }

    #[test]
    fn what_is_not_given_or_null_has_the_guides_value() {
        let spec: DetectionRuleConfigSpec =
            serde_json::from_str(r#"{"weights": null, "thresholds": {"psiIo": 15}, "later": 1}"#).unwrap();
        let mut expected = DetectionRuleConfigSpec::default();
        expected.thresholds.psi_io = 15.0;
        assert_eq!(spec, expected);
    }
}
