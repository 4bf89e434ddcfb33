//! The stream of samples to the analyzer: kept open, opened again with growing pauses, and never in the way of
//! sampling.
//!
//! At most [`MAX_UNANSWERED`] samples are on their way; more wait in the spool. What had no answer when a stream
//! broke is sent again on the next one, so the analyzer may see a sequence number twice.

use std::collections::VecDeque;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mco_proto::v1::analyzer_service_client::AnalyzerServiceClient;
use mco_proto::v1::stream_ack::Status as AckStatus;
use mco_proto::v1::{MetricsSnapshot, StreamAck};
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tracing::{debug, info, warn};

use crate::metrics::{DropReason, Metrics};
use crate::spool::{Queued, Spool};

/// Samples on their way without an answer; as many as the analyzer takes in a second.
pub const MAX_UNANSWERED: usize = 5;
/// An analyzer that answers nothing for this long is gone, whatever the connection says.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Least time between two samples, so that a backlog does not go beyond what the analyzer takes in a second.
const PACE: Duration = Duration::from_millis(210);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A stream that lived this long was a good one: the next pause is short again.
const GOOD_AFTER: Duration = Duration::from_secs(10);
/// How long the last samples may take at a stop.
const FAREWELL: Duration = Duration::from_secs(2);

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Why a stream ended.
#[derive(Debug, Error)]
pub enum StreamError {
    /// No connection.
    #[error("cannot connect")]
    Connect(#[source] tonic::transport::Error),
    /// The token cannot be read or sent.
    #[error("cannot use the token in `{path}`: {why}")]
    Token {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The analyzer refused or broke the stream.
    #[error("the analyzer ended the stream: {}", .0.message())]
    Refused(#[source] Box<tonic::Status>),
    /// The analyzer ended the stream without a word, as one does that stops.
    #[error("the analyzer closed the stream")]
    Closed,
    /// The analyzer stopped answering.
    #[error("no answer for {} s", ANSWER_TIMEOUT.as_secs())]
    Silent,
}

/// Sends what comes into a spool to one analyzer.
pub(crate) struct Sender {
    pub(crate) address: String,
    pub(crate) token_file: Option<std::path::PathBuf>,
    pub(crate) spool: Arc<Spool>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Sender {
    /// Runs until `stop` is ready, then sends what is left for two seconds at most.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) {
        let mut forever = pin!(self.keep_streaming());
        let mut stop = pin!(stop);
        tokio::select! {
            () = &mut forever => return,
            () = &mut stop => {}
        }
        if tokio::time::timeout(FAREWELL, forever).await.is_err() {
            debug!("stopped with samples unsent");
        }
    }

    /// Streams until the spool is finished.
    async fn keep_streaming(&self) {
        let mut attempt = 0;
        let mut down = false;
        loop {
            let opened = Instant::now();
            let error = match self.stream_once(&mut down).await {
                Ok(()) => return,
                Err(error) => error,
            };
            if opened.elapsed() >= GOOD_AFTER {
                attempt = 0;
            }
            let pause = pause(attempt, fastrand::f64());
            attempt += 1;
            // Once per outage; the retries are of interest only to who looks for them.
            match std::mem::replace(&mut down, true) {
                false => warn!(analyzer = %self.address, ?pause, "stream lost: {}", chain(&error)),
                true => debug!(analyzer = %self.address, ?pause, "still no stream: {}", chain(&error)),
            }
            tokio::time::sleep(pause).await;
            self.metrics.reconnected();
        }
    }

    /// One stream from connecting to its end. Ok when all samples are sent and none will come.
    async fn stream_once(&self, down: &mut bool) -> Result<(), StreamError> {
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        let channel = endpoint(&self.address)
            .map_err(StreamError::Connect)?
            .connect()
            .await;
        let mut client = AnalyzerServiceClient::new(channel.map_err(StreamError::Connect)?)
            .max_decoding_message_size(mco_proto::MAX_MESSAGE_BYTES)
            .max_encoding_message_size(mco_proto::MAX_MESSAGE_BYTES);
        let mut unanswered = VecDeque::new();
        let result = self.exchange(&mut client, token, &mut unanswered, down).await;
        self.spool.put_back(unanswered.into_iter());
        result
    }

    async fn exchange(
        &self,
        client: &mut AnalyzerServiceClient<Channel>,
        token: Option<MetadataValue<Ascii>>,
        unanswered: &mut VecDeque<Queued>,
        down: &mut bool,
    ) -> Result<(), StreamError> {
        let (outgoing, samples) = mpsc::channel::<MetricsSnapshot>(1);
        let mut outgoing = Some(outgoing);
        let mut request = tonic::Request::new(ReceiverStream::new(samples));
        if let Some(token) = token {
            request.metadata_mut().insert("authorization", token);
        }
        // Samples flow while the answer to the call itself is awaited: a server may hold it until the first one.
        let mut opening = pin!(client.stream_metrics(request));
        let mut answers = None;
        let mut not_before = tokio::time::Instant::now();
        let mut silent_at = tokio::time::Instant::now() + ANSWER_TIMEOUT;
        loop {
            if self.spool.is_finished() && unanswered.is_empty() {
                // Ends our side of the stream, so that the analyzer sees a farewell and not a loss.
                outgoing = None;
                if answers.is_none() {
                    return Ok(());
                }
            }
            let may_send =
                outgoing.is_some() && unanswered.len() < MAX_UNANSWERED && !self.spool.is_finished();
            tokio::select! {
                opened = &mut opening, if answers.is_none() => {
                    answers = Some(opened.map_err(|status| StreamError::Refused(Box::new(status)))?.into_inner());
                    if std::mem::take(down) {
                        info!(analyzer = %self.address, "stream open again");
                    } else {
                        info!(analyzer = %self.address, "stream open");
                    }
                }
                answer = next_answer(&mut answers), if answers.is_some() => match answer {
                    Ok(Some(ack)) => {
                        silent_at = tokio::time::Instant::now() + ANSWER_TIMEOUT;
                        if let Some(wait) = self.settle(&ack, unanswered) {
                            not_before = not_before.max(tokio::time::Instant::now() + wait);
                        }
                    }
                    Ok(None) if outgoing.is_none() => return Ok(()),
                    Ok(None) => return Err(StreamError::Closed),
                    Err(status) => return Err(StreamError::Refused(Box::new(status))),
                },
                permit = self.may_send(&outgoing, not_before), if may_send => {
                    let Some(permit) = permit else { return Err(StreamError::Closed) };
                    if let Some(queued) = self.spool.pop() {
                        if unanswered.is_empty() {
                            silent_at = tokio::time::Instant::now() + ANSWER_TIMEOUT;
                        }
                        permit.send(stamped(&queued));
                        unanswered.push_back(queued);
                        not_before = tokio::time::Instant::now() + PACE;
                    }
                }
                () = tokio::time::sleep_until(silent_at), if !unanswered.is_empty() => return Err(StreamError::Silent),
            }
        }
    }

    /// Waits for the pace, a sample, and room in the stream, in this order; takes nothing, so it may be given up at
    /// any point. None when the stream is gone.
    async fn may_send<'a>(
        &self,
        outgoing: &'a Option<mpsc::Sender<MetricsSnapshot>>,
        not_before: tokio::time::Instant,
    ) -> Option<mpsc::Permit<'a, MetricsSnapshot>> {
        tokio::time::sleep_until(not_before).await;
        self.spool.wait().await;
        outgoing.as_ref()?.reserve().await.ok()
    }

    /// Takes note of an answer. Tells how long to wait when the analyzer asks for it.
    fn settle(&self, ack: &StreamAck, unanswered: &mut VecDeque<Queued>) -> Option<Duration> {
        let mut settled = 0;
        let mut last = None;
        while unanswered
            .front()
            .is_some_and(|queued| queued.snapshot.sequence <= ack.sequence)
        {
            last = unanswered.pop_front().map(|queued| queued.snapshot.sequence);
            settled += 1;
        }
        // The answer speaks about its own sample; those before it were taken, or they would have had their own.
        let own = u64::from(last == Some(ack.sequence));
        self.metrics.acknowledged(settled - own);
        match ack.status() {
            AckStatus::Throttled => {
                self.metrics.dropped(DropReason::Throttled, own);
                return Some(Duration::from_millis(ack.retry_after_ms.into()).min(ANSWER_TIMEOUT));
            }
            AckStatus::Rejected => {
                self.metrics.dropped(DropReason::Rejected, own);
                warn!(sequence = ack.sequence, "sample refused: {}", ack.message);
            }
            AckStatus::Partial => {
                self.metrics.acknowledged(own);
                debug!(sequence = ack.sequence, "sample taken in part: {}", ack.message);
            }
            AckStatus::Ok | AckStatus::Unspecified => self.metrics.acknowledged(own),
        }
        None
    }
}

async fn next_answer(
    answers: &mut Option<tonic::Streaming<StreamAck>>,
) -> Result<Option<StreamAck>, tonic::Status> {
    match answers {
        Some(answers) => answers.message().await,
        None => std::future::pending().await,
    }
}

/// The sample as sent: it says how long it waited.
fn stamped(queued: &Queued) -> MetricsSnapshot {
    let mut snapshot = queued.snapshot.clone();
    snapshot.spooled_ms = u32::try_from(queued.taken.elapsed().as_millis()).unwrap_or(u32::MAX);
    snapshot
}

fn endpoint(address: &str) -> Result<Endpoint, tonic::transport::Error> {
    Ok(Endpoint::from_shared(address.to_owned())?
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10))
        .keep_alive_while_idle(true)
        .initial_stream_window_size(16 * 1024)
        .initial_connection_window_size(32 * 1024))
}

