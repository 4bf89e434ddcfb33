//! The collector to analyzer stream as the wire carries it: generated types, client and server, and the one layout
//! of latency histograms that both ends agree on.

pub mod latency;

/// Messages, client and server generated from `proto/analyzer/v1/analyzer.proto`, which documents every field.
#[allow(
    missing_docs,
    clippy::all,
    reason = "generated code; the proto file carries the documentation"
)]
pub mod v1 {
    tonic::include_proto!("analyzer.v1");
}

/// A point in wall-clock time, re-exported so that users need no direct dependency on prost.
pub use prost_types::Timestamp;

/// The largest message either side accepts, in bytes. A sample is about 300 bytes, a full histogram about 2 KiB.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;
