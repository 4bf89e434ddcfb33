//! One kind: list it, watch it, and do so again after whatever happens.

use std::time::Duration;

use futures_util::Stream;
use kube::Client;
use kube::api::{ListParams, WatchParams};
use kube::core::{ObjectList, Request, WatchEvent};
use mco_model::Event;
use mco_model::spec::Text;
use mco_objects::Kind;
use serde_json::value::RawValue;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{mpsc::UnboundedSender, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::board::{Board, Failure};
use super::call::{
    ANSWER, End, GRACE, LIST_ANSWER, WATCH, asked_to_wait, causes, ended, is_too_much_asked, next, open,
    parameters, refusal,
};
use super::pause::Pause;
use super::resource::Resource;
use super::track::{Source, Track};
use crate::delta::Delta;

/// Objects a page, where lists are paged.
const PAGE: u32 = 500;
/// A watch that ends sooner, without having brought anything, did not work.
const AT_LEAST: Duration = Duration::from_secs(1);
/// A watch that goes on where another ended first brings what was missed, or that too much was. Only after so long is what is
/// known as new as the network makes it.
const CATCH_UP: Duration = Duration::from_secs(1);

/// Follows one kind.
pub(crate) struct Follower {
    pub(crate) client: Client,
    pub(crate) resource: Resource,
    pub(crate) track: Track,
    pub(crate) deltas: UnboundedSender<Delta>,
    pub(crate) board: Arc<Board>,
    pub(crate) absent_retry: Duration,
    /// Which report counts; other kinds do not look.
    pub(crate) report_name: watch::Receiver<Text>,
}

impl Follower {
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut report_name = self.report_name.clone();
        let is_report = self.resource.kind == Kind::NodeInterferenceReport;
        let mut state = Position {
            version: None,
            streams: true,
            worked: false,
        };
        let mut pause = Pause::new(self.resource.plural);
        let mut absences = 0_u32;
        loop {
            let name = report_name.borrow_and_update().clone();
            if is_report && self.track.rename_report(&name, &mut send(&self.deltas)) {
                state.version = None;
            }
            let end = tokio::select! {
                () = stop.cancelled() => return,
                Ok(()) = report_name.changed(), if is_report => continue,
                end = self.once(&mut state, &name) => end,
            };
            if std::mem::take(&mut state.worked) {
                pause.over();
                absences = 0;
            }
            let wait = match end {
                End::Unheard => return,
                End::Due => continue,
                End::Expired => {
                    debug!("{} are listed anew", self.resource.full_name());
                    self.track.is_current(false);
                    state.version = None;
                    // A server that knows no version at all would be asked without end.
                    pause.next()
                }
                End::NotStreamed => {
                    debug!("{} are listed in pages", self.resource.full_name());
                    state.streams = false;
                    continue;
                }
                End::AtOnce => pause.next(),
                End::Cut => {
                    self.failing(
                        Failure::Unanswered,
                        "the connection ended within a list".to_owned(),
                    );
                    pause.next()
                }
                End::Silent => {
                    self.failing(Failure::Unanswered, "no answer in time".to_owned());
                    pause.next()
                }
                End::Failed(error) => match refusal(&error) {
                    Some((404, _)) => {
                        state.version = None;
                        absences += 1;
                        self.absent(absences)
                    }
                    Some((403, message)) => {
                        state.version = None;
                        self.forbidden(message)
                    }
                    Some((code, message)) => {
                        self.failing(Failure::Refused(code), message.to_owned());
                        asked_to_wait(&error).unwrap_or_else(|| pause.next())
                    }
                    None => {
                        self.failing(Failure::Unanswered, causes(&error));
                        pause.next()
                    }
                },
            };
            tokio::select! {
                () = stop.cancelled() => return,
                Ok(()) = report_name.changed(), if is_report => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// One call, or one for each page.
    async fn once(&mut self, state: &mut Position, report: &str) -> End {
        let fields =
            (self.resource.kind == Kind::NodeInterferenceReport).then(|| format!("metadata.name={report}"));
        match (&state.version, state.streams) {
            (Some(_), _) => self.watch(state, fields).await,
            (None, true) => self.stream(state, fields).await,
            (None, false) => self.pages(state, fields).await,
        }
    }

    /// A list as a stream, which then goes on as a watch.
    async fn stream(&mut self, state: &mut Position, fields: Option<String>) -> End {
        let parameters = WatchParams {
            send_initial_events: true,
            ..parameters(fields)
        };
        // No version: as new as the API server knows, not what one of its replicas may have kept from before.
        let begun = Instant::now();
        let due = begun + WATCH + GRACE;
        let stream = match open(&self.client, self.resource.path(), &parameters, "", LIST_ANSWER).await {
            Ok(stream) => stream,
            Err(End::Failed(error)) if is_too_much_asked(&error) => return End::NotStreamed,
            Err(end) => return end,
        };
        let mut stream = pin!(stream);
        self.track.begin();
        loop {
            match next(&mut stream, due).await {
                Ok(Some(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                    self.track
                        .set(object.get(), Source::List, &mut send(&self.deltas));
                }
                Ok(Some(WatchEvent::Deleted(object))) => {
                    self.track.unset(object.get(), &mut send(&self.deltas));
                }
                Ok(Some(WatchEvent::Bookmark(bookmark))) => {
                    if bookmark
                        .metadata
                        .annotations
                        .contains_key("k8s.io/initial-events-end")
                    {
                        state.version = Some(bookmark.metadata.resource_version);
                        if self.listed(state).is_err() {
                            return End::Unheard;
                        }
                        return self.changes(&mut stream, due, state).await;
                    }
                }
                Ok(Some(WatchEvent::Error(status))) if status.code == 410 => return End::Expired,
                // A server whose etcd is older than 3.4.25 says so only here.
                Ok(Some(WatchEvent::Error(status))) => {
                    debug!(
                        "{} are not streamed: {}",
                        self.resource.full_name(),
                        status.message
                    );
                    return End::NotStreamed;
                }
                // It ended before it was complete: an old server that knows no such lists, or too many objects for the time.
                Ok(None) if begun.elapsed() >= WATCH - AT_LEAST => return End::NotStreamed,
                Ok(None) => return End::Cut,
                Err(end) => return end,
            }
        }
    }

    /// A list in pages.
    async fn pages(&mut self, state: &mut Position, fields: Option<String>) -> End {
        let request = Request::new(self.resource.path());
        let mut parameters = ListParams {
            field_selector: fields,
            limit: Some(PAGE),
            ..ListParams::default()
        };
        self.track.begin();
        loop {
            let call = match request.list(&parameters) {
                Ok(call) => call,
                Err(error) => return End::Failed(kube::Error::BuildRequest(error)),
            };
            let page: ObjectList<Box<RawValue>> = match timeout(LIST_ANSWER, self.client.request(call)).await
            {
                Ok(Ok(page)) => page,
                Ok(Err(kube::Error::Api(status))) if status.code == 410 => return End::Expired,
                Ok(Err(error)) => return End::Failed(error),
                Err(_) => return End::Silent,
            };
            for object in &page.items {
                self.track
                    .set(object.get(), Source::List, &mut send(&self.deltas));
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters.continue_token = Some(token),
                None => {
                    state.version = page.metadata.resource_version;
                    return match self.listed(state) {
                        Ok(()) => End::Due,
                        Err(_) => End::Unheard,
                    };
                }
            }
        }
    }

    /// A watch from where the last one ended.
    async fn watch(&mut self, state: &mut Position, fields: Option<String>) -> End {
        let due = Instant::now() + WATCH + GRACE;
        let from = state.version.clone().unwrap_or_default();
        match open(
            &self.client,
            self.resource.path(),
            &parameters(fields),
            &from,
            ANSWER,
        )
        .await
        {
            Ok(stream) => {
                state.worked = true;
                self.board.resumed(self.resource.kind);
                self.changes(&mut pin!(stream), due, state).await
            }
            Err(End::Failed(kube::Error::Api(status))) if status.code == 410 => End::Expired,
            Err(end) => end,
        }
    }

    async fn changes(
        &mut self,
        stream: &mut (impl Stream<Item = kube::Result<WatchEvent<Box<RawValue>>>> + Unpin),
        due: Instant,
        state: &mut Position,
    ) -> End {
        let start = Instant::now();
        let mut idle = true;
        let mut caught_up = false;
        loop {
            let until = if caught_up { due } else { due.min(start + CATCH_UP) };
            let heard = next(stream, until).await;
            if !caught_up && start.elapsed() >= CATCH_UP && !matches!(heard, Ok(Some(WatchEvent::Error(_)))) {
                caught_up = true;
                self.track.is_current(true);
                if matches!(heard, Err(End::Silent)) && until < due {
                    continue;
                }
            }
            let version = match heard {
                Ok(Some(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                    self.track
                        .set(object.get(), Source::Watch, &mut send(&self.deltas))
                }
                Ok(Some(WatchEvent::Deleted(object))) => {
                    self.track.unset(object.get(), &mut send(&self.deltas))
                }
                Ok(Some(WatchEvent::Bookmark(bookmark))) => {
                    state.version = Some(bookmark.metadata.resource_version);
                    idle = false;
                    continue;
                }
                Ok(Some(WatchEvent::Error(status))) => return ended(*status),
                Ok(None) if idle && start.elapsed() < AT_LEAST => return End::AtOnce,
                Ok(None) => return End::Due,
                // The connection is dead: the next one tells whether the API server is.
                Err(End::Silent) => return End::Due,
                Err(end) => return end,
            };
            idle = false;
            if let Some(version) = version.filter(|version| !version.is_empty()) {
                state.version = Some(version);
            }
            self.count();
            if self.deltas.is_closed() {
                return End::Unheard;
            }
        }
    }

    /// A list is complete.
    fn listed(&mut self, state: &mut Position) -> Result<(), ()> {
        state.worked = true;
        self.track.end(&mut send(&self.deltas));
        self.count();
        self.track.is_current(true);
        if self.board.listed(self.resource.kind) {
            self.deltas.send(Delta::Complete).map_err(drop)?;
        }
        if self.deltas.is_closed() { Err(()) } else { Ok(()) }
    }

    fn count(&self) {
        self.board
            .changed(self.resource.kind, self.track.objects(), self.track.unreadable());
    }

    fn failing(&self, failure: Failure, message: String) {
        self.track.is_current(false);
        self.board.failing(self.resource.kind, failure, message);
    }

    /// A server that has just started may not know a definition yet; only when it says so twice are objects taken for gone.
    fn absent(&mut self, times: u32) -> Duration {
        if times > 1 && self.track.objects() > 0 {
            self.track.begin();
            self.track.end(&mut send(&self.deltas));
            self.count();
        }
        if self.board.absent(self.resource.kind, self.absent_retry) {
            // Nobody listens only when the process ends, and then the next call says so.
            let _ = self.deltas.send(Delta::Complete);
        }
        self.absent_retry
    }

    fn forbidden(&self, message: &str) -> Duration {
        if self
            .board
            .forbidden(self.resource.kind, message, self.absent_retry)
        {
            let _ = self.deltas.send(Delta::Complete);
        }
        self.absent_retry
    }
}

/// Where a kind is followed from.
struct Position {
    /// The version up to which everything was seen; `None` before a list.
    version: Option<String>,
    /// The server gives lists as streams, as far as is known.
    streams: bool,
    /// A list was completed or a watch taken up since this was last asked.
    worked: bool,
}

/// Nobody listens any more only when the process ends; callers look for that.
fn send(deltas: &UnboundedSender<Delta>) -> impl FnMut(Event) {
    |event| {
        let _ = deltas.send(Delta::Event(event));
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
