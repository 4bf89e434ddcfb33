//! What a queue's running pods hold, into its `status.allocated`, as Kubernetes writes quantities.

use super::condition::Change;
use mco_model::event::Amounts;
use mco_model::quantity::{Format, Quantity};
use serde_json::{Map, Value, json};

/// The object with `status.allocated` set; `None` when it cannot be read. Amounts are compared, not their writing.
pub(crate) fn merged(object: &str, allocated: &Amounts) -> Option<Change> {
    let mut object: Value = serde_json::from_str(object).ok()?;
    let wanted = quantities(allocated);
    let known = object.pointer("/status/allocated").and_then(Value::as_object);
    if known.is_some_and(|known| same(known, &wanted)) {
        return Some(Change::None);
    }
    let mut wanted_text = Map::new();
    for (name, quantity) in &wanted {
        wanted_text.insert(name.clone(), json!(quantity.to_string()));
    }
    let fields = object.as_object_mut()?;
    let status = fields.entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    status["allocated"] = Value::Object(wanted_text);
    Some(Change::Substance(object))
}

/// CPU and memory are always there.
fn quantities(amounts: &Amounts) -> Vec<(String, Quantity)> {
    let mut list = vec![
        (
            "cpu".to_owned(),
            Quantity::from_milli(amounts.milli_cpu as i64, Format::DecimalSi),
        ),
        (
            "memory".to_owned(),
            Quantity::from_value(amounts.memory as i64, Format::BinarySi),
        ),
    ];
    for (name, amount) in &amounts.scalars {
        let quantity = if &**name == "pods" {
            Quantity::from_value(*amount as i64, Format::DecimalSi)
        } else {
            Quantity::from_milli(*amount as i64, Format::DecimalSi)
        };
        list.push((name.to_string(), quantity));
    }
    list
}

fn same(known: &Map<String, Value>, wanted: &[(String, Quantity)]) -> bool {
    let read = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Quantity::parse_trimmed(&text).ok()
    };
    let named = |name: &str| {
        known
            .get(name)
            .and_then(read)
            .map_or(0, |quantity| quantity.nanos())
    };
    // What stands at zero is as good as absent, except for CPU and memory, which are always written.
    known.contains_key("cpu")
        && known.contains_key("memory")
        && wanted
            .iter()
            .all(|(name, quantity)| named(name) == quantity.nanos())
        && known
            .iter()
            .all(|(name, _)| wanted.iter().any(|(other, _)| other == name) || named(name) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(milli_cpu: f64, memory: f64, scalars: &[(&str, f64)]) -> Amounts {
        Amounts {
            milli_cpu,
            memory,
            scalars: scalars
                .iter()
                .map(|(name, amount)| ((*name).into(), *amount))
                .collect(),
            given: true,
        }
    }

    #[test]
    fn amounts_are_written_as_kubernetes_writes_them_and_only_when_they_differ() {
        let object = r#"{"metadata":{"name":"q"},"status":{"state":"Open","reservation":{}}}"#;
        let held = amounts(
            3500.0,
            3.0 * 1024.0 * 1024.0 * 1024.0,
            &[("nvidia.com/gpu", 2000.0), ("pods", 3.0)],
        );
        let Some(Change::Substance(object)) = merged(object, &held) else {
            panic!("it differs");
        };
        assert_eq!(
            object["status"],
            json!({
                "state": "Open", "reservation": {},
                "allocated": {"cpu": "3500m", "memory": "3Gi", "nvidia.com/gpu": "2", "pods": "3"},
            })
        );
        assert_eq!(merged(&object.to_string(), &held), Some(Change::None));
        let other_words = r#"{"status":{"allocated":{"cpu":"3.5","memory":"3072Mi","nvidia.com/gpu":2,"pods":"3","x":"0"}}}"#;
        assert_eq!(merged(other_words, &held), Some(Change::None));
        let none = amounts(0.0, 0.0, &[]);
        let Some(Change::Substance(object)) = merged(other_words, &none) else {
            panic!("it differs");
        };
        assert_eq!(object["status"]["allocated"], json!({"cpu": "0", "memory": "0"}));
        assert!(
            matches!(
                merged(r#"{"status":{"allocated":{}}}"#, &none),
                Some(Change::Substance(_))
            ),
            "CPU and memory are written even at zero"
        );
    }
}
