//! The status of a PodGroup into the object as last seen, which is written whole.

use super::condition::Change;
use super::moment_of;
use mco_model::event::{PodGroupCondition, PodGroupStatus};
use serde_json::{Map, Value, json};

/// The object with this status; `None` when it cannot be read.
pub(crate) fn merged(object: &str, status: &PodGroupStatus) -> Option<Change> {
    let mut object: Value = serde_json::from_str(object).ok()?;
    let known = object.get("status").cloned().unwrap_or(Value::Null);
    let change = compare(&known, status);
    if change == Difference::None {
        return Some(Change::None);
    }
    let mut fields = match known {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    write(&mut fields, status);
    object
        .as_object_mut()?
        .insert("status".to_owned(), Value::Object(fields));
    Some(match change {
        Difference::Wording => Change::Wording(object),
        _ => Change::Substance(object),
    })
}

/// Sets what the scheduler says; what is zero or empty is left out, as Volcano leaves it.
fn write(fields: &mut Map<String, Value>, status: &PodGroupStatus) {
    let mut set = |name: &str, value: Value, empty: bool| {
        if empty {
            fields.remove(name);
        } else {
            fields.insert(name.to_owned(), value);
        }
    };
    let phase = status.phase.as_str();
    set("phase", json!(phase), phase.is_empty());
    set("running", json!(status.running), status.running == 0);
    set("succeeded", json!(status.succeeded), status.succeeded == 0);
    set("failed", json!(status.failed), status.failed == 0);
    let conditions: Vec<Value> = status.conditions.iter().map(condition).collect();
    let none = conditions.is_empty();
    set("conditions", Value::Array(conditions), none);
}

fn condition(condition: &PodGroupCondition) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            fields.insert(name.to_owned(), json!(value));
        }
    };
    put("type", &condition.kind);
    put("status", status_text(condition.status));
    put("transitionID", &condition.transition_id);
    if let Some(time) = condition.last_transition {
        put("lastTransitionTime", &moment_of(time));
    }
    put("reason", &condition.reason);
    put("message", &condition.message);
    Value::Object(fields)
}

fn status_text(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    None,
    Wording,
    Substance,
}

/// Times and transition ids do not count.
fn compare(known: &Value, wanted: &PodGroupStatus) -> Difference {
    let number = |name: &str| known.get(name).and_then(Value::as_i64).unwrap_or(0);
    let counts = [
        ("running", wanted.running),
        ("succeeded", wanted.succeeded),
        ("failed", wanted.failed),
    ];
    let empty = Vec::new();
    let conditions = known
        .get("conditions")
        .and_then(Value::as_array)
        .unwrap_or(&empty);
    let phase = known.get("phase").and_then(Value::as_str).unwrap_or_default();
    if phase != wanted.phase.as_str()
        || counts
            .iter()
            .any(|(name, count)| number(name) != i64::from(*count))
        || conditions.len() != wanted.conditions.len()
    {
        return Difference::Substance;
    }
    let mut difference = Difference::None;
    for (known, wanted) in conditions.iter().zip(&wanted.conditions) {
        let same =
            |name: &str, text: &str| known.get(name).and_then(Value::as_str).unwrap_or_default() == text;
        if !same("type", &wanted.kind)
            || !same("status", status_text(wanted.status))
            || !same("reason", &wanted.reason)
        {
            return Difference::Substance;
        }
        if !same("message", &wanted.message) {
            difference = Difference::Wording;
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::event::PodGroupPhase;
    use mco_model::time::Time;

    fn status(message: &str) -> PodGroupStatus {
        PodGroupStatus {
            phase: PodGroupPhase::Inqueue,
            conditions: vec![PodGroupCondition {
                kind: "Unschedulable".into(),
                status: true,
                transition_id: "s1".into(),
                last_transition: Some(Time::from_seconds(1)),
                reason: "NotEnoughResources".into(),
                message: message.into(),
            }],
            running: 2,
            succeeded: 0,
            failed: 0,
        }
    }

    const OBJECT: &str = r#"{"kind":"PodGroup","metadata":{"name":"g","resourceVersion":"7"},
        "spec":{"minMember":2,"later":{"x":1}},"status":{"phase":"Pending","succeeded":1,"later":true}}"#;

    #[test]
    fn the_object_keeps_what_nobody_here_knows() {
        let Some(Change::Substance(object)) = merged(OBJECT, &status("m")) else {
            panic!("another phase is substance");
        };
        assert_eq!(object["spec"]["later"]["x"], 1);
        assert_eq!(object["metadata"]["resourceVersion"], "7");
        assert_eq!(
            object["status"],
            json!({
                "phase": "Inqueue", "running": 2, "later": true,
                "conditions": [{
                    "type": "Unschedulable", "status": "True", "transitionID": "s1",
                    "lastTransitionTime": "1970-01-01T00:00:01Z",
                    "reason": "NotEnoughResources", "message": "m",
                }],
            })
        );
        let written = object.to_string();
        let mut later = status("m");
        later.conditions[0].transition_id = "s2".into();
        later.conditions[0].last_transition = Some(Time::from_seconds(9));
        assert_eq!(merged(&written, &later), Some(Change::None));
        assert!(matches!(merged(&written, &status("n")), Some(Change::Wording(_))));
        assert!(matches!(
            merged(&written, &PodGroupStatus::default()),
            Some(Change::Substance(_))
        ));
    }

    #[test]
    fn a_status_of_the_wrong_shape_is_replaced() {
        let Some(Change::Substance(object)) = merged(r#"{"status":7}"#, &status("m")) else {
            panic!("it has to be written");
        };
        assert_eq!(object["status"]["phase"], "Inqueue");
        assert_eq!(merged("[]", &status("m")), None);
    }
}
