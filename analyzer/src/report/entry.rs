//! One node's entry: its assessment in the words and figures of the report.

use mco_crds::decode::format_time_micros;
use mco_crds::{Availability, Detection, Dimensions, Metrics, NodeEntry, NodeStatus};

use super::EvaluationTime;
use crate::detect::{self, Assessment, Crossing, DetectionKind, Status};
use crate::level;
use crate::metric::{Metric, Readings};
use crate::nodes::NodeView;

pub(super) fn entry(
    node: &NodeView,
    assessment: &Assessment,
    since: &[(DetectionKind, i64)],
    time: EvaluationTime,
    window_seconds: f64,
) -> NodeEntry {
    let (reason, message) = why(node, assessment, time).unzip();
    NodeEntry {
        status: match assessment.status {
            Status::Ok => NodeStatus::Ok,
            Status::Stale => NodeStatus::Stale,
            Status::Error => NodeStatus::Error,
        },
        degraded: assessment.degraded,
        reason,
        message,
        interference_level: assessment.level,
        last_sample_time: node.view.newest.map(|newest| time.text_of(newest)),
        last_update_time: Some(format_time_micros(time.wall_micros)),
        sample_count: Some(node.view.samples),
        window_seconds: Some(window_seconds),
        psi_available: assessment.availability.psi(),
        availability: availability(assessment.availability),
        unavailable: node.unavailable.clone(),
        metrics: node.view.readings.as_ref().map(metrics).unwrap_or_default(),
        indices: dimensions(&assessment.indices),
        weights: dimensions(&assessment.weights),
        assumed: assessment
            .occupancy_assumed
            .then(|| Metric::LlcOccupancy.name().to_owned())
            .into_iter()
            .collect(),
        detections: assessment
            .detections
            .iter()
            .zip(since)
            .map(|(found, (_, since))| Detection {
                kind: found.kind.name().to_owned(),
                severity: Some(found.severity),
                since: Some(format_time_micros(*since)),
                message: Some(crossed(&found.crossings)),
            })
            .collect(),
    }
}

/// One word and one sentence on what is not as it should be.
fn why(node: &NodeView, assessment: &Assessment, time: EvaluationTime) -> Option<(String, String)> {
    let (reason, message) = match assessment.status {
        Status::Stale => {
            let age = node
                .view
                .newest
                .map_or(0, |newest| time.now.nanos_since(newest) / 1_000_000_000);
            ("SamplesStopped", format!("the newest sample is {age} s old"))
        }
        Status::Error => ("NoData", "no dimension that has a weight has data".to_owned()),
        Status::Ok if assessment.degraded => (
            "PsiMemoryUnavailable",
            "memory is judged by available memory and page scans, for want of pressure figures".to_owned(),
        ),
        Status::Ok => return None,
    };
    Some((reason.to_owned(), message))
}

fn crossed(crossings: &[Crossing]) -> String {
    let shown = |crossing: &Crossing| {
        let sign = if crossing.value < crossing.threshold {
            '<'
        } else {
            '>'
        };
        format!(
            "{} {:.3} {sign} {}",
            crossing.metric.name(),
            crossing.value,
            crossing.threshold
        )
    };
    crossings.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn availability(availability: detect::Availability) -> Availability {
    let detect::Availability {
        llc,
        bio_latency,
        psi_io,
        psi_memory,
        mem_available,
        page_scan,
    } = availability;
    Availability {
        llc,
        bio_latency,
        psi_io,
        psi_memory,
        mem_available,
        page_scan,
    }
}

fn dimensions(dimensions: &level::Dimensions) -> Dimensions {
    let level::Dimensions { cache, memory, io } = *dimensions;
    Dimensions { cache, memory, io }
}

fn metrics(readings: &Readings) -> Metrics {
    Metrics {
        llc_miss_rate: readings.get(Metric::LlcMissRate),
        llc_occupancy: readings.get(Metric::LlcOccupancy),
        bio_latency_p95_ms: readings.get(Metric::BioLatencyP95Ms),
        bio_latency_p99_ms: readings.get(Metric::BioLatencyP99Ms),
        psi_io_some_avg10: readings.get(Metric::PsiIoSomeAvg10),
        psi_io_full_avg10: readings.get(Metric::PsiIoFullAvg10),
        psi_memory_some_avg10: readings.get(Metric::PsiMemorySomeAvg10),
        psi_memory_full_avg10: readings.get(Metric::PsiMemoryFullAvg10),
        mem_available_ratio: readings.get(Metric::MemAvailableRatio),
        page_scan_rate: readings.get(Metric::PageScanRate),
        refault_rate: readings.get(Metric::RefaultRate),
        major_fault_rate: readings.get(Metric::MajorFaultRate),
        bio_latency_window_p99_ms: readings.get(Metric::BioLatencyWindowP99Ms),
    }
}
