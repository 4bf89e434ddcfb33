//! The only door to the API server. What it knows comes in as events, one [`Delta`] at a time; what the scheduler wants of
//! it goes out as [`Command`]s. What became of a command comes back as an event too.

pub mod client;
pub mod command;
pub mod delta;
pub mod door;
pub mod lease;
mod raw;
pub mod store;
pub mod watch;
pub mod write;

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub use command::{About, Command, GroupRef, PodRef};
pub use delta::Delta;

use door::Door;
use store::Store;
use watch::{Status, WatchSettings, Watches};
use write::{Counters, WriteSettings, Writer};

/// Directives for a log filter: what these say, this crate says once and in its own words.
pub const LOG_DIRECTIVES: &str =
    "kube_client=off,kube_runtime=off,hyper=warn,hyper_util=warn,rustls=warn,tower=warn";

/// Watches, writes and what they share. To be driven from any thread. Clones are the same cache; watches end with the last.
#[derive(Clone)]
pub struct Cache {
    handle: Handle,
    store: Arc<Store>,
    watches: Arc<Watches>,
    writer: Writer,
}

impl Cache {
    /// Starts to watch and to write on the current runtime. Everything that becomes known comes out of the receiver, the events
    /// of each kind in the order in which the API server tells them.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        client: Client,
        watch: &WatchSettings,
        write: WriteSettings,
    ) -> (Self, UnboundedReceiver<Delta>) {
        let (deltas, receiver) = unbounded_channel();
        let store = Arc::new(Store::default());
        let watches = Arc::new(Watches::start(&client, watch, &store, &deltas));
        let writer = Writer::start(Door::new(client), Arc::clone(&store), deltas, write);
        let cache = Self {
            handle: Handle::current(),
            store,
            watches,
            writer,
        };
        (cache, receiver)
    }

    /// Takes a command on. Never waits.
    pub fn send(&self, command: Command) {
        let _within = self.handle.enter();
        self.writer.send(command);
    }

    /// From now on the interference report of this name counts.
    pub fn set_report_name(&self, name: &str) {
        self.watches.set_report_name(name);
    }

    /// How the watches are doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.watches.status()
    }

    /// What was written so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.writer.counters()
    }

    /// Objects as last seen, for whole-object writes.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Ends the watches, starts no bind any more, and waits for those under way, at most so long. Returns whether all ended.
    pub async fn shutdown(&self, patience: Duration) -> bool {
        self.watches.stop();
        self.writer.drain(patience).await
    }
}
