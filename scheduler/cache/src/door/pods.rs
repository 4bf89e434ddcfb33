//! Calls on pods.

use super::{Answer, Door};
use crate::command::PodRef;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

/// A pod as an answer shows it, as far as writes look at it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodSeen {
    /// `metadata`.
    pub metadata: SeenMetadata,
    /// `spec`.
    pub spec: SeenSpec,
}

/// `metadata` of a pod that was looked up.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SeenMetadata {
    /// UID.
    pub uid: String,
    /// Set when the pod is being deleted.
    pub deletion_timestamp: Option<String>,
}

/// `spec` of a pod that was looked up.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SeenSpec {
    /// The node; empty when unbound.
    pub node_name: String,
}

fn path(pod: &PodRef) -> String {
    format!("/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name)
}

impl Door {
    /// Binds the pod, with its annotations as Volcano does. The UID keeps another pod of the name safe.
    pub async fn bind(&self, pod: &PodRef, annotations: Option<&RawValue>, node: &str) -> Answer {
        #[derive(Serialize)]
        struct Binding<'a> {
            #[serde(rename = "apiVersion")]
            api_version: &'a str,
            kind: &'a str,
            metadata: Metadata<'a>,
            target: Target<'a>,
        }
        #[derive(Serialize)]
        struct Metadata<'a> {
            name: &'a str,
            namespace: &'a str,
            uid: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            annotations: Option<&'a RawValue>,
        }
        #[derive(Serialize)]
        struct Target<'a> {
            kind: &'a str,
            name: &'a str,
        }
        let binding = Binding {
            api_version: "v1",
            kind: "Binding",
            metadata: Metadata {
                name: &pod.name,
                namespace: &pod.namespace,
                uid: &pod.uid,
                annotations,
            },
            target: Target {
                kind: "Node",
                name: node,
            },
        };
        let body = serde_json::to_vec(&binding).unwrap_or_default();
        self.call(Method::POST, &format!("{}/binding", path(pod)), body)
            .await
    }

    /// The pod of that name as it is now, whatever its UID.
    pub async fn get_pod(&self, pod: &PodRef) -> Answer {
        self.call(Method::GET, &path(pod), Vec::new()).await
    }

    /// The node as it is now.
    pub async fn get_node(&self, name: &str) -> Answer {
        self.call(Method::GET, &format!("/api/v1/nodes/{name}"), Vec::new())
            .await
    }

    /// Replaces the pod's status: `metadata` as last seen, which carries UID and version, and the whole `status`.
    pub async fn put_pod_status(
        &self,
        pod: &PodRef,
        metadata: &RawValue,
        status: &serde_json::Value,
    ) -> Answer {
        let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status});
        let body = serde_json::to_vec(&body).unwrap_or_default();
        self.call(Method::PUT, &format!("{}/status", path(pod)), body)
            .await
    }

    /// Deletes the pod with its own grace period, unless another took its place.
    pub async fn delete_pod(&self, pod: &PodRef) -> Answer {
        let body = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": &*pod.uid},
        });
        self.call(Method::DELETE, &path(pod), body.to_string().into_bytes())
            .await
    }
}
