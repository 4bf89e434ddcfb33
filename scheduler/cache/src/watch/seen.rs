//! An object as a watch brings it: a text, and of its fields no more than a watch needs. Whatever else is in it, a list that
//! holds it is read to its end.

use kube::Resource;
use kube::api::{ApiResource, DynamicObject, ObjectMeta};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

use crate::raw::Head;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    meta: ObjectMeta,
    /// The whole object.
    pub(super) json: Arc<RawValue>,
}

impl Seen {
    pub(super) fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.meta.namespace.as_deref().unwrap_or_default()
    }

    pub(super) fn version(&self) -> &str {
        self.meta.resource_version.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        // A head that cannot be read leaves the object without a name, and it is told of when it is decoded.
        let head = Head::of(json.get()).unwrap_or_default();
        let given = |text: Cow<'_, str>| (!text.is_empty()).then(|| text.into_owned());
        let meta = ObjectMeta {
            name: given(head.name),
            namespace: given(head.namespace),
            uid: given(head.uid),
            resource_version: given(head.resource_version),
            ..ObjectMeta::default()
        };
        Ok(Self {
            meta,
            json: json.into(),
        })
    }
}

impl Resource for Seen {
    type DynamicType = ApiResource;
    type Scope = <DynamicObject as Resource>::Scope;

    fn kind(dt: &ApiResource) -> Cow<'_, str> {
        DynamicObject::kind(dt)
    }

    fn group(dt: &ApiResource) -> Cow<'_, str> {
        DynamicObject::group(dt)
    }

    fn version(dt: &ApiResource) -> Cow<'_, str> {
        DynamicObject::version(dt)
    }

    fn plural(dt: &ApiResource) -> Cow<'_, str> {
        DynamicObject::plural(dt)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::{ObjectList, WatchEvent};

    #[test]
    fn objects_of_any_shape_are_read_from_lists_and_watches() {
        let list = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[
            {"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"spec":7},
            {"metadata":{"name":8}},
            "nonsense"]}"#;
        let list: ObjectList<Seen> = serde_json::from_str(list).expect("a list");
        let names: Vec<&str> = list.items.iter().map(Seen::name).collect();
        assert_eq!(names, ["a", "", ""]);
        assert_eq!(list.items[2].json.get(), "\"nonsense\"");
        let event = r#"{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"2"},"x":[ 1]}}"#;
        match serde_json::from_str(event).expect("an event") {
            WatchEvent::<Seen>::Added(seen) => {
                assert_eq!((seen.name(), seen.version()), ("b", "2"));
                assert!(seen.json.get().ends_with("\"x\":[ 1]}"));
            }
            other => panic!("{other:?}"),
        }
    }
}
