//! A watch that goes on whatever happens, and says each kind of trouble once.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use kube::runtime::watcher;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tracing::{info, warn};

/// The server ends a watch after so many seconds; a half-open one is noticed 5 s later, well within a minute.
const WATCH_SECONDS: u32 = 50;
/// The pause after the first failure, and the longest: what was missing at start is found within that time.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
/// A watch that brings nothing is known to work again when nothing failed for so long. Longer than it takes to notice
/// that nobody answers.
const QUIET: Duration = Duration::from_secs(60);

/// A watch on all objects of a kind, or those that some fields select.
pub(super) struct Follow<K> {
    events: Pin<Box<dyn Stream<Item = watcher::Result<watcher::Event<K>>> + Send>>,
    resource: &'static str,
    trouble: Trouble,
    /// What to wait before the next attempt; nothing unless the last one failed.
    pause: Option<Duration>,
    longest_pause: Duration,
}

impl<K> Follow<K>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    /// `what` is how the log calls it, for example `the nodes`; `resource` how the API server does.
    pub(super) fn new(
        what: &'static str,
        resource: &'static str,
        api: Api<K>,
        config: watcher::Config,
    ) -> Self {
        Self {
            events: watcher(api, config.timeout(WATCH_SECONDS)).boxed(),
            resource,
            trouble: Trouble::new(what, "be watched"),
            pause: None,
            longest_pause: PAUSE.0,
        }
    }

    /// What happens next. Failures are told and waited out; they are returned so that the caller can draw conclusions.
    pub(super) async fn next(&mut self) -> Option<watcher::Result<watcher::Event<K>>> {
        loop {
            if let Some(pause) = self.pause.take() {
                tokio::time::sleep(pause).await;
            }
            match tokio::time::timeout(QUIET, self.events.next()).await {
                Err(_) => self.works(),
                Ok(Some(Err(error))) => {
                    self.fails(&error);
                    return Some(Err(error));
                }
                // Comes before the server is asked, so it tells nothing of whether that works.
                Ok(Some(Ok(watcher::Event::Init))) => return Some(Ok(watcher::Event::Init)),
                Ok(other) => {
                    self.works();
                    return other;
                }
            }
        }
    }

    fn works(&mut self) {
        self.trouble.over();
        self.longest_pause = PAUSE.0;
    }

    fn fails(&mut self, error: &watcher::Error) {
        let (failure, text) = match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => (Failure::of(error), told(error, self.resource)),
            // The server has forgotten where we were, as after it was started again: the next attempt lists anew.
            watcher::Error::WatchError(status) if status.code == 410 => {
                self.pause = Some(PAUSE.0);
                return;
            }
            watcher::Error::WatchError(status) => (Failure::Refused(status.code), status.message.clone()),
            watcher::Error::NoResourceVersion => (Failure::Unanswered, error.to_string()),
        };
        self.trouble.met(failure, &text);
        self.pause = Some(self.longest_pause);
        self.longest_pause = (self.longest_pause * 2).min(PAUSE.1);
    }
}

/// Why a list was refused until somebody changes something: the definition is not installed, or the right to read is
/// missing.
pub(super) fn refusal(error: &watcher::Error) -> Option<&kube::core::Status> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => {
            Some(status)
        }
        _ => None,
    }
}

/// Says once that something fails and why, and once that it works again.
pub(super) struct Trouble {
    what: &'static str,
    /// What it cannot, as in `be watched`.
    done: &'static str,
    /// The kinds of failure that were told since it worked last.
    told: Vec<Failure>,
}

/// What tells one reason to fail from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The server answered with this code.
    Refused(u16),
    /// There was no answer.
    Unanswered,
}

impl Trouble {
    pub(super) fn new(what: &'static str, done: &'static str) -> Self {
        Self {
            what,
            done,
            told: Vec::new(),
        }
    }

    pub(super) fn met(&mut self, failure: Failure, error: &str) {
        if !self.told.contains(&failure) {
            self.told.push(failure);
            warn!("{} cannot {}, trying again: {error}", self.what, self.done);
        }
    }

    pub(super) fn over(&mut self) {
        if !std::mem::take(&mut self.told).is_empty() {
            info!("{} can {} again", self.what, self.done);
        }
    }
}

impl Failure {
    pub(super) fn of(error: &kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status.code),
            _ => Self::Unanswered,
        }
    }
}

/// The error as a person wants it: what the server said, or all causes.
pub(super) fn told(error: &kube::Error, resource: &str) -> String {
    match error {
        // A server that does not know a resource answers with a bare page.
        kube::Error::Api(status) if status.code == 404 => {
            format!(
                "{} (404); is the definition of {resource} installed?",
                status.message.trim_end()
            )
        }
        kube::Error::Api(status) => format!("{} ({})", status.message, status.code),
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(error) = cause {
                // Some texts already hold that of their cause.
                let more = error.to_string();
                if !text.contains(&more) {
                    text = format!("{text}: {more}");
                }
                cause = error.source();
            }
            text
        }
    }
}
