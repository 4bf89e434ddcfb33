//! Pods.

use mco_model::event::{Event, PodPhase, PodRecord, WorkloadKind};
use mco_model::extra::{PodExtra, Quality};
use mco_model::spec::{Claim, HostPort, PodSpec, Text};
use mco_model::time::Time;
use serde::Deserialize;

use crate::affinity::{AffinityField, SpreadField, TolerationField};
use crate::annotation::Annotations;
use crate::cards;
use crate::decode::{DecodeError, Decoded, Kind, Options};
use crate::field::{Dict, Moment, Objects, Quant, Str, object};
use crate::meta::Meta;
use crate::problem::Problems;
use crate::quality;
use crate::requests::Request;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PodObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(crate) spec: Option<PodSpecField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(crate) status: Option<PodStatusField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodSpecField<'a> {
    #[serde(borrow)]
    scheduler_name: Str<'a>,
    #[serde(borrow)]
    node_name: Str<'a>,
    priority: Option<i32>,
    #[serde(borrow)]
    priority_class_name: Str<'a>,
    #[serde(borrow)]
    runtime_class_name: Str<'a>,
    #[serde(borrow)]
    node_selector: Dict<'a, Str<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    affinity: Option<AffinityField<'a>>,
    #[serde(borrow)]
    tolerations: Objects<TolerationField<'a>>,
    #[serde(borrow)]
    topology_spread_constraints: Objects<SpreadField<'a>>,
    #[serde(borrow)]
    pub(crate) containers: Objects<Container<'a>>,
    #[serde(borrow)]
    pub(crate) init_containers: Objects<Container<'a>>,
    #[serde(borrow)]
    volumes: Objects<Volume<'a>>,
    #[serde(borrow)]
    scheduling_gates: Objects<Gate<'a>>,
    #[serde(borrow)]
    pub(crate) overhead: Dict<'a, Quant>,
    #[serde(borrow, deserialize_with = "object")]
    pub(crate) resources: Option<Resources<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Container<'a> {
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    #[serde(borrow)]
    image: Str<'a>,
    #[serde(borrow)]
    ports: Objects<Port<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(crate) resources: Option<Resources<'a>>,
    #[serde(borrow)]
    restart_policy: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Resources<'a> {
    #[serde(borrow)]
    pub(crate) requests: Dict<'a, Quant>,
    #[serde(borrow)]
    pub(crate) limits: Dict<'a, Quant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Port<'a> {
    host_port: Option<i64>,
    #[serde(borrow, rename = "hostIP")]
    host_ip: Str<'a>,
    #[serde(borrow)]
    protocol: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Volume<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow, deserialize_with = "object")]
    persistent_volume_claim: Option<ClaimField<'a>>,
    #[serde(deserialize_with = "object")]
    ephemeral: Option<EphemeralField>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimField<'a> {
    #[serde(borrow)]
    claim_name: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct EphemeralField {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Gate<'a> {
    #[serde(borrow)]
    name: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodStatusField<'a> {
    #[serde(borrow)]
    phase: Str<'a>,
    #[serde(borrow)]
    qos_class: Str<'a>,
    #[serde(borrow)]
    pub(crate) conditions: Objects<PodCondition<'a>>,
    #[serde(borrow)]
    pub(crate) container_statuses: Objects<ContainerStatus<'a>>,
    #[serde(borrow)]
    pub(crate) init_container_statuses: Objects<ContainerStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PodCondition<'a> {
    last_transition_time: Option<Moment>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Str<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    pub(crate) reason: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ContainerStatus<'a> {
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    #[serde(borrow)]
    pub(crate) allocated_resources: Dict<'a, Quant>,
    #[serde(borrow, deserialize_with = "object")]
    pub(crate) resources: Option<Resources<'a>>,
}

impl Container<'_> {
    /// Whether an init container goes on running beside the others.
    pub(crate) fn is_sidecar(&self) -> bool {
        &*self.restart_policy == "Always"
    }
}

pub(crate) fn convert(mut pod: PodObject<'_>, options: &Options) -> Decoded {
    let request = pod.request();
    let negative = pod.negative_request();
    let mut meta = pod.metadata.take().unwrap_or_default();
    if let Some((field, amount)) = negative {
        return Decoded::refused(DecodeError {
            kind: "Pod".into(),
            namespace: (&*meta.namespace_or(&options.default_namespace)).into(),
            name: (&*meta.name).into(),
            field,
            problem: format!("{amount} is below zero; the pod is left out"),
            offset: None,
        });
    }
    let annotations = meta.take_annotations();
    let spec = pod.spec.take().unwrap_or_default();
    let status = pod.status.take().unwrap_or_default();
    let namespace = meta.namespace_or(&options.default_namespace);
    let uid = match meta.uid.non_empty() {
        Some(uid) => uid.into(),
        None => format!("{namespace}/{}", &*meta.name).into(),
    };
    let scheduler = spec.scheduler_name.non_empty().unwrap_or("default-scheduler");
    let mut problems = Problems::default();
    let event = Event::PodSet(Box::new(PodRecord {
        name: meta.name.text(),
        uid,
        created: meta.created(),
        deleting: meta.deleting(),
        ours: options.scheduler_names.iter().any(|ours| &**ours == scheduler),
        node: spec.node_name.text(),
        phase: phase(&status.phase),
        group: annotations.group_name.text(),
        role: annotations.task_spec.text(),
        template_uid: annotations.template_uid.text(),
        priority: annotations.task_priority().or(spec.priority).unwrap_or(1),
        preemptable: annotations.preemptable(&meta.labels).unwrap_or(true),
        labels: meta.labels.labels(),
        best_effort: request.best_effort,
        controller: controller(&meta),
        scheduled_condition: scheduled_condition(&status),
        extra: PodExtra {
            cooldown: annotations.cooldown(&meta.labels, &mut problems),
            scheduled_at: scheduled_at(&status),
            given_priority: spec.priority,
            cards: cards::held(&annotations, &mut problems),
        },
        spec: PodSpec {
            named_queue: annotations.named_queue(&meta.labels),
            revocable: annotations.revocable(),
            cards: cards::wanted(&spec, &annotations),
            ..placement(&spec, &status, &annotations, &request)
        },
        request: request.amounts,
        namespace: namespace.clone(),
    }));
    Decoded {
        event: Some(event),
        problems: problems.about(Kind::Pod, &namespace, &meta.name),
    }
}

