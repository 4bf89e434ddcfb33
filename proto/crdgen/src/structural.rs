//! From JSON Schema, as types give it, to the structural schemas that an API server takes.

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

/// Whether the values that types take for what is absent become defaults of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// The API server fills them in.
    Filled,
    /// What is absent stays absent.
    Left,
}

/// Rewrites a schema without references: `null` means absent, descriptions are one line, and what an API server does
/// not know is an error rather than lost.
///
/// # Errors
/// Names the place and the keyword that has no structural form.
pub fn structural(schema: &Value, defaults: Defaults) -> anyhow::Result<Value> {
    let Some(given) = schema.as_object() else {
        bail!("expected a schema, found {schema}");
    };
    let mut given = without_null(given.clone())?;
    let mut made = Map::new();
    if given.contains_key("x-kubernetes-int-or-string") {
        // The one place where alternatives are allowed, in exactly this form.
        made.extend(given.remove_entry("anyOf"));
    }
    for (key, value) in given {
        let value = match key.as_str() {
            "$schema" | "title" => continue,
            "description" => one_line(&value),
            "properties" => {
                let properties = value.as_object().context("properties are no object")?;
                let properties = properties.iter().map(|(name, schema)| {
                    let schema = structural(schema, defaults).with_context(|| format!("in {name}"))?;
                    Ok((name.clone(), schema))
                });
                Value::Object(properties.collect::<anyhow::Result<_>>()?)
            }
            "items" => structural(&value, defaults).context("in items")?,
            "additionalProperties" if value.is_object() => {
                structural(&value, defaults).context("in additionalProperties")?
            }
            "default" if defaults == Defaults::Left => continue,
            // The fields have theirs.
            "default" if value.is_object() => json!({}),
            "minimum" | "maximum" | "default" => whole(value),
            "format" => match value.as_str() {
                Some("date-time") => value,
                // Widths that an API server does not check and warns of.
                Some("double" | "int32" | "int64" | "uint32") => continue,
                _ => bail!("the format {value} is not known to API servers"),
            },
            "type" | "required" | "pattern" | "exclusiveMinimum" | "exclusiveMaximum" => value,
            extension if extension.starts_with("x-kubernetes-") => value,
            _ => bail!("`{key}: {value}` has no structural form"),
        };
        made.insert(key, value);
    }
    Ok(Value::Object(made))
}

/// The schema of what is there: absent values are left out by whoever writes them.
fn without_null(mut schema: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
    if let Some(Value::Array(types)) = schema.get("type") {
        let present: Vec<_> = types.iter().filter(|name| *name != "null").cloned().collect();
        let [one] = &present[..] else {
            bail!("several types, {types:?}, have no structural form");
        };
        let one = one.clone();
        schema.insert("type".to_owned(), one);
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    let null = json!({"type": "null"});
    let choice = schema.get("anyOf").and_then(Value::as_array);
    if choice.is_some_and(|choice| choice.contains(&null)) {
        let Some(Value::Array(choice)) = schema.remove("anyOf") else {
            bail!("anyOf is no list");
        };
        let present: Vec<_> = choice.into_iter().filter(|schema| *schema != null).collect();
        let [Value::Object(one)] = &present[..] else {
            bail!("several alternatives have no structural form");
        };
        for (key, value) in one {
            // What the field says of itself is closer to the reader than what its type says.
            schema.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(schema)
}

fn one_line(text: &Value) -> Value {
    let words: Vec<_> = text.as_str().unwrap_or_default().split_whitespace().collect();
    Value::from(words.join(" "))
}

/// `50` rather than `50.0`.
fn whole(value: Value) -> Value {
    match value.as_f64() {
        // Below 2^53 a number without a fraction is exact.
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::from(number as i64),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: Value) -> Value {
        structural(&schema, Defaults::Filled).unwrap()
    }

    #[test]
    fn null_means_absent() {
        assert_eq!(
            made(json!({"type": ["string", "null"], "default": null})),
            json!({"type": "string"})
        );
        assert_eq!(
            made(
                json!({"description": "near", "anyOf": [{"type": "object", "description": "far"}, {"type": "null"}]})
            ),
            json!({"description": "near", "type": "object"})
        );
    }

    #[test]
    fn objects_are_filled_by_the_defaults_of_their_fields() {
        let schema = json!({
            "type": "object", "default": {"io": 0.4},
            "properties": {"io": {"type": "number", "format": "double", "default": 50.0, "minimum": 0.5}}
        });
        assert_eq!(
            made(schema.clone()),
            json!({
                "type": "object", "default": {},
                "properties": {"io": {"type": "number", "default": 50, "minimum": 0.5}}
            })
        );
        let left = structural(&schema, Defaults::Left).unwrap();
        assert_eq!(
            left["properties"]["io"],
            json!({"type": "number", "minimum": 0.5})
        );
    }

    #[test]
    fn what_has_no_structural_form_is_named_with_its_place() {
        for (schema, word) in [
            (json!({"oneOf": []}), "oneOf"),
            (json!({"$ref": "#/$defs/X"}), "$ref"),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                "anyOf",
            ),
            (json!({"type": ["string", "integer"]}), "several types"),
            (json!({"format": "odd"}), "odd"),
        ] {
            let error = structural(&json!({"properties": {"there": schema}}), Defaults::Left).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains("in there") && text.contains(word), "{text}");
        }
    }
}
