//! The HTTP endpoints: `/metrics`, `/livez`, `/readyz`, `/healthz`, and where asked for the report itself.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::analyzer::Analyzer;
use crate::health::Probe;

/// Whether `/report` is served. Metrics name nodes as well, but a report says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportEndpoint {
    /// It is.
    Served,
    /// It is not.
    Hidden,
}

/// Serves until cancelled.
///
/// # Errors
/// What the listener meets.
pub async fn serve(
    analyzer: Arc<Analyzer>,
    listener: TcpListener,
    report: ReportEndpoint,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let mut router = Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(live))
        .route("/healthz", get(live))
        .route("/readyz", get(ready));
    if report == ReportEndpoint::Served {
        router = router.route("/report", get(show_report));
    }
    axum::serve(listener, router.with_state(analyzer))
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

async fn metrics(State(analyzer): State<Arc<Analyzer>>) -> Response {
    match analyzer.metrics_text() {
        Ok(text) => (
            [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
            text,
        )
            .into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn live(State(analyzer): State<Arc<Analyzer>>, RawQuery(query): RawQuery) -> Response {
    answer(&analyzer.live(), query.as_deref())
}

async fn ready(State(analyzer): State<Arc<Analyzer>>, RawQuery(query): RawQuery) -> Response {
    let mut probe = analyzer.ready();
    let verdict = analyzer.rules_verdict();
    probe.lines.push(format!(
        "[i] rules: {} ({})",
        verdict.message,
        verdict.reason.as_str()
    ));
    answer(&probe, query.as_deref())
}

async fn show_report(State(analyzer): State<Arc<Analyzer>>) -> Response {
    match serde_json::to_string(&*analyzer.latest()) {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn answer(probe: &Probe, query: Option<&str>) -> Response {
    let status = if probe.ok {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let verbose = query.is_some_and(|query| {
        query
            .split('&')
            .any(|part| part.split('=').next() == Some("verbose"))
    });
    // Whoever fails a probe always learns why.
    let text = if verbose || !probe.ok {
        probe.lines.join("\n") + "\n"
    } else {
        "ok\n".to_owned()
    };
    (status, text).into_response()
}
