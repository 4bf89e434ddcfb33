//! The binder that decides nothing. It is a process of its own, so that its cost can be measured like the scheduler's.

use anyhow::Context;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::path::Path;

/// Binds what the file `list` says, a line per pod: namespace, pod, UID, node.
pub(crate) async fn bind(kubeconfig: &Path, list: &Path, concurrency: usize) -> anyhow::Result<()> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    let client = Client::try_from(config)?;
    let text = std::fs::read_to_string(list)?;
    stream::iter(text.lines().map(|line| bind_one(client.clone(), line)))
        .buffer_unordered(concurrency)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(())
}

async fn bind_one(client: Client, line: &str) -> anyhow::Result<()> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [namespace, pod, uid, node] = fields[..] else {
        anyhow::bail!("not a line of the list: {line}");
    };
    let body = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": namespace, "name": pod, "uid": uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    });
    let request = http::Request::post(format!("/api/v1/namespaces/{namespace}/pods/{pod}/binding"))
        .header("content-type", "application/json")
        .body(serde_json::to_vec(&body)?)?;
    client
        .request::<Value>(request)
        .await
        .with_context(|| format!("cannot bind {namespace}/{pod}"))?;
    Ok(())
}
