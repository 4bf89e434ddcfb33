//! The scheduler as it runs in a cluster: the one shell of the core that talks to an API server, by way of `mco-cache`.

pub mod conf_watch;
pub mod cycle;
pub mod dump;
pub mod flags;
pub mod health;
mod leader;
pub mod log;
pub mod log_socket;
pub mod metrics;
pub mod outbox;
pub mod pages;
#[cfg(test)]
mod picture;
pub mod process;
pub mod uuid;
mod zone;
