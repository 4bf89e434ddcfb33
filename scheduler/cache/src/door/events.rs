//! Calls on core/v1 events: the scheduler's role has no others.

use super::{Answer, Door};
use crate::command::About;
use http::Method;
use serde_json::{Value, json};

/// An event to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct EventBody {
    /// The object.
    pub about: About,
    /// `Warning`, otherwise `Normal`.
    pub warning: bool,
    /// Reason.
    pub reason: String,
    /// Message.
    pub message: String,
    /// `metadata.name`.
    pub name: String,
    /// Who says it.
    pub component: String,
    /// RFC 3339, whole seconds.
    pub at: String,
}

impl EventBody {
    fn namespace(&self) -> &str {
        match &self.about {
            About::Pod(pod) => &pod.namespace,
            About::PodGroup(group) => &group.namespace,
            About::Lease { namespace, .. } => namespace,
        }
    }

    fn involved(&self) -> Value {
        match &self.about {
            About::Pod(pod) => json!({
                "apiVersion": "v1", "kind": "Pod",
                "namespace": &*pod.namespace, "name": &*pod.name, "uid": &*pod.uid,
            }),
            About::PodGroup(group) => json!({
                "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                "namespace": &*group.namespace, "name": &*group.name, "uid": &*group.uid,
            }),
            About::Lease { namespace, name } => json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "namespace": &**namespace, "name": &**name,
            }),
        }
    }
}

fn path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/events")
}

impl Door {
    /// Creates the event, said once so far.
    pub async fn create_event(&self, event: &EventBody) -> Answer {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": event.name, "namespace": event.namespace()},
            "involvedObject": event.involved(),
            "type": if event.warning { "Warning" } else { "Normal" },
            "reason": event.reason,
            "message": event.message,
            "count": 1,
            "firstTimestamp": event.at,
            "lastTimestamp": event.at,
            "source": {"component": event.component},
            "reportingComponent": event.component,
        });
        self.call(
            Method::POST,
            &path(event.namespace()),
            body.to_string().into_bytes(),
        )
        .await
    }

    /// Says that the event happened again, `count` times by now.
    pub async fn count_event(&self, event: &EventBody, count: u32) -> Answer {
        let body = json!({"count": count, "lastTimestamp": event.at});
        let path = format!("{}/{}", path(event.namespace()), event.name);
        self.call_as(
            Method::PATCH,
            &path,
            "application/merge-patch+json",
            body.to_string().into_bytes(),
        )
        .await
    }
}
