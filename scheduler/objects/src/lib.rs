//! Kubernetes objects to scheduler events; no client.
//!
//! Objects come as JSON or as manifests, see [`read_objects`], [`decode`] and [`decode_as`]. Only the fields that the
//! scheduler reads are looked at; a wrong type there is a [`DecodeError`] that names the object and the field, anything
//! else in an object may be what it likes.

mod affinity;
mod annotation;
mod cards;
mod decode;
mod field;
mod group;
mod limits;
mod meta;
mod node;
mod numa;
mod pod;
mod problem;
mod quality;
mod reader;
mod report;
mod requests;
mod small;
pub mod yaml;

pub use decode::{DecodeError, Decoded, Kind, Options, decode, decode_as, removal};
pub use reader::{ObjectError, ReadObjects, read_objects};
pub use requests::{Request, request_of_pod};
