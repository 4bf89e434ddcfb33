//! From one object in JSON to the event it stands for.

use std::fmt;

use mco_model::event::{Event, WorkloadKind};
use mco_model::spec::Text;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::field::{Object, Str};
use crate::{group, limits, node, numa, pod, report, small};

/// What the reader cannot know from the object.
#[derive(Clone, Debug)]
pub struct Options {
    /// Pods with one of these in `spec.schedulerName` are ours.
    pub scheduler_names: Vec<Text>,
    /// The namespace of namespaced objects that name none.
    pub default_namespace: Text,
    /// The name of the one interference report that counts.
    pub report_name: Text,
}

impl Default for Options {
    /// Scheduler `volcano`, namespace `default`, report `cluster`.
    fn default() -> Self {
        Self {
            scheduler_names: vec!["volcano".into()],
            default_namespace: "default".into(),
            report_name: mco_crds::SINGLETON.into(),
        }
    }
}

/// The kinds that become events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Kubernetes' own names")]
pub enum Kind {
    Node,
    Pod,
    PodGroup,
    Queue,
    PriorityClass,
    Namespace,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
    ResourceQuota,
    PodDisruptionBudget,
    Numatopology,
    NodeInterferenceReport,
}

impl Kind {
    /// All kinds with the API group each belongs to.
    const ALL: [(Kind, &'static str, &'static str); 14] = [
        (Kind::Node, "", "Node"),
        (Kind::Pod, "", "Pod"),
        (Kind::PodGroup, "scheduling.volcano.sh", "PodGroup"),
        (Kind::Queue, "scheduling.volcano.sh", "Queue"),
        (Kind::PriorityClass, "scheduling.k8s.io", "PriorityClass"),
        (Kind::Namespace, "", "Namespace"),
        (Kind::Service, "", "Service"),
        (Kind::ReplicationController, "", "ReplicationController"),
        (Kind::ReplicaSet, "apps", "ReplicaSet"),
        (Kind::StatefulSet, "apps", "StatefulSet"),
        (Kind::ResourceQuota, "", "ResourceQuota"),
        (Kind::PodDisruptionBudget, "policy", "PodDisruptionBudget"),
        (
            Kind::Numatopology,
            mco_crds::volcano::NODEINFO_GROUP,
            "Numatopology",
        ),
        (
            Kind::NodeInterferenceReport,
            mco_crds::GROUP,
            "NodeInterferenceReport",
        ),
    ];

    /// The kind by `apiVersion` and `kind`; `None` when the scheduler does not read it. Any version of the group will do.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self::ALL
            .iter()
            .find(|entry| entry.1 == group && entry.2 == kind)
            .map(|entry| entry.0)
    }

    /// The name as objects carry it.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|entry| entry.0 == self)
            .map_or("", |entry| entry.2)
    }
}

/// What came of one object.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The event, `None` when the scheduler does not read such objects.
    pub event: Option<Event>,
    /// Parts that could not be read and count as absent.
    pub problems: Vec<DecodeError>,
}

impl Decoded {
    pub(crate) fn event(event: Event) -> Self {
        Self {
            event: Some(event),
            problems: Vec::new(),
        }
    }
}

impl Decoded {
    /// Nothing but what is wrong.
    pub(crate) fn refused(problem: DecodeError) -> Self {
        Self {
            event: None,
            problems: vec![problem],
        }
    }
}

/// An object that cannot be read. The message names the object, the field and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The object's kind as written, or `object` when it has none.
    pub kind: Box<str>,
    /// The object's namespace; empty when it has none.
    pub namespace: Box<str>,
    /// The object's name; empty when it has none.
    pub name: Box<str>,
    /// The field, as a path from the root, like `spec.containers[0].resources.requests.cpu`; empty for the whole object.
    pub field: String,
    /// What is wrong.
    pub problem: String,
    /// Where in the JSON text reading stopped, in bytes.
    pub(crate) offset: Option<usize>,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        match (&*self.namespace, &*self.name) {
            ("", "") => {}
            ("", name) => write!(f, " {name}")?,
            (namespace, name) => write!(f, " {namespace}/{name}")?,
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for DecodeError {}

/// The beginning of any object.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Head<'a> {
    #[serde(borrow)]
    pub(crate) api_version: Str<'a>,
    #[serde(borrow)]
    pub(crate) kind: Str<'a>,
}

