//! Writes the report to the API server: created when missing, its status replaced at the version last seen.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::api::{GetParams, PostParams};
use kube::core::Request;
use mco_crds::{NodeInterferenceReport, NodeInterferenceReportStatus, ObjectMeta, report as crd};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::follow::told;
use crate::report::fit;
use crate::sink::{ReportSink, SinkError, SinkFuture};

/// How the API server calls reports.
const RESOURCE: &str = "nodeinterferencereports.mco.many-core.io";
/// A write that takes longer than this failed; whether it arrived shows at the next one.
const DEADLINE: Duration = Duration::from_secs(10);
/// etcd refuses objects of 1.5 MiB; the rest is for what is not an entry.
const LARGEST_ENTRIES: usize = 1_350_000;

/// Writes reports to one NodeInterferenceReport.
pub struct KubernetesSink {
    client: Client,
    name: String,
    /// What is known of the object; `None` before the first look and after a conflict.
    seen: Mutex<Option<ObjectMeta>>,
}

impl KubernetesSink {
    /// A sink for the report of this name.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self {
            client,
            name: name.into(),
            seen: Mutex::new(None),
        }
    }

    async fn put(&self, status: NodeInterferenceReportStatus) -> Result<(), kube::Error> {
        let mut seen = self.seen.lock().await;
        let first = match seen.take() {
            Some(metadata) => metadata,
            None => self.look().await?,
        };
        let answer = match self.replace(first, &status).await {
            // Somebody else wrote, or removed the object: look again, once.
            Err(kube::Error::Api(error)) if matches!(error.code, 404 | 409) => {
                self.replace(self.look().await?, &status).await
            }
            other => other,
        };
        *seen = Some(answer?);
        Ok(())
    }

    /// The object as it is, created when missing.
    async fn look(&self) -> Result<ObjectMeta, kube::Error> {
        let get = requests()
            .get(&self.name, &GetParams::default())
            .map_err(kube::Error::BuildRequest)?;
        match self.client.request::<Seen>(get).await {
            Err(kube::Error::Api(error)) if error.code == 404 => {}
            other => return other.map(|seen| seen.metadata),
        }
        let mut object = NodeInterferenceReport::new(&self.name, NodeInterferenceReportStatus::default());
        object.status = None;
        let body = serde_json::to_vec(&object).map_err(kube::Error::SerdeError)?;
        let create = requests()
            .create(&PostParams::default(), body)
            .map_err(kube::Error::BuildRequest)?;
        self.client
            .request::<Seen>(create)
            .await
            .map(|seen| seen.metadata)
    }

    async fn replace(
        &self,
        metadata: ObjectMeta,
        status: &NodeInterferenceReportStatus,
    ) -> Result<ObjectMeta, kube::Error> {
        let mut object = NodeInterferenceReport::new(&self.name, status.clone());
        if let Some(status) = &mut object.status {
            status.observed_generation = metadata.generation;
        }
        object.metadata.resource_version = metadata.resource_version;
        let body = serde_json::to_vec(&object).map_err(kube::Error::SerdeError)?;
        let put = requests()
            .replace_subresource("status", &self.name, &PostParams::default(), body)
            .map_err(kube::Error::BuildRequest)?;
        self.client.request::<Seen>(put).await.map(|seen| seen.metadata)
    }
}

impl ReportSink for KubernetesSink {
    fn write(&self, report: Arc<NodeInterferenceReportStatus>) -> SinkFuture<'_> {
        Box::pin(async move {
            let status = fit(Arc::unwrap_or_clone(report), LARGEST_ENTRIES);
            match tokio::time::timeout(DEADLINE, self.put(status)).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(error)) => Err(SinkError(format!(
                    "NodeInterferenceReport/{}: {}",
                    self.name,
                    remedy(&error)
                ))),
                Err(_) => {
                    let seconds = DEADLINE.as_secs();
                    Err(SinkError(format!(
                        "NodeInterferenceReport/{}: no answer in {seconds} s",
                        self.name
                    )))
                }
            }
        })
    }
}

/// What is read of an answer: the entries come back as they were sent and are not decoded.
#[derive(Deserialize)]
struct Seen {
    metadata: ObjectMeta,
}

fn requests() -> Request {
    Request::new(format!(
        "/apis/{}/{}/{}",
        mco_crds::GROUP,
        mco_crds::VERSION,
        crd::PLURAL
    ))
}

/// The error with its likely remedy.
fn remedy(error: &kube::Error) -> String {
    let hint = match error {
        kube::Error::Api(status) if status.code == 403 => {
            "; grant get and create on nodeinterferencereports, update on nodeinterferencereports/status"
        }
        _ => "",
    };
    format!("{}{hint}", told(error, RESOURCE))
}
