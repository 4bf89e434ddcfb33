//! A watcher per kind: from what the API server has to [`Delta`]s, in the order in which it tells of each kind.
//!
//! Lists come as streams where the server gives them so, else in pages; a list is always as new as the server knows. A watch
//! lasts 50 seconds and is given up 5 seconds later, so that one on a dead connection is noticed within a minute.

mod board;
mod call;
mod follow;
mod pause;
mod report;
mod resource;
mod settings;
mod track;

use std::sync::Arc;

use kube::Client;
use mco_model::spec::Text;
use mco_objects::Kind;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use board::{KindStatus, State, Status};
pub use settings::{NodeSelector, WatchSettings};

use crate::delta::Delta;
use crate::store::Store;
use board::Board;
use follow::Follower;
use track::Track;

/// All watches. They end when this is dropped.
pub struct Watches {
    board: Arc<Board>,
    report_name: watch::Sender<Text>,
    stop: CancellationToken,
}

impl Watches {
    /// Starts them on the current runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        client: &Client,
        settings: &WatchSettings,
        store: &Arc<Store>,
        deltas: &UnboundedSender<Delta>,
    ) -> Self {
        let resources: Vec<_> = resource::ALL
            .into_iter()
            .filter(|resource| settings.priority_classes || resource.kind != Kind::PriorityClass)
            .collect();
        let board = Arc::new(Board::new(&resources));
        let (report_name, names) = watch::channel(settings.options.report_name.clone());
        let stop = CancellationToken::new();
        for resource in resources {
            let track = Track::new(
                resource.kind,
                settings.options.clone(),
                settings.node_selector.clone(),
                Arc::clone(store),
            );
            let follower = Follower {
                client: client.clone(),
                resource,
                track,
                deltas: deltas.clone(),
                board: Arc::clone(&board),
                absent_retry: settings.absent_retry,
                report_name: names.clone(),
            };
            tokio::spawn(follower.run(stop.clone()));
        }
        Self {
            board,
            report_name,
            stop,
        }
    }

    /// From now on this interference report counts. The one before is told as removed.
    pub fn set_report_name(&self, name: &str) {
        self.report_name.send_if_modified(|known| {
            let differs = &**known != name;
            if differs {
                *known = name.into();
            }
            differs
        });
    }

    /// How they are doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.board.status()
    }

    /// Ends them.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