/// Reads an object in JSON of whatever kind.
///
/// # Errors
/// When it has no `apiVersion` and `kind`, or a field that the scheduler reads cannot be understood.
pub fn decode(json: &[u8], options: &Options) -> Result<Decoded, DecodeError> {
    let head = read_head(json)?;
    match Kind::of(&head.api_version, &head.kind) {
        Some(kind) => decode_as(kind, json, options),
        None => Ok(Decoded::default()),
    }
}

/// Reads an object in JSON of a known kind; its own `apiVersion` and `kind` are not looked at.
///
/// # Errors
/// When a field that the scheduler reads cannot be understood.
pub fn decode_as(kind: Kind, json: &[u8], options: &Options) -> Result<Decoded, DecodeError> {
    match kind {
        Kind::Node => read(kind, json, options, node::convert),
        Kind::Pod => read(kind, json, options, pod::convert),
        Kind::PodGroup => read(kind, json, options, group::convert_pod_group),
        Kind::Queue => read(kind, json, options, group::convert_queue),
        Kind::PriorityClass => read(kind, json, options, small::convert_priority_class),
        Kind::Namespace => read(kind, json, options, small::convert_namespace),
        Kind::Service => read(kind, json, options, |object, options| {
            small::convert_map_selector(WorkloadKind::Service, object, options)
        }),
        Kind::ReplicationController => read(kind, json, options, |object, options| {
            small::convert_map_selector(WorkloadKind::ReplicationController, object, options)
        }),
        Kind::ReplicaSet => read(kind, json, options, |object, options| {
            small::convert_set(WorkloadKind::ReplicaSet, object, options)
        }),
        Kind::StatefulSet => read(kind, json, options, |object, options| {
            small::convert_set(WorkloadKind::StatefulSet, object, options)
        }),
        Kind::ResourceQuota => read(kind, json, options, limits::convert_quota),
        Kind::PodDisruptionBudget => read(kind, json, options, limits::convert_budget),
        Kind::Numatopology => read(kind, json, options, numa::convert),
        Kind::NodeInterferenceReport => read(kind, json, options, |object: serde_json::Value, options| {
            report::convert(&object, options)
        }),
    }
}

/// The event that an object of this kind is gone.
pub fn removal(kind: Kind, namespace: &str, name: &str) -> Event {
    let workload = |kind| Event::WorkloadRemoved {
        kind,
        namespace: namespace.into(),
        name: name.into(),
    };
    match kind {
        Kind::Node => Event::NodeRemoved { name: name.into() },
        Kind::Pod => Event::PodRemoved {
            namespace: namespace.into(),
            name: name.into(),
        },
        Kind::PodGroup => Event::PodGroupRemoved {
            namespace: namespace.into(),
            name: name.into(),
        },
        Kind::Queue => Event::QueueRemoved { name: name.into() },
        Kind::PriorityClass => Event::PriorityClassRemoved { name: name.into() },
        Kind::Namespace => Event::NamespaceRemoved { name: name.into() },
        Kind::Service => workload(WorkloadKind::Service),
        Kind::ReplicationController => workload(WorkloadKind::ReplicationController),
        Kind::ReplicaSet => workload(WorkloadKind::ReplicaSet),
        Kind::StatefulSet => workload(WorkloadKind::StatefulSet),
        Kind::ResourceQuota => Event::QuotaRemoved {
            namespace: namespace.into(),
            name: name.into(),
        },
        Kind::PodDisruptionBudget => Event::DisruptionBudgetRemoved {
            namespace: namespace.into(),
            name: name.into(),
        },
        Kind::Numatopology => Event::NumatopologyRemoved { name: name.into() },
        Kind::NodeInterferenceReport => Event::ReportRemoved,
    }
}

