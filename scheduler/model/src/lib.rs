//! What a cluster is: events in, live columns, ids, resources, decisions out. No I/O, no clock, no randomness.

mod apply;
#[cfg(feature = "fixture")]
pub mod audit;
pub mod cluster;
pub mod columns;
pub mod cpus;
pub mod decision;
pub mod event;
pub mod extra;
pub mod ids;
pub mod interference;
pub mod job;
pub mod node;
pub mod quantity;
pub mod queue;
pub mod resource;
pub mod span;
pub mod spec;
pub mod status;
mod sum;
pub mod task;
pub mod time;

pub use cluster::Cluster;
pub use decision::Decision;
pub use event::Event;
pub use ids::{ClassId, Id, IdVec, JobId, NodeId, QueueId, TaskId};
