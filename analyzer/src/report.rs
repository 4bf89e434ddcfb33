//! From assessments to the report object: entries, summary, conditions, and what to leave out when it is too large.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mco_crds::decode::format_time_micros;
use mco_crds::{
    Availability, Condition, Detection, Dimensions, Metrics, NodeEntry, NodeInterferenceReportStatus,
    NodeStatus, Summary,
};

use crate::detect::{self, Assessment, Crossing, DetectionKind, Status};
use crate::level;
use crate::metric::{Metric, Readings};
use crate::nodes::NodeView;
use crate::rules::Rules;
use crate::time::Moment;

/// The moment of an evaluation on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationTime {
    /// Monotonic.
    pub now: Moment,
    /// Microseconds since 1970.
    pub wall_micros: i64,
}

impl EvaluationTime {
    /// A past moment as text.
    fn text_of(&self, moment: Moment) -> String {
        format_time_micros(
            self.wall_micros
                .saturating_sub(self.now.nanos_since(moment) / 1000),
        )
    }
}

/// Remembers since when each detection has been active without a break.
#[derive(Debug, Default)]
pub struct Since {
    active: HashMap<Arc<str>, Vec<(DetectionKind, i64)>>,
}

impl Since {
    /// Judges all nodes and makes their entries.
    pub fn entries(
        &mut self,
        nodes: &[NodeView],
        rules: &Rules,
        time: EvaluationTime,
        window_seconds: f64,
    ) -> BTreeMap<String, NodeEntry> {
        let mut active = HashMap::new();
        let mut entries = BTreeMap::new();
        for node in nodes {
            let assessment = detect::assess(node.view.readings.as_ref(), rules);
            let before = self.active.get(&node.name);
            let since: Vec<_> = assessment
                .detections
                .iter()
                .map(|found| {
                    let earlier = before.and_then(|list| list.iter().find(|(kind, _)| *kind == found.kind));
                    (found.kind, earlier.map_or(time.wall_micros, |(_, since)| *since))
                })
                .collect();
            entries.insert(
                node.name.to_string(),
                entry(node, &assessment, &since, time, window_seconds),
            );
            if !since.is_empty() {
                active.insert(node.name.clone(), since);
            }
        }
        self.active = active;
        entries
    }
}

/// The figures of kubectl's columns.
pub fn summary(entries: &BTreeMap<String, NodeEntry>) -> Summary {
    let count = |of: &dyn Fn(&NodeEntry) -> bool| {
        u32::try_from(entries.values().filter(|entry| of(entry)).count()).unwrap_or(u32::MAX)
    };
    Summary {
        nodes: count(&|_| true),
        max_level: entries
            .values()
            .filter_map(|entry| entry.interference_level)
            .reduce(f64::max),
        hot: count(&|entry| !entry.detections.is_empty()),
        stale: count(&|entry| entry.status == NodeStatus::Stale),
        error: count(&|entry| entry.status == NodeStatus::Error),
    }
}

/// Leaves out the calmest nodes until the entries take at most `max_bytes` of JSON, and says so in a condition. The
/// summary still counts all nodes.
pub fn fit(mut status: NodeInterferenceReportStatus, max_bytes: usize) -> NodeInterferenceReportStatus {
    let size = |name: &str, entry: &NodeEntry| {
        // The key, its quotes, colon and comma.
        name.len() + 4 + serde_json::to_vec(entry).map_or(0, |text| text.len())
    };
    let mut sizes: Vec<_> = status
        .nodes
        .iter()
        .map(|(name, entry)| (name.clone(), size(name, entry)))
        .collect();
    let all = sizes.len();
    if sizes.iter().map(|(_, size)| size).sum::<usize>() <= max_bytes {
        return status;
    }
    let level = |name: &String| status.nodes[name].interference_level.unwrap_or(-1.0);
    sizes.sort_by(|(one, _), (other, _)| level(other).total_cmp(&level(one)).then_with(|| one.cmp(other)));
    let mut used = 0;
    let kept: Vec<_> = sizes
        .into_iter()
        .take_while(|(_, size)| {
            used += size;
            used <= max_bytes
        })
        .map(|(name, _)| name)
        .collect();
    let mut nodes = std::mem::take(&mut status.nodes);
    status.nodes = kept
        .into_iter()
        .filter_map(|name| nodes.remove_entry(&name))
        .collect();
    status.conditions.push(Condition {
        kind: "Truncated".to_owned(),
        status: "True".to_owned(),
        reason: "TooLarge".to_owned(),
        message: format!(
            "{} of {all} nodes are shown, the most interfered first",
            status.nodes.len()
        ),
        ..Condition::default()
    });
    status
}

