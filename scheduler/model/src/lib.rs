//! What a cluster is: events in, live columns, ids, resources.

pub mod resource;
