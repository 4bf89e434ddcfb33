//! Judges the shared cases of the interference level and of its rules.

use serde_json::{Map, Value};

use crate::detect::{self, Assessment, Status};
use crate::metric::{Metric, Readings};
use crate::rules;
use crate::window;

/// Numbers agree when they differ by at most this.
const TOLERANCE: f64 = 1e-9;
/// The guide's window, in milliseconds.
const WINDOW_MS: i64 = 10_000;

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The case's name.
    pub name: String,
    /// What differs; empty when the case passes.
    pub differences: Vec<String>,
}

/// Judges a file of level cases (`levels.json`) or of rule cases (`rules.json`), told apart by their content.
///
/// # Errors
/// Text that is not a JSON list of cases.
pub fn judge(text: &str) -> Result<Vec<Outcome>, serde_json::Error> {
    let cases: Vec<Map<String, Value>> = serde_json::from_str(text)?;
    let outcomes = cases.iter().map(|case| Outcome {
        name: case
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or("(without a name)")
            .to_owned(),
        differences: if case.contains_key("accepted") {
            judge_rules(case)
        } else {
            judge_level(case)
        },
    });
    Ok(outcomes.collect())
}

/// The differences between what a rule case expects and what the reader of rules does.
pub fn judge_rules(case: &Map<String, Value>) -> Vec<String> {
    let parsed = rules::parse(case.get("rules").unwrap_or(&Value::Null));
    let expected = case.get("accepted").and_then(Value::as_bool);
    let mut differences = Vec::new();
    if expected != Some(parsed.is_ok()) {
        let got = parsed
            .as_ref()
            .map_or_else(ToString::to_string, |_| "accepted".to_owned());
        differences.push(format!("accepted: expected {expected:?}, got: {got}"));
    }
    let warnings: Vec<_> = parsed
        .map(|parsed| parsed.warnings)
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let warned = match case.get("warning") {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::String(named)) => warnings.iter().any(|warning| warning.contains(named.as_str())),
        Some(_) => !warnings.is_empty(),
    };
    if !warned {
        differences.push(format!("warning: expected {}, got {warnings:?}", case["warning"]));
    }
    differences
}

/// The differences between what a level case expects and what the window and the assessment make of its samples.
pub fn judge_level(case: &Map<String, Value>) -> Vec<String> {
    let rules = match rules::parse(case.get("rules").unwrap_or(&Value::Null)) {
        Ok(parsed) => parsed.rules,
        Err(error) => return vec![format!("rules: {error}")],
    };
    let samples: Vec<_> = case
        .get("samples")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(sample)
        .collect();
    let now = case.get("nowMs").and_then(Value::as_i64).unwrap_or(0);
    let (readings, _) = window::mean(
        samples.iter().map(|(at, readings)| (*at, readings)),
        now,
        WINDOW_MS,
    );
    let assessment = detect::assess(readings.as_ref(), &rules);
    let got = shown(&readings.unwrap_or(Readings::NONE), &assessment);
    let mut differences = Vec::new();
    compare(
        "expect",
        case.get("expect").unwrap_or(&Value::Null),
        &got,
        &mut differences,
    );
    differences
}

fn sample(sample: &Value) -> (i64, Readings) {
    let mut readings = Readings::NONE;
    for metric in Metric::ALL {
        let value = match sample.get(metric.name()) {
            Some(Value::Number(number)) => number.as_f64(),
            // "NaN", "Infinity" and "-Infinity" stand for the floats.
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        if let Some(value) = value {
            // A value out of range is absent from here on.
            let _ = readings.set(metric, value);
        }
    }
    (sample.get("atMs").and_then(Value::as_i64).unwrap_or(0), readings)
}

/// An assessment in the form of a case's `expect`.
fn shown(readings: &Readings, assessment: &Assessment) -> Value {
    let numbers = |figures: &[(&'static str, Option<f64>)]| -> Value {
        figures
            .iter()
            .filter_map(|(name, value)| Some(((*name).to_owned(), Value::from((*value)?))))
            .collect()
    };
    let metrics: Vec<_> = readings
        .known()
        .map(|(metric, value)| (metric.name(), Some(value)))
        .collect();
    let availability = assessment.availability;
    let mut shown = serde_json::json!({
        "status": match assessment.status {
            Status::Ok => "ok",
            Status::Stale => "stale",
            Status::Error => "error",
        },
        "psiAvailable": availability.psi(),
        "availability": {
            "llc": availability.llc,
            "bioLatency": availability.bio_latency,
            "psiIo": availability.psi_io,
            "psiMemory": availability.psi_memory,
            "memAvailable": availability.mem_available,
            "pageScan": availability.page_scan,
        },
        "metrics": numbers(&metrics),
        "indices": numbers(&assessment.indices.named()),
        "detections": assessment.detections.iter().map(|found| found.kind.name()).collect::<Vec<_>>(),
    });
    if let Some(level) = assessment.level {
        shown["interferenceLevel"] = level.into();
        shown["weights"] = numbers(&assessment.weights.named());
    }
    shown
}

fn compare(path: &str, expected: &Value, got: &Value, differences: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                compare(
                    &format!("{path}.{key}"),
                    value,
                    got.get(key).unwrap_or(&Value::Null),
                    differences,
                );
            }
            for key in got.keys().filter(|key| !expected.contains_key(*key)) {
                differences.push(format!("{path}.{key}: expected nothing, got {}", got[key]));
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            let close = one
                .as_f64()
                .zip(other.as_f64())
                .is_some_and(|(one, other)| (one - other).abs() <= TOLERANCE);
            if !close {
                differences.push(format!("{path}: expected {one}, got {other}"));
            }
        }
        _ if expected == got => {}
        _ => differences.push(format!("{path}: expected {expected}, got {got}")),
    }
}
