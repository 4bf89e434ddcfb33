//! A real API server for tests: kube-apiserver with etcd, roles and audit log, and our binaries run against it.
//!
//! A test takes [`Cluster::shared`], creates objects, starts a [`Scheduler`] and looks at placements and at the calls
//! it made. Faults between the two come from [`proxy`].

pub mod audit;
pub mod cluster;
pub mod kinds;
pub mod objects;
pub mod pki;
pub mod process;
pub mod server;
pub mod tools;
pub mod users;
pub mod wait;

pub use audit::{Call, Detail, Mark};
pub use cluster::Cluster;
pub use objects::{Object, gang, node, pod, pod_group, priority_class, queue};
pub use process::Process;
pub use server::Server;