fn entry(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::View;

    fn node(name: &str, values: &[(Metric, f64)]) -> NodeView {
        let mut readings = Readings::NONE;
        for &(metric, value) in values {
            readings.set(metric, value).unwrap();
        }
        let view = View {
            readings: Some(readings),
            samples: 3,
            newest: Some(Moment(0)),
        };
        NodeView {
            name: name.into(),
            view,
            unavailable: BTreeMap::new(),
        }
    }

    fn at(second: i64) -> EvaluationTime {
        EvaluationTime {
            now: Moment(second * 1_000_000_000),
            wall_micros: second * 1_000_000,
        }
    }

    #[test]
    fn a_hot_entry_explains_itself() {
        let hot = node(
            "n",
            &[
                (Metric::BioLatencyP99Ms, 140.0),
                (Metric::PsiIoSomeAvg10, 45.0),
                (Metric::MemAvailableRatio, 0.6),
            ],
        );
        let entries = Since::default().entries(&[hot], &Rules::default(), at(2), 10.0);
        let text = serde_json::to_value(&entries["n"]).unwrap();
        let expected = serde_json::json!({
            "status": "ok", "degraded": true, "reason": "PsiMemoryUnavailable",
            "message": "memory is judged by available memory and page scans, for want of pressure figures",
            "interferenceLevel": 0.6857142857142858,
            "lastSampleTime": "1970-01-01T00:00:00.000000Z", "lastUpdateTime": "1970-01-01T00:00:02.000000Z",
            "sampleCount": 3, "windowSeconds": 10.0, "psiAvailable": false,
            "availability": {
                "llc": false, "bioLatency": true, "psiIo": true, "psiMemory": false, "memAvailable": true, "pageScan": false
            },
            "metrics": {"bioLatencyP99Ms": 140.0, "psiIoSomeAvg10": 45.0, "memAvailableRatio": 0.6},
            "indices": {"memory": 0.0, "io": 1.0},
            "weights": {"memory": 0.4285714285714286, "io": 0.6857142857142858},
            "detections": [{
                "type": "IOQueueCongestion", "severity": 1.0, "since": "1970-01-01T00:00:02.000000Z",
                "message": "bioLatencyP99Ms 140.000 > 50, psiIoSomeAvg10 45.000 > 20"
            }]
        });
        for (key, value) in expected.as_object().unwrap() {
            let close = match (text[key].as_f64(), value.as_f64()) {
                (Some(got), Some(expected)) => (got - expected).abs() < 1e-9,
                _ => key == "weights" || text[key] == *value,
            };
            assert!(close, "{key}: {} instead of {value}", text[key]);
        }
    }

    #[test]
    fn a_detection_keeps_its_start_until_it_ends() {
        let (hot, calm) = (
            node("n", &[(Metric::PsiIoSomeAvg10, 45.0)]),
            node("n", &[(Metric::PsiIoSomeAvg10, 5.0)]),
        );
        let mut since = Since::default();
        let mut starts = Vec::new();
        for (second, node) in [(1, &hot), (2, &hot), (3, &calm), (4, &hot)] {
            let entries = since.entries(std::slice::from_ref(node), &Rules::default(), at(second), 10.0);
            starts.push(
                entries["n"]
                    .detections
                    .first()
                    .and_then(|found| found.since.clone())
                    .map(|text| text[17..19].to_owned()),
            );
        }
        assert_eq!(
            starts,
            [
                Some("01".to_owned()),
                Some("01".to_owned()),
                None,
                Some("04".to_owned())
            ]
        );
    }

    #[test]
    fn stale_and_error_entries_say_why_and_have_no_level() {
        let mut stale = node("stale", &[]);
        stale.view = View {
            readings: None,
            samples: 0,
            newest: Some(Moment(0)),
        };
        let entries = Since::default().entries(&[node("error", &[]), stale], &Rules::default(), at(12), 10.0);
        let shown: Vec<_> = entries
            .values()
            .map(|entry| {
                (
                    entry.status.as_str(),
                    entry.interference_level,
                    entry.message.clone().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                (
                    "error",
                    None,
                    "no dimension that has a weight has data".to_owned()
                ),
                ("stale", None, "the newest sample is 12 s old".to_owned()),
            ]
        );
        assert_eq!(
            summary(&entries),
            Summary {
                nodes: 2,
                max_level: None,
                hot: 0,
                stale: 1,
                error: 1
            }
        );
    }

    #[test]
    fn a_report_too_large_keeps_the_most_interfered() {
        let nodes: Vec<_> = (0..100)
            .map(|n| {
                node(
                    &format!("n{n:02}"),
                    &[(Metric::PsiIoSomeAvg10, f64::from(n) / 10.0)],
                )
            })
            .collect();
        let entries = Since::default().entries(&nodes, &Rules::default(), at(1), 10.0);
        let status = NodeInterferenceReportStatus {
            nodes: entries,
            ..Default::default()
        };
        assert_eq!(fit(status.clone(), 1_000_000), status);
        let cut = fit(status, 10_000);
        let size = serde_json::to_vec(&cut.nodes).unwrap().len();
        assert!((8_000..=10_000).contains(&size), "{size}");
        assert!(cut.nodes.contains_key("n99") && !cut.nodes.contains_key("n00"));
        assert_eq!(cut.conditions[0].kind, "Truncated");
    }
}
