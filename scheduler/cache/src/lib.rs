//! The only door to the API server. What it knows comes in as events, one [`Delta`] at a time; what the scheduler wants of
//! it goes out as [`Command`]s. What became of a command comes back as an event too.

pub mod client;
pub mod command;
pub mod delta;
pub mod door;
pub mod lease;
mod raw;
pub mod store;
pub mod write;

pub use command::{About, Command, GroupRef, PodRef};
pub use delta::Delta;
