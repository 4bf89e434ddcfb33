//! Reading a report that others wrote: entry by entry, so that a broken one costs one node its data and no more.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use crate::report::NodeEntry;

/// A report as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct DecodedReport {
    /// `metadata.resourceVersion`, to tell whether the report changed.
    pub resource_version: Option<String>,
    /// `status.lastUpdateTime` as written.
    pub last_update_time: Option<String>,
    /// Every node, with its entry or with what is wrong with it.
    pub nodes: BTreeMap<String, Result<NodeEntry, EntryError>>,
    /// What is wrong outside the entries; what is named here counts as absent.
    pub problems: Vec<EntryError>,
}

impl DecodedReport {
    /// `status.lastUpdateTime` in microseconds since 1970; `None` when absent or not RFC 3339.
    pub fn last_update_micros(&self) -> Option<i64> {
        parse_time_micros(self.last_update_time.as_deref()?)
    }
}

/// A value in a report that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct EntryError {
    /// Where, as a path from the object's root, for example `status.nodes["n1"].metrics.psiIoSomeAvg10`.
    pub field: String,
    /// What is wrong there.
    pub problem: String,
}

/// Reads a NodeInterferenceReport object. Never fails: what cannot be read is named in the answer.
pub fn decode_report(object: &Value) -> DecodedReport {
    let mut report = DecodedReport {
        resource_version: object
            .pointer("/metadata/resourceVersion")
            .and_then(Value::as_str)
            .map(str::to_owned),
        ..DecodedReport::default()
    };
    let Some(status) = report.map_at(object.get("status"), "status") else {
        return report;
    };
    report.last_update_time = match status.get("lastUpdateTime") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            report.refuse("status.lastUpdateTime", "a time as text", other);
            None
        }
    };
    let Some(nodes) = report.map_at(status.get("nodes"), "status.nodes") else {
        return report;
    };
    report.nodes = nodes
        .iter()
        .map(|(name, value)| (name.clone(), decode_entry(name, value)))
        .collect();
    report
}

/// Reads one entry of `status.nodes`.
///
/// # Errors
/// Names the first field whose value has the wrong type, or the missing `status`.
pub fn decode_entry(node: &str, value: &Value) -> Result<NodeEntry, EntryError> {
    let place = format!("status.nodes[{node:?}]");
    if !value.is_object() {
        return Err(EntryError {
            field: place,
            problem: format!("expected an object, found {}", kind_of(value)),
        });
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." {
            place
        } else {
            format!("{place}.{path}")
        };
        EntryError {
            field,
            problem: error.inner().to_string(),
        }
    })
}

/// RFC 3339 text as microseconds since 1970; `None` when it is not RFC 3339.
pub fn parse_time_micros(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>()
        .ok()
        .map(|time| time.as_microsecond())
}

/// Microseconds since 1970 as RFC 3339 text with microseconds; a moment out of range is cut to the nearest one.
pub fn format_time_micros(micros: i64) -> String {
    let time = jiff::Timestamp::from_microsecond(micros).unwrap_or(if micros < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    format!("{time:.6}")
}

impl DecodedReport {
    fn map_at<'v>(
        &mut self,
        value: Option<&'v Value>,
        field: &str,
    ) -> Option<&'v serde_json::Map<String, Value>> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => Some(map),
            Some(other) => {
                self.refuse(field, "an object", other);
                None
            }
        }
    }

    fn refuse(&mut self, field: &str, expected: &str, found: &Value) {
        let problem = format!("expected {expected}, found {}", kind_of(found));
        self.problems.push(EntryError {
            field: field.to_owned(),
            problem,
        });
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_broken_entry_leaves_the_others_alone() {
        let good = json!({"status": "ok", "psiAvailable": true, "interferenceLevel": 1, "metrics": {"psiIoSomeAvg10": 3}});
        let broken = [
            (
                "text-level",
                json!({"status": "ok", "interferenceLevel": "NaN"}),
                ".interferenceLevel",
            ),
            (
                "text-metric",
                json!({"status": "ok", "metrics": {"psiIoSomeAvg10": "20"}}),
                ".metrics.psiIoSomeAvg10",
            ),
            (
                "list-metrics",
                json!({"status": "ok", "metrics": [1]}),
                ".metrics",
            ),
            ("number-status", json!({"status": 1}), ".status"),
            ("no-status", json!({"interferenceLevel": 0.5}), ""),
            ("text", json!("hot"), ""),
            ("null", json!(null), ""),
            ("list", json!([]), ""),
            (
                "text-psi",
                json!({"status": "ok", "psiAvailable": "yes"}),
                ".psiAvailable",
            ),
            (
                "detections",
                json!({"status": "ok", "detections": [{"type": 7}]}),
                ".detections[0].type",
            ),
        ];
        let mut nodes = serde_json::Map::new();
        nodes.insert("good".into(), good);
        for (name, value, _) in &broken {
            nodes.insert((*name).into(), value.clone());
        }
        let report =
            decode_report(&json!({"status": {"lastUpdateTime": "2026-01-02T03:04:05.5Z", "nodes": nodes}}));
        let entry = report.nodes["good"].as_ref().unwrap();
        assert_eq!(entry.interference_level, Some(1.0));
        assert_eq!(entry.metrics.psi_io_some_avg10, Some(3.0));
        assert!(report.problems.is_empty());
        for (name, _, path) in broken {
            let error = report.nodes[name].as_ref().expect_err(name);
            assert_eq!(error.field, format!("status.nodes[{name:?}]{path}"), "{error}");
        }
    }

    #[test]
    fn a_report_of_the_wrong_shape_is_empty_and_says_where() {
        let rows = [
            (json!("x"), vec![]),
            (json!({}), vec![]),
            (json!({"status": null}), vec![]),
            (
                json!({"status": []}),
                vec!["status: expected an object, found a list"],
            ),
            (
                json!({"status": {"nodes": "x"}}),
                vec!["status.nodes: expected an object, found text"],
            ),
            (
                json!({"status": {"lastUpdateTime": 5, "nodes": {}}}),
                vec!["status.lastUpdateTime: expected a time as text, found a number"],
            ),
        ];
        for (object, problems) in rows {
            let report = decode_report(&object);
            assert!(report.nodes.is_empty());
            assert_eq!(
                report
                    .problems
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>(),
                problems,
                "{object}"
            );
        }
    }

    #[test]
    fn an_unknown_status_word_or_field_is_kept_out_of_the_way() {
        let entry = decode_entry(
            "n",
            &json!({"status": "weird", "later": {"x": 1}, "metrics": null}),
        )
        .unwrap();
        assert!(!entry.status.is_ok());
        assert_eq!(entry.status.as_str(), "weird");
    }

    #[test]
    fn times_are_read_and_written_to_the_microsecond() {
        assert_eq!(parse_time_micros("1970-01-01T00:00:01.000002Z"), Some(1_000_002));
        assert_eq!(parse_time_micros("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(format_time_micros(1_000_002), "1970-01-01T00:00:01.000002Z");
        for bad in ["", "yesterday", "1970-01-01", "12"] {
            assert_eq!(parse_time_micros(bad), None, "{bad}");
        }
        assert_eq!(
            parse_time_micros(&format_time_micros(i64::MAX)).map(|t| t > 0),
            Some(true)
        );
    }
}
