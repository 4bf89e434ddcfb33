//! A stand-in for all kubelets: bound pods run, and deleted ones go.

use crate::cluster::Cluster;
use crate::kinds;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinHandle;

const PERIOD: Duration = Duration::from_millis(150);

/// Works until it is dropped.
pub struct Kubelet {
    task: JoinHandle<()>,
}

impl Kubelet {
    /// Starts one for all nodes.
    pub fn start(cluster: &Cluster<'_>) -> Self {
        let client = cluster.client.clone();
        let task = tokio::spawn(async move {
            loop {
                // The API server may be away for a while; the next turn tries again.
                let _ = turn(&client).await;
                tokio::time::sleep(PERIOD).await;
            }
        });
        Self { task }
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sets the phase of all bound pods to Running, once.
///
/// # Errors
/// What the API server says against it.
pub async fn turn(client: &Client) -> kube::Result<()> {
    let pods: Api<Pod> = Api::all(client.clone());
    for pod in pods.list(&ListParams::default()).await?.items {
        let (Some(name), Some(namespace)) = (&pod.metadata.name, &pod.metadata.namespace) else {
            continue;
        };
        let is_bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let api = kinds::POD.api(client, namespace);
        let result = if pod.metadata.deletion_timestamp.is_some() {
            api.delete(name, &DeleteParams::default().grace_period(0))
                .await
                .map(drop)
        } else if is_bound && phase == Some("Pending") {
            let running = json!({"status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
            }});
            api.patch_status(name, &PatchParams::default(), &Patch::Strategic(running))
                .await
                .map(drop)
        } else {
            continue;
        };
        match result {
            Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => {}
            other => other?,
        }
    }
    Ok(())
}
