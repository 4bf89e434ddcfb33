//! A condition into the status of a pod, everything else in it left as it is.

use crate::store::RawPod;
use serde_json::{Map, Value, json};

/// What is to be done about a status.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// It says so already.
    None,
    /// Nothing but the wording differs.
    Wording(Value),
    /// It differs.
    Substance(Value),
}

/// The pod's status with `PodScheduled` set to False; `None` when its status is no object.
pub(crate) fn scheduled(pod: &RawPod, reason: &str, message: &str, now: &str) -> Option<Change> {
    let status: Value = serde_json::from_str(pod.status.get()).ok()?;
    let known = find(&status, "PodScheduled").cloned();
    let text = |field: &str| {
        known
            .as_ref()
            .and_then(|known| known.get(field)?.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let same_substance = text("status") == "False" && text("reason") == reason;
    if same_substance && text("message") == message {
        return Some(Change::None);
    }
    let status = with_condition(status, "PodScheduled", reason, message, now)?;
    Some(if same_substance {
        Change::Wording(status)
    } else {
        Change::Substance(status)
    })
}

/// The status with the condition of this type set to False; `None` when it is no object.
pub(crate) fn with_condition(
    status: Value,
    kind: &str,
    reason: &str,
    message: &str,
    now: &str,
) -> Option<Value> {
    let mut status = match status {
        Value::Null => Map::new(),
        Value::Object(map) => map,
        _ => return None,
    };
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let conditions = conditions.as_array_mut()?;
    let place = conditions
        .iter()
        .position(|condition| condition.get("type").and_then(Value::as_str) == Some(kind));
    let since = place
        .and_then(|place| {
            let known = &conditions[place];
            let same = known.get("status")?.as_str()? == "False";
            same.then(|| known.get("lastTransitionTime")?.as_str().map(str::to_owned))?
        })
        .unwrap_or_else(|| now.to_owned());
    let condition = json!({
        "type": kind,
        "status": "False",
        "lastProbeTime": null,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    });
    match place {
        Some(place) => conditions[place] = condition,
        None => conditions.push(condition),
    }
    Some(Value::Object(status))
}

fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status
        .get("conditions")?
        .as_array()?
        .iter()
        .find(|condition| condition.get("type").and_then(Value::as_str) == Some(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn pod(status: &str) -> RawPod {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON").into();
        RawPod {
            uid: "u".into(),
            version: 1,
            metadata: raw("{}"),
            status: raw(status),
        }
    }

    #[test]
    fn what_is_there_is_kept_and_what_is_said_already_is_not_written() {
        let first = scheduled(&pod(r#"{"phase":"Pending"}"#), "Unschedulable", "m", "t1");
        let Some(Change::Substance(first)) = first else {
            panic!("a new condition is substance: {first:?}");
        };
        assert_eq!(first["phase"], "Pending");
        assert_eq!(first["conditions"][0]["lastTransitionTime"], "t1");
        let again = pod(&first.to_string());
        assert_eq!(scheduled(&again, "Unschedulable", "m", "t2"), Some(Change::None));
        let Some(Change::Wording(other)) = scheduled(&again, "Unschedulable", "n", "t2") else {
            panic!("another message is wording");
        };
        assert_eq!(other["conditions"][0]["lastTransitionTime"], "t1", "still False");
        assert!(matches!(
            scheduled(&again, "Schedulable", "m", "t2"),
            Some(Change::Substance(_))
        ));
    }

    #[test]
    fn conditions_of_other_types_stay() {
        let status =
            r#"{"conditions":[{"type":"Custom","status":"True"},{"type":"PodScheduled","status":"True"}]}"#;
        let Some(Change::Substance(status)) = scheduled(&pod(status), "Unschedulable", "m", "t") else {
            panic!("from True to False is substance");
        };
        assert_eq!(status["conditions"][0]["type"], "Custom");
        assert_eq!(status["conditions"][1]["status"], "False");
        assert_eq!(status["conditions"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_status_that_is_no_object_is_left_alone() {
        assert_eq!(scheduled(&pod("7"), "Unschedulable", "m", "t"), None);
        assert!(scheduled(&pod("null"), "Unschedulable", "m", "t").is_some());
    }
}
