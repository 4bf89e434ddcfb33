//! Amounts as Kubernetes writes them: numbers or texts such as `250m` and `16Gi`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Amounts by resource name.
pub type ResourceList = BTreeMap<String, Quantity>;

/// What an amount looks like. Sign, decimal number, then a binary or decimal suffix or an exponent.
pub const QUANTITY_PATTERN: &str =
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))?$";

/// An amount as it is written; what it amounts to is the scheduler's business.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quantity(pub String);

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<i64> for Quantity {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntOrString;
        impl Visitor<'_> for IntOrString {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount: an integer, or text such as 250m or 16Gi")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Quantity, E> {
                Ok(Quantity(text.to_owned()))
            }
        }
        deserializer.deserialize_any(IntOrString)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Quantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY_PATTERN,
            "x-kubernetes-int-or-string": true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_amounts_and_nothing_else_is() {
        let list: ResourceList = serde_json::from_str(r#"{"cpu": 4, "memory": "16Gi"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&list).unwrap(),
            r#"{"cpu":"4","memory":"16Gi"}"#
        );
        for bad in ["true", "1.5", "[]", "{}", "null"] {
            assert!(serde_json::from_str::<Quantity>(bad).is_err(), "{bad}");
        }
    }
}
