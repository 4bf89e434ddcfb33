//! PodGroups and Queues.

use mco_model::event::{
    Amounts, Event, PodGroupCondition, PodGroupPhase, PodGroupRecord, PodGroupStatus, QueueCounts,
    QueueRecord,
};
use mco_model::extra::NodeGroups;
use mco_model::spec::Text;
use serde::Deserialize;

use crate::decode::{Decoded, Kind, Options};
use crate::field::{Dict, List, Moment, Objects, Quant, Str, object};
use crate::meta::Meta;
use crate::problem::Problems;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PodGroupObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<PodGroupSpecField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    status: Option<PodGroupStatusField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodGroupSpecField<'a> {
    min_member: Option<i32>,
    #[serde(borrow)]
    min_task_member: Dict<'a, Option<i32>>,
    #[serde(borrow)]
    queue: Str<'a>,
    #[serde(borrow)]
    priority_class_name: Str<'a>,
    #[serde(borrow)]
    min_resources: Option<Dict<'a, Quant>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodGroupStatusField<'a> {
    #[serde(borrow)]
    phase: Str<'a>,
    #[serde(borrow)]
    conditions: Objects<GroupCondition<'a>>,
    running: Option<i32>,
    succeeded: Option<i32>,
    failed: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GroupCondition<'a> {
    #[serde(borrow, rename = "type")]
    kind: Str<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow, rename = "transitionID")]
    transition_id: Str<'a>,
    last_transition_time: Option<Moment>,
    #[serde(borrow)]
    reason: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
}

pub(crate) fn convert_pod_group(mut group: PodGroupObject<'_>, options: &Options) -> Decoded {
    let mut meta = group.metadata.take().unwrap_or_default();
    let annotations = meta.take_annotations();
    let spec = group.spec.take().unwrap_or_default();
    let status = group.status.take().unwrap_or_default();
    let min_resources = spec.min_resources.as_ref();
    let whole = min_resources.into_iter().flat_map(|list| list.quantities());
    let members = spec.min_task_member.iter();
    let namespace = meta.namespace_or(&options.default_namespace);
    let mut problems = Problems::default();
    let event = Event::PodGroupSet(Box::new(PodGroupRecord {
        namespace: namespace.clone(),
        name: meta.name.text(),
        uid: meta.uid.text(),
        created: meta.created(),
        min_member: spec.min_member.unwrap_or(0),
        min_task_member: members
            .map(|(role, least)| (role.text(), least.unwrap_or(0)))
            .collect(),
        queue: spec.queue.text(),
        priority_class: spec.priority_class_name.text(),
        min_resources: min_resources.map(|list| Amounts::from_list(list.quantities())),
        min_resources_whole: whole
            .map(|(name, quantity)| (name.into(), quantity.value() as f64))
            .collect(),
        min_resources_named: min_resources.map(Dict::nanos).unwrap_or_default(),
        preemptable: annotations.preemptable(&meta.labels).unwrap_or(false),
        waiting_time: annotations.waiting_time(&mut problems),
        budget: annotations.budget(&mut problems),
        topology: annotations.topology(),
        status: PodGroupStatus {
            phase: phase(&status.phase),
            conditions: status.conditions.iter().map(condition).collect(),
            running: status.running.unwrap_or(0),
            succeeded: status.succeeded.unwrap_or(0),
            failed: status.failed.unwrap_or(0),
        },
    }));
    Decoded {
        event: Some(event),
        problems: problems.about(Kind::PodGroup, &namespace, &meta.name),
    }
}

/// A phase that nobody knows is, like `Unknown`, no longer waiting to be let in.
fn phase(text: &str) -> PodGroupPhase {
    match text {
        "" => PodGroupPhase::New,
        "Pending" => PodGroupPhase::Pending,
        "Inqueue" => PodGroupPhase::Inqueue,
        "Running" => PodGroupPhase::Running,
        "Completed" => PodGroupPhase::Completed,
        _ => PodGroupPhase::Unknown,
    }
}

fn condition(field: &GroupCondition<'_>) -> PodGroupCondition {
    PodGroupCondition {
        kind: field.kind.text(),
        status: &*field.status == "True",
        transition_id: field.transition_id.text(),
        last_transition: field.last_transition_time.map(|moment| moment.0),
        reason: field.reason.text(),
        message: field.message.text(),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct QueueObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<QueueSpecField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    status: Option<QueueStatusField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct QueueSpecField<'a> {
    weight: Option<i32>,
    #[serde(borrow)]
    capability: Dict<'a, Quant>,
    #[serde(borrow)]
    deserved: Dict<'a, Quant>,
    #[serde(borrow, deserialize_with = "object")]
    guarantee: Option<GuaranteeField<'a>>,
    reclaimable: Option<bool>,
    #[serde(borrow, deserialize_with = "object")]
    affinity: Option<QueueAffinityField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GuaranteeField<'a> {
    #[serde(borrow)]
    resource: Dict<'a, Quant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct QueueStatusField<'a> {
    #[serde(borrow)]
    state: Str<'a>,
    inqueue: Option<i32>,
    pending: Option<i32>,
    running: Option<i32>,
    unknown: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QueueAffinityField<'a> {
    #[serde(borrow, deserialize_with = "object")]
    node_group_affinity: Option<NodeGroupTerms<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    node_group_anti_affinity: Option<NodeGroupTerms<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeGroupTerms<'a> {
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: List<Str<'a>>,
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: List<Str<'a>>,
}

impl QueueAffinityField<'_> {
    fn convert(self) -> Option<Box<NodeGroups>> {
        let texts = |list: List<Str<'_>>| -> Vec<Text> { list.iter().map(Str::text).collect() };
        let wanted = self.node_group_affinity.unwrap_or_default();
        let unwanted = self.node_group_anti_affinity.unwrap_or_default();
        let groups = NodeGroups {
            required: texts(wanted.required),
            preferred: texts(wanted.preferred),
            refused: texts(unwanted.required),
            avoided: texts(unwanted.preferred),
        };
        (groups != NodeGroups::default()).then(|| Box::new(groups))
    }
}

pub(crate) fn convert_queue(mut queue: QueueObject<'_>, _: &Options) -> Decoded {
    let mut meta = queue.metadata.take().unwrap_or_default();
    let annotations = meta.take_annotations();
    let spec = queue.spec.take().unwrap_or_default();
    let guarantee = spec.guarantee.as_ref();
    let status = queue.status.take().unwrap_or_default();
    Decoded::event(Event::QueueSet(Box::new(QueueRecord {
        name: meta.name.text(),
        created: meta.created(),
        weight: spec.weight.unwrap_or(0),
        capability: Amounts::from_list(spec.capability.quantities()),
        deserved: Amounts::from_list(spec.deserved.quantities()),
        guarantee: guarantee
            .map(|list| Amounts::from_list(list.resource.quantities()))
            .unwrap_or_default(),
        reclaimable: spec.reclaimable.unwrap_or(true),
        node_groups: spec.affinity.and_then(QueueAffinityField::convert),
        hierarchy: annotations.hierarchy.text(),
        hierarchy_weights: annotations.hierarchy_weights.text(),
        counted: QueueCounts {
            inqueue: status.inqueue.unwrap_or(0),
            pending: status.pending.unwrap_or(0),
            running: status.running.unwrap_or(0),
            unknown: status.unknown.unwrap_or(0),
        },
        state: status.state.text(),
    })))
}