fn read_token(path: &Path) -> Result<MetadataValue<Ascii>, StreamError> {
    let failed = |why: String| StreamError::Token {
        path: path.display().to_string(),
        why,
    };
    let token = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let value = format!("Bearer {}", token.trim());
    let mut value: MetadataValue<Ascii> = value
        .parse()
        .map_err(|_| failed("it is not one line of plain characters".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The pause before try `attempt` (0 is the first retry): doubling, and spread by `random` (0 to 1) over its upper
/// half, so that the collectors of a cluster do not come back all at once.
fn pause(attempt: u32, random: f64) -> Duration {
    let full = FIRST_PAUSE
        .saturating_mul(1 << attempt.min(16))
        .min(LONGEST_PAUSE);
    full.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_are_spread() {
        let millis = |attempt, random| pause(attempt, random).as_millis();
        assert_eq!(
            [0, 1, 2, 3].map(|attempt| millis(attempt, 1.0)),
            [500, 1000, 2000, 4000]
        );
        assert_eq!((millis(0, 0.0), millis(0, 0.5)), (250, 375));
        assert_eq!((millis(10, 1.0), millis(u32::MAX, 0.0)), (15_000, 7_500));
    }

    #[test]
    fn a_token_is_one_line_and_never_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        assert!(read_token(&path).unwrap_err().to_string().contains("token"));
        std::fs::write(&path, "abc.def\n").unwrap();
        let token = read_token(&path).unwrap();
        assert_eq!(token.to_str().unwrap(), "Bearer abc.def");
        assert!(!format!("{token:?}").contains("abc"));
        std::fs::write(&path, "a\nb").unwrap();
        assert!(read_token(&path).unwrap_err().to_string().contains("one line"));
    }

    #[test]
    fn an_answer_settles_its_sample_and_those_before() {
        let metrics = Arc::new(Metrics::new());
        let sender = Sender {
            address: String::new(),
            token_file: None,
            spool: Arc::new(Spool::new(1, metrics.clone())),
            metrics: metrics.clone(),
        };
        let mut unanswered: VecDeque<Queued> = (1..=6)
            .map(|sequence| Queued {
                snapshot: MetricsSnapshot {
                    sequence,
                    ..Default::default()
                },
                taken: Instant::now(),
            })
            .collect();
        let ack = |sequence, status: AckStatus, retry_after_ms| StreamAck {
            sequence,
            status: status.into(),
            retry_after_ms,
            message: String::new(),
        };
        let mut settle = |ack: StreamAck| {
            let wait = sender.settle(&ack, &mut unanswered);
            (unanswered.len(), wait)
        };
        assert_eq!(settle(ack(2, AckStatus::Ok, 0)), (4, None));
        assert_eq!(settle(ack(2, AckStatus::Ok, 0)), (4, None), "again");
        assert_eq!(settle(ack(3, AckStatus::Rejected, 0)), (3, None));
        assert_eq!(
            settle(ack(4, AckStatus::Throttled, 700)),
            (2, Some(Duration::from_millis(700)))
        );
        assert_eq!(settle(ack(6, AckStatus::Partial, 0)), (0, None));
        assert_eq!(metrics.acknowledged_so_far(), 4);
        assert_eq!(metrics.dropped_so_far(DropReason::Rejected), 1);
        assert_eq!(metrics.dropped_so_far(DropReason::Throttled), 1);
    }
}
