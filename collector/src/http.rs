//! The pages for Prometheus and the kubelet: `/metrics`, `/livez`, `/readyz`, `/healthz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::metrics::Metrics;

/// When the sampling loop last came round.
pub(crate) struct Heartbeat {
    started: Instant,
    /// Milliseconds after the start, plus one; 0 before the first sample.
    last: AtomicU64,
    interval: Duration,
}

impl Heartbeat {
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            started: Instant::now(),
            last: AtomicU64::new(0),
            interval,
        }
    }

    /// A sample was taken.
    pub(crate) fn beat(&self) {
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last.store(millis + 1, Ordering::Relaxed);
    }

    fn has_sample(&self) -> bool {
        self.last.load(Ordering::Relaxed) > 0
    }

    /// Whether the loop came round within three intervals. The first sample may take longer: it loads the probe.
    fn is_alive(&self) -> bool {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        let patience = (self.interval * 3).max(Duration::from_secs(3));
        let patience = if last.is_zero() {
            patience + Duration::from_secs(10)
        } else {
            patience
        };
        self.started.elapsed().saturating_sub(last) < patience
    }
}

#[derive(Clone)]
struct Pages {
    metrics: Arc<Metrics>,
    heartbeat: Arc<Heartbeat>,
}

pub(crate) fn router(metrics: Arc<Metrics>, heartbeat: Arc<Heartbeat>) -> Router {
    Router::new()
        .route("/metrics", get(show_metrics))
        .route("/livez", get(livez))
        .route("/healthz", get(livez))
        .route("/readyz", get(readyz))
        .with_state(Pages { metrics, heartbeat })
}

async fn show_metrics(State(pages): State<Pages>) -> Response {
    match pages.metrics.encode() {
        Ok(text) => ([(header::CONTENT_TYPE, Metrics::content_type())], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn livez(State(pages): State<Pages>) -> (StatusCode, &'static str) {
    match pages.heartbeat.is_alive() {
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "no sample for three intervals\n"),
    }
}

async fn readyz(State(pages): State<Pages>) -> (StatusCode, &'static str) {
    match pages.heartbeat.has_sample() {
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "no sample yet\n"),
    }
}
