//! The custom resources of this project and of Volcano, as plain types.
//!
//! Nothing here knows a Kubernetes client: the scheduler side reads these types from any JSON value, and reads a
//! report tolerantly, so that one broken entry costs one node its data and nobody else's.

mod absent;
pub mod decode;
pub mod meta;
pub mod quantity;
pub mod report;
pub mod rules;
pub mod volcano;

pub use decode::{DecodedReport, EntryError, decode_report};
pub use meta::{Condition, ObjectMeta};
pub use report::{
    Availability, Detection, Dimensions, Metrics, NodeEntry, NodeInterferenceReport,
    NodeInterferenceReportSpec, NodeInterferenceReportStatus, NodeStatus, Summary,
};
pub use rules::{DetectionRuleConfig, DetectionRuleConfigSpec, DetectionRuleConfigStatus};

/// The API group of this project's resources.
pub const GROUP: &str = "mco.many-core.io";
/// The only version served.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as objects carry them in `apiVersion`.
pub const API_VERSION: &str = "mco.many-core.io/v1alpha1";
/// The name of the one report and of the one rule object.
pub const SINGLETON: &str = "cluster";
/// The namespace of the rule object.
pub const RULES_NAMESPACE: &str = "mco-system";