fn placement(
    spec: &PodSpecField<'_>,
    status: &PodStatusField<'_>,
    annotations: &Annotations<'_>,
    request: &Request,
) -> PodSpec {
    let affinity = spec.affinity.as_ref();
    let quality = quality::of(spec, &status.qos_class);
    PodSpec {
        quality,
        cpus: (quality == Quality::Guaranteed).then(|| quality::cpus(spec, annotations.numa_policy.text())),
        node_selector: spec.node_selector.labels(),
        node_affinity: affinity.map(AffinityField::node).unwrap_or_default(),
        pod_affinity: affinity.map(AffinityField::pods).unwrap_or_default(),
        pod_anti_affinity: affinity.map(AffinityField::not_pods).unwrap_or_default(),
        tolerations: spec.tolerations.iter().map(TolerationField::convert).collect(),
        topology_spread: spec
            .topology_spread_constraints
            .iter()
            .map(SpreadField::convert)
            .collect(),
        host_ports: host_ports(spec),
        images: spec
            .containers
            .iter()
            .map(|container| container.image.text())
            .collect(),
        runtime_class: spec.runtime_class_name.non_empty().map(Text::from),
        priority_class: spec.priority_class_name.non_empty().map(Text::from),
        scheduling_gates: spec
            .scheduling_gates
            .iter()
            .map(|gate| gate.name.text())
            .collect(),
        claims: spec.volumes.iter().filter_map(claim).collect(),
        non_zero_milli_cpu: request.non_zero_milli_cpu,
        non_zero_memory: request.non_zero_memory,
        ..PodSpec::default()
    }
}

fn host_ports(spec: &PodSpecField<'_>) -> Vec<HostPort> {
    let ports = spec
        .containers
        .iter()
        .flat_map(|container| container.ports.iter());
    ports
        .filter_map(|port| {
            Some(HostPort {
                port: port.host_port.filter(|port| *port != 0)?,
                ip: port.host_ip.non_empty().unwrap_or("0.0.0.0").into(),
                protocol: port.protocol.non_empty().unwrap_or("TCP").into(),
            })
        })
        .collect()
}

fn claim(volume: &Volume<'_>) -> Option<Claim> {
    match (&volume.persistent_volume_claim, &volume.ephemeral) {
        (Some(claim), _) => Some(Claim::Persistent(claim.claim_name.text())),
        (None, Some(_)) => Some(Claim::Ephemeral(volume.name.text())),
        (None, None) => None,
    }
}

/// An API server gives every new pod the phase `Pending`; a manifest that has not passed one means the same.
fn phase(text: &str) -> PodPhase {
    match text {
        "" | "Pending" => PodPhase::Pending,
        "Running" => PodPhase::Running,
        "Succeeded" => PodPhase::Succeeded,
        "Failed" => PodPhase::Failed,
        _ => PodPhase::Unknown,
    }
}

fn controller(meta: &Meta<'_>) -> Option<(WorkloadKind, Text)> {
    let owner = meta
        .owner_references
        .iter()
        .find(|owner| owner.controller == Some(true))?;
    let kind = match &*owner.kind {
        "ReplicationController" => WorkloadKind::ReplicationController,
        "ReplicaSet" => WorkloadKind::ReplicaSet,
        "StatefulSet" => WorkloadKind::StatefulSet,
        _ => return None,
    };
    Some((kind, owner.name.text()))
}

/// When the condition `PodScheduled` became True. Only the first condition of that kind counts.
fn scheduled_at(status: &PodStatusField<'_>) -> Option<Time> {
    let is_scheduled =
        |condition: &&PodCondition<'_>| &*condition.kind == "PodScheduled" && &*condition.status == "True";
    let condition = status.conditions.iter().find(is_scheduled)?;
    condition.last_transition_time.map(|moment| moment.0)
}

fn scheduled_condition(status: &PodStatusField<'_>) -> Option<(bool, Text, Text)> {
    let condition = status
        .conditions
        .iter()
        .find(|condition| &*condition.kind == "PodScheduled")?;
    Some((
        &*condition.status == "True",
        condition.reason.text(),
        condition.message.text(),
    ))
}
