//! One call that brings objects: how long it may take, and how it ended.

use std::time::Duration;

use futures_util::{Stream, TryStreamExt as _};
use kube::Client;
use kube::api::WatchParams;
use kube::core::{Request, Status, WatchEvent};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout, timeout_at};

/// The API server is asked to end a watch after so long; it does so on the second.
pub(crate) const WATCH: Duration = Duration::from_secs(50);
/// A watch that has not ended so long after its end was due is on a connection that is dead.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// A watch that has not been answered by then is on a connection that is dead: servers answer before there is a change.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// A list, or a page of one, takes longer.
pub(crate) const LIST_ANSWER: Duration = Duration::from_secs(30);
/// How a call ended that brought objects.
pub(crate) enum End {
    /// As it should: go on from where it was.
    Due,
    /// Where it was is no longer known to the API server: list anew.
    Expired,
    /// It brought nothing and was over at once.
    AtOnce,
    /// A list broke off.
    Cut,
    /// Lists as a stream are not to be had.
    NotStreamed,
    /// It failed.
    Failed(kube::Error),
    /// No answer in time.
    Silent,
    /// The process ends: nobody takes what comes.
    Unheard,
}

/// Opens a watch on the objects at `path`.
pub(crate) async fn open(
    client: &Client,
    path: String,
    parameters: &WatchParams,
    version: &str,
    patience: Duration,
) -> Result<impl Stream<Item = kube::Result<WatchEvent<Box<RawValue>>>> + use<>, End> {
    let call = Request::new(path).watch(parameters, version);
    let call = call.map_err(|error| End::Failed(kube::Error::BuildRequest(error)))?;
    match timeout(patience, client.request_events::<Box<RawValue>>(call)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(End::Failed(error)),
        Err(_) => Err(End::Silent),
    }
}

/// A watch of the usual length, on objects with these fields.
pub(crate) fn parameters(fields: Option<String>) -> WatchParams {
    WatchParams {
        field_selector: fields,
        timeout: u32::try_from(WATCH.as_secs()).ok(),
        ..WatchParams::default()
    }
}

/// The next event; `None` at the end.
pub(crate) async fn next<T>(
    stream: &mut (impl Stream<Item = kube::Result<T>> + Unpin),
    due: Instant,
) -> Result<Option<T>, End> {
    match timeout_at(due, stream.try_next()).await {
        Ok(Ok(event)) => Ok(event),
        Ok(Err(error)) => Err(End::Failed(error)),
        Err(_) => Err(End::Silent),
    }
}

/// What a status in the midst of a watch means.
pub(crate) fn ended(status: Status) -> End {
    match status.code {
        410 => End::Expired,
        _ => End::Failed(kube::Error::Api(status.boxed())),
    }
}

/// The server does not know what was asked of it, or does not want to.
pub(crate) fn is_too_much_asked(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 400 | 405 | 406 | 415 | 422))
}

/// The code and the words of a refusal; `None` when there was no answer.
pub(crate) fn refusal(error: &kube::Error) -> Option<(u16, &str)> {
    match error {
        kube::Error::Api(status) if status.code > 0 => Some((status.code, &status.message)),
        _ => None,
    }
}

/// How long a busy server asks to be left alone.
pub(crate) fn asked_to_wait(error: &kube::Error) -> Option<Duration> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (status.code == 429 && seconds > 0).then(|| Duration::from_secs(u64::from(seconds.min(10))))
}

/// An error with what caused it, since the outermost says little.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}
