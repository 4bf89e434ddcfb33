//! Turns node samples into interference levels and reports: ingest, window, detect, level, report.
//!
//! The arithmetic (`metric`, `detect`, `level`) imports nothing but std and the plain values of the rules. Everything
//! about Kubernetes is in `kubernetes`, behind the feature of that name.

pub mod analyzer;
pub mod config;
pub mod conformance;
pub mod convert;
pub mod detect;
pub mod health;
pub mod http;
pub mod ingest;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
pub mod level;
pub mod metric;
pub mod metrics;
pub mod nodes;
pub mod report;
pub mod rules;
#[cfg(feature = "kubernetes")]
pub mod settings;
pub mod sink;
pub mod time;
pub mod window;

pub use analyzer::Analyzer;
pub use config::{AnalyzerError, Config};
pub use rules::{Rules, RulesUpdate, RulesVerdict};
pub use sink::{MemorySink, ReportSink, SinkError};
/// Ends what it is given to; cancel it to shut an analyzer down.
pub use tokio_util::sync::CancellationToken;