/// Reads `apiVersion` and `kind`, and no further than it must.
pub(crate) fn read_head(json: &[u8]) -> Result<Head<'_>, DecodeError> {
    let mut head = Head::default();
    let outcome = HeadSeed(&mut head).deserialize(&mut serde_json::Deserializer::from_slice(json));
    let missing = match (head.api_version.is_empty(), head.kind.is_empty()) {
        (false, false) => return Ok(head),
        (true, true) => "`apiVersion` and `kind` are missing",
        (true, false) => "`apiVersion` is missing",
        (false, true) => "`kind` is missing",
    };
    if let Err(error) = outcome {
        return Err(explain::<Head<'_>>(json, &error));
    }
    let problem = format!("{missing}, so this is no Kubernetes object");
    Err(DecodeError {
        problem,
        ..explained(json)
    })
}

/// Fills a head, and ends with an error as soon as it is complete: the rest of the object is read by who knows its kind.
struct HeadSeed<'s, 'de>(&'s mut Head<'de>);

impl<'de> DeserializeSeed<'de> for HeadSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HeadSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while let Some(key) = access.next_key::<Str<'de>>()? {
            match &*key {
                "apiVersion" => self.0.api_version = access.next_value()?,
                "kind" => self.0.kind = access.next_value()?,
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
            if !self.0.api_version.is_empty() && !self.0.kind.is_empty() {
                return Err(A::Error::custom("the head is complete"));
            }
        }
        Ok(())
    }
}

/// Reads an object's fields. Whatever goes wrong is looked into only then, so that a sound object costs one pass.
pub(crate) fn read<'a, T: Deserialize<'a>, R>(
    kind: Kind,
    json: &'a [u8],
    options: &Options,
    convert: impl FnOnce(T, &Options) -> R,
) -> Result<R, DecodeError> {
    match serde_json::from_slice(json) {
        Ok(Object(Some(object))) => Ok(convert(object, options)),
        Ok(Object(None)) => Err(DecodeError {
            problem: "`null` is no object".to_owned(),
            ..explained(json)
        }),
        Err(error) => Err(DecodeError {
            kind: kind.name().into(),
            ..explain::<T>(json, &error)
        }),
    }
}

fn explain<'a, T: Deserialize<'a>>(json: &'a [u8], error: &serde_json::Error) -> DecodeError {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let field = match serde_path_to_error::deserialize::<_, Object<T>>(&mut reader) {
        Err(error) if error.inner().is_data() => error.path().to_string(),
        _ => String::new(),
    };
    let text = error.to_string();
    let problem = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(problem, _)| problem);
    DecodeError {
        field: if field == "." { String::new() } else { field },
        problem: problem.to_owned(),
        offset: Some(offset(json, error)),
        ..explained(json)
    }
}

/// An error that knows which object it is about, as far as that can be read.
pub(crate) fn explained(json: &[u8]) -> DecodeError {
    let object: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let text = |path: &str| {
        object
            .pointer(path)
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
            .into()
    };
    let kind: Box<str> = text("/kind");
    DecodeError {
        kind: if kind.is_empty() { "object".into() } else { kind },
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
        field: String::new(),
        problem: String::new(),
        offset: None,
    }
}

/// Where reading stopped, in bytes.
pub(crate) fn offset(json: &[u8], error: &serde_json::Error) -> usize {
    let breaks = json
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1);
    let line_start = std::iter::once(0)
        .chain(breaks)
        .nth(error.line().saturating_sub(1))
        .unwrap_or(0);
    (line_start + error.column()).min(json.len())
}
