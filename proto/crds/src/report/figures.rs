//! The figures of an entry: what was measured, what it amounts to, and what crossed its thresholds.

use serde::{Deserialize, Serialize};

/// Which of a node's sources gave data inside the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Detection {
    /// `CachePollution`, `IOQueueCongestion` or `MemoryPressure`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How far towards saturation, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub severity: Option<f64>,
    /// Since when without a break, RFC 3339, by the analyzer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub since: Option<String>,
    /// The values and the thresholds they crossed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
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
}
