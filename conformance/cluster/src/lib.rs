//! A real API server for tests: kube-apiserver with etcd, roles and audit log, and our binaries run against it.
//!
//! A test takes [`Cluster::shared`], creates objects, starts a [`Scheduler`] and looks at placements and at the calls
//! it made. Faults between the two come from [`proxy`].

pub mod analyzer;
pub mod audit;
pub mod cluster;
pub mod collector;
pub mod kinds;
pub mod kubelet;
pub mod mounted;
pub mod objects;
pub mod pages;
pub mod pki;
pub mod process;
pub mod proxy;
mod reset;
pub mod scheduler;
pub mod server;
pub mod tools;
pub mod users;
pub mod wait;
pub mod wire;
pub mod yaml;

pub use analyzer::Analyzer;
pub use audit::{Call, Detail, Mark};
pub use cluster::Cluster;
pub use collector::{Collector, Load};
pub use kubelet::Kubelet;
pub use mounted::Mounted;
pub use objects::{Object, gang, node, pod, pod_group, priority_class, queue};
pub use process::Process;
pub use scheduler::{MCO_CONF, STOCK_CONF, Scheduler, Setup};
pub use server::Server;
