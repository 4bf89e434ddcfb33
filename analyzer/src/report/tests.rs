//! What the report says of nodes, and what it leaves out.

use std::collections::BTreeMap;

use mco_crds::{NodeInterferenceReportStatus, Summary};

use super::*;
use crate::metric::{Metric, Readings};
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
