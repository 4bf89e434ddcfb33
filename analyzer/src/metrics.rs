//! What the analyzer shows at `/metrics`. Dashboards depend on these names: a test pins them.

use mco_crds::NodeInterferenceReportStatus;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use crate::detect::DetectionKind;

/// Why a sample, or a field of one, was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A field's value cannot exist. Only the field is dropped.
    OutOfRange,
    /// A latency histogram is malformed. Only the histogram is dropped.
    BadBuckets,
    /// It came too soon.
    TooFast,
    /// It is not newer than the one before.
    NotNewer,
    /// Its stream was superseded.
    Superseded,
    /// It names another node than its stream's first sample.
    OtherNode,
    /// No node can have this name.
    BadName,
    /// Too many nodes report.
    Full,
    /// The message could not be decoded or is too large.
    Undecodable,
}

impl Rejection {
    /// Every reason.
    pub const ALL: [Rejection; 9] = [
        Rejection::OutOfRange,
        Rejection::BadBuckets,
        Rejection::TooFast,
        Rejection::NotNewer,
        Rejection::Superseded,
        Rejection::OtherNode,
        Rejection::BadName,
        Rejection::Full,
        Rejection::Undecodable,
    ];

    /// The label's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Rejection::OutOfRange => "out_of_range",
            Rejection::BadBuckets => "bad_buckets",
            Rejection::TooFast => "too_fast",
            Rejection::NotNewer => "not_newer",
            Rejection::Superseded => "superseded",
            Rejection::OtherNode => "other_node",
            Rejection::BadName => "bad_name",
            Rejection::Full => "full",
            Rejection::Undecodable => "undecodable",
        }
    }
}

/// The counters of one analyzer.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    generation: Histogram,
    report_writes: IntCounterVec,
    samples_rejected: IntCounterVec,
    samples_missed: IntCounter,
    streams: IntGauge,
    rules_generation: IntGauge,
}

impl Metrics {
    /// All at zero, every label value that is known beforehand already shown.
    ///
    /// # Errors
    /// Never in practice: two of the names below would have to be equal.
    pub fn new() -> Result<Self, prometheus::Error> {
        // Few buckets: from a small cluster's well under a millisecond to one that eats the whole interval.
        let buckets = vec![0.0005, 0.002, 0.01, 0.05, 0.2, 1.0];
        let metrics = Self {
            registry: Registry::new(),
            generation: Histogram::with_opts(
                HistogramOpts::new(
                    "mco_analyzer_report_generation_duration_seconds",
                    "Time to evaluate all nodes and make one report.",
                )
                .buckets(buckets),
            )?,
            report_writes: IntCounterVec::new(
                Opts::new(
                    "mco_analyzer_report_writes",
                    "Reports handed to the sink, by result.",
                ),
                &["result"],
            )?,
            samples_rejected: IntCounterVec::new(
                Opts::new(
                    "mco_analyzer_samples_rejected",
                    "Samples, or fields of samples, not taken, by reason.",
                ),
                &["reason"],
            )?,
            samples_missed: IntCounter::new(
                "mco_analyzer_samples_missed",
                "Samples that collectors took but the analyzer did not get or take, by gaps in their sequence.",
            )?,
            streams: IntGauge::new("mco_analyzer_streams", "Open streams of collectors.")?,
            rules_generation: IntGauge::new(
                "mco_analyzer_rules_generation",
                "Changes of the detection rules in force since the start.",
            )?,
        };
        for result in ["ok", "error"] {
            metrics.report_writes.with_label_values(&[result]);
        }
        for reason in Rejection::ALL {
            metrics.samples_rejected.with_label_values(&[reason.as_str()]);
        }
        let registry = &metrics.registry;
        registry.register(Box::new(metrics.generation.clone()))?;
        registry.register(Box::new(metrics.report_writes.clone()))?;
        registry.register(Box::new(metrics.samples_rejected.clone()))?;
        registry.register(Box::new(metrics.samples_missed.clone()))?;
        registry.register(Box::new(metrics.streams.clone()))?;
        registry.register(Box::new(metrics.rules_generation.clone()))?;
        Ok(metrics)
    }

    /// Counts something not taken.
    pub fn rejected(&self, reason: Rejection, count: u64) {
        self.samples_rejected
            .with_label_values(&[reason.as_str()])
            .inc_by(count);
    }

    /// How often something was not taken for this reason.
    pub fn rejected_count(&self, reason: Rejection) -> u64 {
        self.samples_rejected.with_label_values(&[reason.as_str()]).get()
    }

    /// Counts samples that were not taken over, by gaps.
    pub fn missed(&self, count: u64) {
        self.samples_missed.inc_by(count);
    }

    /// Counts a report that the sink took, or failed to take.
    pub fn report_written(&self, ok: bool) {
        self.report_writes
            .with_label_values(&[if ok { "ok" } else { "error" }])
            .inc();
    }

