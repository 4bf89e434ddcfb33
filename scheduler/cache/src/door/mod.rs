//! Every writing call that the scheduler makes, one function each, and what an answer means. Nothing is sent twice by itself.

mod events;
mod groups;
mod leases;
mod pods;

pub use events::EventBody;
pub use pods::PodSeen;

use http::{Method, Request, StatusCode};
use kube::Client;
use serde::Deserialize;
use std::time::Duration;

/// A call that is not answered by then counts as lost.
const DEADLINE: Duration = Duration::from_secs(20);

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It took effect; the body of the answer.
    Done(String),
    /// 409: something else was written meanwhile, or it cannot be done to the object as it is.
    Conflict(String),
    /// 404: the object is not there, or its kind.
    Gone(String),
    /// 429: to be sent again after this long.
    Throttled(Duration),
    /// Any other refusal: it took no effect and will not by being repeated soon.
    Refused {
        /// HTTP status.
        code: u16,
        /// What the server says.
        message: String,
    },
    /// Nobody knows whether it took effect: no answer in time, a broken connection, or a server error.
    Lost(String),
}

impl Answer {
    /// What went wrong, for people; `None` when nothing did.
    pub fn trouble(&self) -> Option<String> {
        match self {
            Self::Done(_) => None,
            Self::Conflict(message) => Some(format!("{message} (409)")),
            Self::Gone(message) => Some(format!("{message} (404)")),
            Self::Throttled(_) => Some("too many requests (429)".to_owned()),
            Self::Refused { code, message } => Some(format!("{message} ({code})")),
            Self::Lost(message) => Some(format!("the answer was lost: {message}")),
        }
    }
}

/// The calls. Cheap to clone.
#[derive(Clone)]
pub struct Door {
    client: Client,
    deadline: Duration,
}

impl Door {
    /// A door on a client that does not retry by itself.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            deadline: DEADLINE,
        }
    }

    /// The same with another deadline for calls.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    async fn call(&self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        self.call_as(method, path, "application/json", body).await
    }

    async fn call_as(&self, method: Method, path: &str, content: &str, body: Vec<u8>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content)
            .body(kube::client::Body::from(body));
        let request = match request {
            Ok(request) => request,
            Err(error) => {
                return Answer::Refused {
                    code: 0,
                    message: format!("{path} is no path: {error}"),
                };
            }
        };
        match tokio::time::timeout(self.deadline, self.answer(request)).await {
            Ok(answer) => answer,
            Err(_) => Answer::Lost(format!("none in {} s", self.deadline.as_secs_f64())),
        }
    }

    async fn answer(&self, request: Request<kube::client::Body>) -> Answer {
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) => return Answer::Lost(error.to_string()),
        };
        let (head, body) = response.into_parts();
        let pause = head
            .headers
            .get(http::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let text = match body.collect_bytes().await {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            // A status that came through says enough, except that it was done.
            Err(error) if head.status.is_success() => return Answer::Lost(error.to_string()),
            Err(_) => String::new(),
        };
        judge(head.status, pause, text)
    }
}

fn judge(status: StatusCode, pause: Option<u64>, text: String) -> Answer {
    if status.is_success() {
        return Answer::Done(text);
    }
    let message = message(&text, status);
    match status.as_u16() {
        404 => Answer::Gone(message),
        409 => Answer::Conflict(message),
        429 => Answer::Throttled(Duration::from_secs(pause.unwrap_or(1).min(60))),
        500..=599 => Answer::Lost(format!("{message} ({})", status.as_u16())),
        code => Answer::Refused { code, message },
    }
}

fn message(text: &str, status: StatusCode) -> String {
    #[derive(Deserialize)]
    struct Status {
        message: String,
    }
    match serde_json::from_str::<Status>(text) {
        Ok(status) => status.message,
        Err(_) => status.canonical_reason().unwrap_or("refused").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_whether_the_call_took_effect() {
        let judged = |code, pause| {
            judge(
                StatusCode::from_u16(code).expect("a status"),
                pause,
                r#"{"message":"m"}"#.to_owned(),
            )
        };
        let rows = [
            (201, None, Answer::Done(r#"{"message":"m"}"#.to_owned())),
            (404, None, Answer::Gone("m".to_owned())),
            (409, None, Answer::Conflict("m".to_owned())),
            (429, Some(7), Answer::Throttled(Duration::from_secs(7))),
            (429, None, Answer::Throttled(Duration::from_secs(1))),
            (429, Some(100_000), Answer::Throttled(Duration::from_secs(60))),
            (
                403,
                None,
                Answer::Refused {
                    code: 403,
                    message: "m".to_owned(),
                },
            ),
            (500, None, Answer::Lost("m (500)".to_owned())),
            (504, None, Answer::Lost("m (504)".to_owned())),
        ];
        for (code, pause, expected) in rows {
            assert_eq!(judged(code, pause), expected);
        }
    }
}
