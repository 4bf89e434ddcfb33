//! Nodes.

use mco_model::event::{Amounts, Event, NodeRecord};
use serde::Deserialize;

use crate::affinity::TaintField;
use crate::annotation::REVOCABLE_ZONE;
use crate::cards;
use crate::decode::{Decoded, Kind, Options};
use crate::field::{Dict, List, Objects, Quant, Str, object};
use crate::meta::Meta;
use crate::problem::Problems;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<NodeSpecField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    status: Option<NodeStatusField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeSpecField<'a> {
    unschedulable: Option<bool>,
    #[serde(borrow)]
    taints: Objects<TaintField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeStatusField<'a> {
    #[serde(borrow)]
    allocatable: Dict<'a, Quant>,
    #[serde(borrow)]
    capacity: Dict<'a, Quant>,
    #[serde(borrow)]
    conditions: Objects<NodeCondition<'a>>,
    #[serde(borrow)]
    images: Objects<Image<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeCondition<'a> {
    #[serde(borrow, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow)]
    status: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Image<'a> {
    #[serde(borrow)]
    names: List<Str<'a>>,
    size_bytes: Option<i64>,
}

pub(crate) fn convert(mut node: NodeObject<'_>, _: &Options) -> Decoded {
    let mut meta = node.metadata.take().unwrap_or_default();
    let annotations = meta.take_annotations();
    let spec = node.spec.take().unwrap_or_default();
    let status = node.status.take().unwrap_or_default();
    let images = status.images.iter().flat_map(|image| {
        let size = image.size_bytes.unwrap_or(0);
        image.names.iter().map(move |name| (name.text(), size))
    });
    let mut problems = Problems::default();
    let cards = cards::of_node(&status.capacity, &annotations, &mut problems);
    let event = Event::NodeSet(Box::new(NodeRecord {
        name: meta.name.text(),
        labels: meta.labels.labels(),
        allocatable: Amounts::from_list(status.allocatable.quantities()),
        capacity: Amounts::from_list(status.capacity.quantities()),
        oversubscription: annotations.oversubscription(),
        max_pods: status
            .allocatable
            .value("pods")
            .map_or(0, |quantity| quantity.0.value()),
        ready: !status
            .conditions
            .iter()
            .any(|condition| &*condition.kind == "Ready" && &*condition.status != "True"),
        unschedulable: spec.unschedulable.unwrap_or(false),
        taints: spec.taints.iter().map(TaintField::convert).collect(),
        images: images.collect(),
        cards,
        revocable_zone: meta
            .labels
            .value(REVOCABLE_ZONE)
            .map(Str::text)
            .unwrap_or_default(),
    }));
    Decoded {
        event: Some(event),
        problems: problems.about(Kind::Node, "", &meta.name),
    }
}
