//! The kinds of which little is read: PriorityClass, Namespace, Service and the workloads that select pods.

use mco_model::event::{Event, PriorityClassRecord, WorkloadKind, WorkloadRecord};
use mco_model::spec::LabelSelector;
use serde::Deserialize;

use crate::affinity::SelectorField;
use crate::decode::{Decoded, Options};
use crate::field::{Dict, Str, object};
use crate::meta::Meta;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PriorityClassObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    value: Option<i32>,
    global_default: Option<bool>,
}

pub(crate) fn convert_priority_class(class: PriorityClassObject<'_>, _: &Options) -> Decoded {
    Decoded::event(Event::PriorityClassSet(PriorityClassRecord {
        name: class.metadata.unwrap_or_default().name.text(),
        value: class.value.unwrap_or(0),
        global_default: class.global_default.unwrap_or(false),
    }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamespaceObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
}

pub(crate) fn convert_namespace(namespace: NamespaceObject<'_>, _: &Options) -> Decoded {
    let meta = namespace.metadata.unwrap_or_default();
    Decoded::event(Event::NamespaceSet {
        name: meta.name.text(),
        labels: meta.labels.labels(),
    })
}

/// A Service or a ReplicationController, whose selector is a plain map.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MapSelectorObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<MapSelectorSpec<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MapSelectorSpec<'a> {
    #[serde(borrow)]
    selector: Option<Dict<'a, Str<'a>>>,
}

pub(crate) fn convert_map_selector(
    kind: WorkloadKind,
    object: MapSelectorObject<'_>,
    options: &Options,
) -> Decoded {
    let selector = object.spec.and_then(|spec| spec.selector);
    let selector = selector.map(|labels| LabelSelector {
        labels: labels.labels(),
        expressions: Vec::new(),
    });
    workload(kind, object.metadata.unwrap_or_default(), selector, options)
}

/// A ReplicaSet or a StatefulSet.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SetObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<SetSpec<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SetSpec<'a> {
    #[serde(borrow, deserialize_with = "object")]
    selector: Option<SelectorField<'a>>,
}

pub(crate) fn convert_set(kind: WorkloadKind, object: SetObject<'_>, options: &Options) -> Decoded {
    let selector = object
        .spec
        .and_then(|spec| spec.selector)
        .map(|selector| selector.convert());
    workload(kind, object.metadata.unwrap_or_default(), selector, options)
}

fn workload(
    kind: WorkloadKind,
    meta: Meta<'_>,
    selector: Option<LabelSelector>,
    options: &Options,
) -> Decoded {
    Decoded::event(Event::WorkloadSet(WorkloadRecord {
        kind,
        namespace: meta.namespace_or(&options.default_namespace),
        name: meta.name.text(),
        selector,
    }))
}
