//! The configuration file: read at the start, and again whenever its folder changes. A ConfigMap's volume changes by a swap of
//! a link beside the file, so the folder is watched and the content compared.

use mco_framework::conf::{Change, ConfStore, SchedulerConf};
use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Changes of a swap come in a burst.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Where the system tells of no changes, looking finds them.
const POLL: Duration = Duration::from_secs(30);

/// What became of a content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reload {
    /// It is in force.
    Loaded,
    /// It is not, and the one before stays.
    Refused(String),
}

/// Reads the file.
pub struct ConfKeeper {
    path: Option<PathBuf>,
    store: ConfStore,
    active: watch::Sender<Arc<SchedulerConf>>,
    unreadable: Option<String>,
}

impl ConfKeeper {
    /// Without a path, the built-in configuration is in force for good.
    #[must_use]
    pub fn new(path: Option<PathBuf>) -> Self {
        let store = ConfStore::default();
        Self {
            path,
            active: watch::Sender::new(store.active()),
            store,
            unreadable: None,
        }
    }

    /// The configuration in force, whenever it changes.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<SchedulerConf>> {
        self.active.subscribe()
    }

    /// Looks at the file. `None` when it says what it said before.
    pub fn look(&mut self) -> Option<Reload> {
        let path = self.path.as_deref()?;
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) => {
                let trouble = format!("{} cannot be read: {error}", path.display());
                if self.unreadable.as_ref() == Some(&trouble) {
                    return None;
                }
                self.unreadable = Some(trouble.clone());
                return Some(Reload::Refused(trouble));
            }
        };
        let was_unreadable = self.unreadable.take().is_some();
        match self.store.load(&text) {
            Ok(Change::Replaced) => {
                self.active.send_replace(self.store.active());
                Some(Reload::Loaded)
            }
            Ok(Change::Unchanged) => was_unreadable.then_some(Reload::Loaded),
            Ok(Change::StillRefused) => None,
            Err(error) => Some(Reload::Refused(format!("{}: {error}", path.display()))),
        }
    }

    /// Looks whenever something changes beside the file, and tells what became of it, until stopped.
    pub async fn watch(mut self, mut told: impl FnMut(&Reload), stop: CancellationToken) {
        let Some(path) = self.path.clone() else {
            stop.cancelled().await;
            return;
        };
        let (changes, mut changed) = mpsc::channel(1);
        let _watcher = start_watcher(&path, changes);
        let mut watching = true;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                change = changed.recv(), if watching => match change {
                    None => watching = false,
                    Some(()) => {
                        tokio::time::sleep(DEBOUNCE).await;
                        while changed.try_recv().is_ok() {}
                    }
                },
                () = tokio::time::sleep(POLL) => {}
            }
            if let Some(reload) = self.look() {
                told(&reload);
            }
        }
    }
}

/// Logs what became of the file.
pub fn log(reload: &Reload, first: bool) {
    match reload {
        Reload::Loaded if first => info!("the configuration is read"),
        Reload::Loaded => info!("the configuration changed; the next cycle goes by it"),
        Reload::Refused(why) if first => {
            warn!("the configuration is not taken, the built-in one is in force: {why}");
        }
        Reload::Refused(why) => warn!("the configuration is not taken, the one before stays in force: {why}"),
    }
}

/// Without a watcher the file is still looked at now and then.
fn start_watcher(path: &Path, changes: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let tell = move |event: notify::Result<notify::Event>| {
        // Reading the file is an access too, and must not lead to reading it again.
        if !event.is_ok_and(|event| event.kind.is_access()) {
            let _ = changes.try_send(());
        }
    };
    let watcher = notify::recommended_watcher(tell).and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    match watcher {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            let seconds = POLL.as_secs();
            warn!(
                "{} cannot be watched, so it is looked at every {seconds} s: {error}",
                folder.display()
            );
            None
        }
    }
}

#[cfg(test)]
mod tests;
