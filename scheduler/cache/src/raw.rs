//! Objects as the API server sent them, as texts: nothing that we do not know gets lost on the way back.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// What every object says of itself. What is absent is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Head<'a> {
    /// `metadata.name`.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// `metadata.namespace`.
    #[serde(borrow)]
    pub(crate) namespace: Cow<'a, str>,
    /// `metadata.uid`.
    #[serde(borrow)]
    pub(crate) uid: Cow<'a, str>,
    /// `metadata.resourceVersion`.
    #[serde(borrow)]
    pub(crate) resource_version: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// Reads it from an object.
    ///
    /// # Errors
    /// When the text is no object, or a field of the head is no text.
    pub(crate) fn of(object: &'a str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(borrow, default)]
            metadata: Head<'a>,
        }
        serde_json::from_str::<Whole<'a>>(object).map(|whole| whole.metadata)
    }

    /// `resourceVersion` as a number, by which versions are ordered; 0 when it is none.
    pub(crate) fn version(&self) -> u64 {
        self.resource_version.parse().unwrap_or(0)
    }
}

/// The fields of an object in their order, none of them looked into.
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads an object's fields.
    ///
    /// # Errors
    /// When the text is no object.
    pub(crate) fn of(object: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(object)
    }

    /// A field's value.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|(key, _)| key != name);
        self
    }

    fn with(mut self, name: &str, value: &'a RawValue) -> Self {
        for (key, place) in &mut self.0 {
            if key == name {
                *place = value;
            }
        }
        self
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = access.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// `metadata` without `managedFields`, which the API server keeps for itself and nobody needs to send back.
///
/// # Errors
/// When the text is no object.
pub(crate) fn slim_metadata(metadata: &str) -> Result<Box<RawValue>, serde_json::Error> {
    to_raw_value(&Fields::of(metadata)?.without("managedFields"))
}

/// A whole object without `metadata.managedFields`.
///
/// # Errors
/// When the text is no object.
pub(crate) fn slim(object: &str) -> Result<Box<RawValue>, serde_json::Error> {
    let fields = Fields::of(object)?;
    match fields.get("metadata") {
        None => to_raw_value(&fields),
        Some(metadata) => {
            let metadata = slim_metadata(metadata.get())?;
            to_raw_value(&fields.with("metadata", &metadata))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_loses_its_managed_fields_and_nothing_else() {
        let object = r#"{"apiVersion":"v1","x":{"unknown":[1, 2.50,"\u00e9"]},"metadata":{"name":"a","managedFields":[{"f:x":{}}],"uid":"u"},"status":null}"#;
        let slim = slim(object).expect("an object");
        assert_eq!(
            slim.get(),
            r#"{"apiVersion":"v1","x":{"unknown":[1, 2.50,"\u00e9"]},"metadata":{"name":"a","uid":"u"},"status":null}"#
        );
    }

    #[test]
    fn heads_are_read_whatever_else_there_is() {
        let head = Head::of(r#"{"spec":7,"metadata":{"name":"a\"b","resourceVersion":"12","labels":[]}}"#);
        let head = head.expect("a head");
        assert_eq!((&*head.name, &*head.uid, head.version()), ("a\"b", "", 12));
        assert!(Head::of(r#"{"metadata":{"name":7}}"#).is_err());
        assert!(Head::of("7").is_err());
    }
}
