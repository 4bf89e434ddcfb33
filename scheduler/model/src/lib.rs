//! What a cluster is: events in, live columns, ids, resources.

pub mod event;
pub mod interference;
pub mod quantity;
pub mod resource;
pub mod spec;
pub mod time;