    /// Times one evaluation.
    pub fn generation(&self) -> &Histogram {
        &self.generation
    }

    /// Open streams.
    pub fn streams(&self) -> &IntGauge {
        &self.streams
    }

    /// Changes of the rules.
    pub fn rules_generation(&self) -> &IntGauge {
        &self.rules_generation
    }

    /// Everything in Prometheus' text format 0.0.4. Figures of nodes are those of this report, so that a node that
    /// left it leaves no series behind.
    ///
    /// # Errors
    /// Never in practice: a name or label below would have to be invalid.
    pub fn render(&self, report: &NodeInterferenceReportStatus) -> Result<String, prometheus::Error> {
        let mut families = self.registry.gather();
        families.extend(node_families(report)?);
        families.sort_by(|one, other| one.name().cmp(other.name()));
        TextEncoder::new().encode_to_string(&families)
    }
}

fn node_families(
    report: &NodeInterferenceReportStatus,
) -> Result<Vec<prometheus::proto::MetricFamily>, prometheus::Error> {
    let registry = Registry::new();
    let level = GaugeVec::new(
        Opts::new(
            "mco_node_interference_level",
            "Interference level of a node, 0 (calm) to 1.",
        ),
        &["node"],
    )?;
    let index = GaugeVec::new(
        Opts::new(
            "mco_node_interference_index",
            "Index of one dimension of a node, 0 to 1.",
        ),
        &["node", "dimension"],
    )?;
    let active = IntGaugeVec::new(
        Opts::new(
            "mco_node_detection_active",
            "1 while this kind of interference is detected on the node.",
        ),
        &["node", "type"],
    )?;
    let nodes = IntGaugeVec::new(
        Opts::new("mco_analyzer_nodes", "Nodes in the report, by status."),
        &["status"],
    )?;
    for status in ["ok", "stale", "error"] {
        nodes.with_label_values(&[status]);
    }
    for (name, entry) in &report.nodes {
        nodes.with_label_values(&[entry.status.as_str()]).inc();
        if let Some(value) = entry.interference_level {
            level.with_label_values(&[name.as_str()]).set(value);
        }
        let indices = [
            ("cache", entry.indices.cache),
            ("memory", entry.indices.memory),
            ("io", entry.indices.io),
        ];
        for (dimension, value) in indices {
            if let Some(value) = value {
                index.with_label_values(&[name.as_str(), dimension]).set(value);
            }
        }
        for kind in DetectionKind::ALL {
            let detected = entry.detections.iter().any(|found| found.kind == kind.name());
            active
                .with_label_values(&[name.as_str(), kind.name()])
                .set(i64::from(detected));
        }
    }
    registry.register(Box::new(level))?;
    registry.register(Box::new(index))?;
    registry.register(Box::new(active))?;
    registry.register(Box::new(nodes))?;
    Ok(registry.gather())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mco_crds::{Detection, Dimensions, NodeEntry, NodeStatus};

    use super::*;

    #[test]
    fn every_name_and_type_is_as_documented() {
        let entry = NodeEntry {
            status: NodeStatus::Ok,
            interference_level: Some(0.25),
            indices: Dimensions {
                io: Some(0.5),
                ..Dimensions::default()
            },
            detections: vec![Detection {
                kind: "MemoryPressure".into(),
                ..Detection::default()
            }],
            ..NodeEntry::default()
        };
        let report = NodeInterferenceReportStatus {
            nodes: BTreeMap::from([("n1".into(), entry)]),
            ..Default::default()
        };
        let text = Metrics::new().unwrap().render(&report).unwrap();
        let types: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        assert_eq!(
            types,
            [
                "mco_analyzer_nodes gauge",
                "mco_analyzer_report_generation_duration_seconds histogram",
                "mco_analyzer_report_writes counter",
                "mco_analyzer_rules_generation gauge",
                "mco_analyzer_samples_missed counter",
                "mco_analyzer_samples_rejected counter",
                "mco_analyzer_streams gauge",
                "mco_node_detection_active gauge",
                "mco_node_interference_index gauge",
                "mco_node_interference_level gauge",
            ]
        );
        for line in [
            r#"mco_node_interference_level{node="n1"} 0.25"#,
            r#"mco_node_interference_index{dimension="io",node="n1"} 0.5"#,
            r#"mco_node_detection_active{node="n1",type="MemoryPressure"} 1"#,
            r#"mco_node_detection_active{node="n1",type="CachePollution"} 0"#,
            r#"mco_analyzer_nodes{status="ok"} 1"#,
            r#"mco_analyzer_nodes{status="stale"} 0"#,
            r#"mco_analyzer_report_writes{result="error"} 0"#,
            r#"mco_analyzer_samples_rejected{reason="out_of_range"} 0"#,
            "mco_analyzer_streams 0",
            "mco_analyzer_rules_generation 0",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is missing in\n{text}"
            );
        }
    }
}
