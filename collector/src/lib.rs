//! Senses interference on one node and streams it to the analyzer.
//!
//! [`collector::Collector`] reads all sources into one sample; [`daemon`] does so once an interval, sends the samples
//! to the analyzer and shows them on `/metrics`. Every source is optional and says why when it is absent; absent is
//! never 0.

pub mod availability;
pub mod collector;
pub mod config;
pub mod daemon;
pub mod metrics;
pub mod source;
pub mod stream;

mod http;
mod spool;

pub use collector::Collector;
pub use config::{Config, Flags};
pub use daemon::{Daemon, run};
