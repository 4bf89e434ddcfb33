//! Where reports go. The Kubernetes sink is in `kubernetes`, behind its feature.

use std::pin::Pin;
use std::sync::Arc;

use mco_crds::NodeInterferenceReportStatus;
use thiserror::Error;
use tokio::sync::watch;

/// A report that could not be delivered.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// The answer of a sink, later.
pub type SinkFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send + 'a>>;

/// Takes reports. Never asked again before it answered, nor more often than once per report interval.
pub trait ReportSink: Send + Sync + 'static {
    /// Delivers a report.
    fn write(&self, report: Arc<NodeInterferenceReportStatus>) -> SinkFuture<'_>;
}

/// Keeps the last report in this process, for those who subscribe.
#[derive(Debug)]
pub struct MemorySink {
    last: watch::Sender<Arc<NodeInterferenceReportStatus>>,
}

impl MemorySink {
    /// A sink that holds an empty report.
    pub fn new() -> Self {
        Self {
            last: watch::Sender::new(Arc::default()),
        }
    }

    /// The last report, now and whenever it changes.
    pub fn subscribe(&self) -> watch::Receiver<Arc<NodeInterferenceReportStatus>> {
        self.last.subscribe()
    }
}

impl Default for MemorySink {
    fn default() -> Self {
        Self::new()
    }
}

impl ReportSink for MemorySink {
    fn write(&self, report: Arc<NodeInterferenceReportStatus>) -> SinkFuture<'_> {
        self.last.send_replace(report);
        Box::pin(std::future::ready(Ok(())))
    }
}
