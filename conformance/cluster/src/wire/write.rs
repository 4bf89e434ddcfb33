//! A writing call in the form that the recording has it, and the recording itself.

use crate::audit::Call;
use crate::objects::Object;
use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A writing call.
#[derive(Clone, Debug, Deserialize)]
pub struct Write {
    /// `create`, `update`, `patch` or `delete`.
    pub verb: String,
    /// Plural of the kind, with its group except for core.
    pub resource: String,
    /// Empty for the object itself.
    #[serde(default)]
    pub subresource: String,
    /// Empty for events.
    #[serde(default)]
    pub name: String,
    /// The answer's HTTP code.
    pub code: u16,
    /// What was sent. Events are reduced to type, reason, message, count, what they are about and who says so.
    #[serde(default)]
    pub body: Value,
}

/// Objects that come to a cluster, and what was written because of them.
#[derive(Debug, Deserialize)]
pub struct Scenario {
    /// `default`: the stock chart's conf; `ci`: the same with sla, reclaim and preempt.
    pub conf: String,
    /// In the order in which they are created.
    #[serde(default)]
    pub objects: Vec<Value>,
    /// What Volcano wrote. Absent from our own copy.
    #[serde(default)]
    pub calls: Vec<Write>,
    /// What is expected of us. Absent from the recording.
    #[serde(default)]
    pub lines: Vec<String>,
    /// Whether bound pods are set Running in its course. In our own copy alone.
    #[serde(default)]
    pub pods_run: bool,
}

/// Scenarios and the cluster they are played on.
#[derive(Debug, Deserialize)]
pub struct Scenarios {
    /// Its nodes.
    pub nodes: Vec<Value>,
    /// Its priority classes.
    #[serde(rename = "priorityClasses")]
    pub priority_classes: BTreeMap<String, i32>,
    /// By name.
    pub scenarios: BTreeMap<String, Scenario>,
}

impl Scenarios {
    /// Reads a file of them.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    }
}

impl Scenario {
    /// Its objects.
    pub fn objects(&self) -> Vec<Object> {
        self.objects.iter().cloned().map(Object).collect()
    }

    /// The PodGroup that a pod of this scenario names, or the pod itself.
    pub(super) fn group_of(&self, pod: &str) -> String {
        let named = self.pods().find(|object| object["metadata"]["name"] == pod);
        let group = named
            .and_then(|object| object["metadata"]["annotations"]["scheduling.k8s.io/group-name"].as_str());
        group.unwrap_or(pod).to_owned()
    }

    /// How many pods it creates.
    pub(super) fn pod_count(&self) -> usize {
        self.pods().count()
    }

    fn pods(&self) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(|object| object["kind"] == "Pod")
    }
}

impl From<&Call> for Write {
    fn from(call: &Call) -> Self {
        let resource = if call.group.is_empty() {
            call.resource.clone()
        } else {
            format!("{}/{}", call.group, call.resource)
        };
        let is_event = call.resource == "events";
        Self {
            verb: call.verb.clone(),
            resource,
            subresource: call.subresource.clone(),
            name: if is_event {
                String::new()
            } else {
                call.name.clone()
            },
            code: call.code,
            body: if is_event {
                event(&call.body)
            } else {
                call.body.clone()
            },
        }
    }
}

/// An event's body as the recording reduces it.
fn event(body: &Value) -> Value {
    let about = &body["involvedObject"];
    let text = |value: &Value| value.as_str().unwrap_or("None").to_owned();
    json!({
        "type": body["type"],
        "reason": body["reason"],
        "message": body["message"],
        "count": body["count"],
        "about": format!("{}/{}", text(&about["kind"]), text(&about["name"])),
        "source": {"component": body["source"]["component"]},
    })
}
