//! Rules from a file, for use without a cluster: read at once, then whenever the content changes.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::keeper::RulesUpdate;

/// How often the file is looked at. Content is compared, not times: a mounted ConfigMap changes by a swapped link.
const POLL: Duration = Duration::from_secs(1);

/// Reads the file: a DetectionRuleConfig object or its bare spec, in YAML or JSON. A missing file is an absent object.
pub fn read(path: &Path) -> RulesUpdate {
    match std::fs::read_to_string(path) {
        Ok(text) => from_text(&text, path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => RulesUpdate::Absent,
        Err(error) => RulesUpdate::Unreadable {
            problem: format!("cannot read {}: {error}", path.display()),
        },
    }
}

/// Calls `apply` with the file's content now and after every change, until cancelled.
pub async fn watch(path: &Path, apply: impl Fn(&RulesUpdate), stop: CancellationToken) {
    let mut last = read(path);
    apply(&last);
    while stop.run_until_cancelled(tokio::time::sleep(POLL)).await.is_some() {
        let now = read(path);
        if now != last {
            apply(&now);
            last = now;
        }
    }
}

fn from_text(text: &str, path: &Path) -> RulesUpdate {
    // An empty file has no rules of its own: that is valid and means the defaults.
    let document = match serde_saphyr::from_str::<Option<Value>>(text) {
        Ok(document) => document.unwrap_or(Value::Null),
        Err(error) => {
            return RulesUpdate::Unreadable {
                problem: format!("cannot parse {}: {error}", path.display()),
            };
        }
    };
    let generation = document.pointer("/metadata/generation").and_then(Value::as_i64);
    let is_object = document.get("kind").is_some() || document.get("spec").is_some();
    let spec = if is_object {
        document.get("spec").cloned().unwrap_or(Value::Null)
    } else {
        document
    };
    RulesUpdate::Spec { spec, generation }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_and_a_bare_spec_read_alike() {
        let expected = json!({"thresholds": {"psiIo": 15}});
        for text in [
            "thresholds: {psiIo: 15}",
            r#"{"thresholds": {"psiIo": 15}}"#,
            "kind: DetectionRuleConfig\nmetadata: {generation: 3}\nspec:\n  thresholds:\n    psiIo: 15\n",
        ] {
            let RulesUpdate::Spec { spec, .. } = from_text(text, Path::new("rules.yaml")) else {
                panic!("not read: {text}")
            };
            assert_eq!(spec, expected, "{text}");
        }
    }

    #[test]
    fn a_broken_file_says_where() {
        for text in ["weights: {io: 0.4", "weights: {io: .inf}", "a: b: c"] {
            let RulesUpdate::Unreadable { problem } = from_text(text, Path::new("rules.yaml")) else {
                panic!("read: {text}")
            };
            assert!(problem.starts_with("cannot parse rules.yaml: "), "{problem}");
        }
        assert_eq!(read(Path::new("/nonexistent/rules.yaml")), RulesUpdate::Absent);
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let RulesUpdate::Spec { spec, .. } = from_text("", Path::new("r")) else {
            panic!("not read")
        };
        assert!(super::super::parse(&spec).is_ok());
    }
}
