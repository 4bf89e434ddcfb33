//! Emptying a cluster between tests.

use crate::cluster::{AT_ONCE, Cluster, NAMESPACES, must};
use crate::kinds::{self, Kind};
use futures_util::{StreamExt as _, stream};
use kube::api::ListParams;
use serde_json::{Value, json};

impl Cluster<'_> {
    /// Deletes all that tests create. CRDs, roles and what the API server makes itself stay.
    ///
    /// # Panics
    /// When something stays that should not.
    pub async fn reset(&self) {
        for kind in kinds::ALL {
            let objects = match kind
                .api(&self.client, "")
                .list_metadata(&ListParams::default())
                .await
            {
                Ok(list) => list.items,
                // The kind is not served: its CRD is not installed.
                Err(kube::Error::Api(status)) if status.code == 404 => continue,
                Err(error) => panic!("cannot list {}: {error}", kind.plural),
            };
            let mut doomed = Vec::new();
            for object in objects {
                let namespace = object.metadata.namespace.unwrap_or_default();
                let name = object.metadata.name.unwrap_or_default();
                if stays(*kind, &namespace, &name) {
                    continue;
                }
                // Whoever would take them off is not here.
                if object.metadata.finalizers.is_some() {
                    let none = json!({"metadata": {"finalizers": null}});
                    self.patch(*kind, &namespace, &name, none).await;
                }
                doomed.push((namespace, name));
            }
            stream::iter(&doomed)
                .for_each_concurrent(AT_ONCE, |(namespace, name)| self.delete(*kind, namespace, name))
                .await;
            if kind.kind == kinds::NAMESPACE.kind {
                for (_, name) in &doomed {
                    must(name, self.finalize(name).await);
                }
            }
        }
    }

    /// Ends a deleted namespace, which is a controller's work otherwise.
    async fn finalize(&self, name: &str) -> anyhow::Result<()> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name},
            "spec": {"finalizers": []},
        });
        let path = format!("/api/v1/namespaces/{name}/finalize");
        let request = http::Request::put(path)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&body)?)?;
        match self.client.request::<Value>(request).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            result => Ok(result.map(drop)?),
        }
    }
}

/// What a reset leaves alone.
fn stays(kind: Kind, namespace: &str, name: &str) -> bool {
    let of_the_server =
        namespace.starts_with("kube-") || name.starts_with("kube-") || name.starts_with("system");
    let needed = match kind.plural {
        "namespaces" => NAMESPACES.contains(&name) || name == "default",
        "customresourcedefinitions" => true,
        "clusterroles" | "clusterrolebindings" => {
            name.starts_with("volcano-")
                || name == "mco-analyzer"
                || !name.starts_with("mco-") && !name.starts_with("test-")
        }
        "roles" | "rolebindings" => namespace == "mco-system" && name == "mco-analyzer",
        _ => false,
    };
    of_the_server || needed
}
