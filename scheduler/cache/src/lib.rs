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

pub use command::{About, Command, GroupRef, PodRef};
pub use delta::Delta;

use door::Door;
use kube::Client;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;
use watch::{Standing, WatchSettings, Watches};
use write::{Counters, WriteSettings, Writer};

/// Watches and writers of one API server. Clones share them.
#[derive(Clone)]
pub struct Cache {
    writer: Writer,
    standing: Standing,
    report_name: tokio::sync::watch::Sender<String>,
    runtime: tokio::runtime::Handle,
    stop: CancellationToken,
}

impl Cache {
    /// Starts watches and writers on the current runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        client: Client,
        watch_settings: WatchSettings,
        write_settings: WriteSettings,
    ) -> (Self, UnboundedReceiver<Delta>) {
        let (deltas, incoming) = unbounded_channel();
        let store = Arc::new(Store::default());
        let stop = CancellationToken::new();
        let standing = Standing::default();
        let (report_name, name) = tokio::sync::watch::channel(watch_settings.options.report_name.to_string());
        let writer = Writer::start(
            Door::new(client.clone()),
            Arc::clone(&store),
            deltas.clone(),
            write_settings,
        );
        let watches = Watches {
            client,
            settings: watch_settings,
            store,
            deltas,
            standing: standing.clone(),
            stop: stop.clone(),
        };
        watch::start(watches, name);
        let cache = Self {
            writer,
            standing,
            report_name,
            runtime: tokio::runtime::Handle::current(),
            stop,
        };
        (cache, incoming)
    }

    /// Takes a command on, from any thread. Never waits.
    pub fn send(&self, command: Command) {
        let _runtime = self.runtime.enter();
        self.writer.send(command);
    }

    /// Follows the report of this name from now on.
    pub fn set_report_name(&self, name: &str) {
        self.report_name.send_if_modified(|known| {
            let changed = known != name;
            if changed {
                name.clone_into(known);
            }
            changed
        });
    }

    /// How the watches stand.
    #[must_use]
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// What was written so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.writer.counters()
    }

    /// Ends the watches, starts no write any more and waits for those under way. Returns whether all ended in time.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.stop.cancel();
        self.writer.drain(patience).await
    }
}
