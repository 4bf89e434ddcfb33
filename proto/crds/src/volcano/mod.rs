//! Volcano's resources as release 1.9.0 serves them, for what creates such objects and for their definitions.
//!
//! The scheduler does not read objects through these types: it reads any JSON, field by field, and must keep what it
//! does not know.

mod numatopology;
mod podgroup;
mod queue;

pub use numatopology::{CpuPlace, NumaResource, Numatopology, NumatopologySpec};
pub use podgroup::{PodGroup, PodGroupCondition, PodGroupSpec, PodGroupStatus};
pub use queue::{
    Affinity, ExtendCluster, Guarantee, NodeGroupTerms, Queue, QueueSpec, QueueStatus, Reservation,
};

/// The API group of PodGroup and Queue.
pub const SCHEDULING_GROUP: &str = "scheduling.volcano.sh";
/// The one version of them that is served.
pub const SCHEDULING_VERSION: &str = "v1beta1";
/// Group and version of them, as objects carry them.
pub const SCHEDULING_API_VERSION: &str = "scheduling.volcano.sh/v1beta1";
/// The API group of Numatopology.
pub const NODEINFO_GROUP: &str = "nodeinfo.volcano.sh";
/// The one version of it that is served.
pub const NODEINFO_VERSION: &str = "v1alpha1";
/// Group and version of it, as objects carry them.
pub const NODEINFO_API_VERSION: &str = "nodeinfo.volcano.sh/v1alpha1";
