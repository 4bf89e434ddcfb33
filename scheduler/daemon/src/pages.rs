//! The pages: `/metrics` on one address, health on the other.

use crate::flags::TlsFiles;
use crate::health::{Health, Probe};
use crate::metrics::Metrics;
use anyhow::Context;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// Listens where `address` says: `host:port`, or `:port` for all addresses.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn listen(flag: &str, address: &str) -> anyhow::Result<TcpListener> {
    let full = match address.strip_prefix(':') {
        Some(port) => format!("[::]:{port}"),
        None => address.to_owned(),
    };
    let listener = match TcpListener::bind(&full).await {
        Ok(listener) => Ok(listener),
        // A host without IPv6 has no `[::]`.
        Err(_) if full.starts_with("[::]") => TcpListener::bind(full.replacen("[::]", "0.0.0.0", 1)).await,
        Err(error) => Err(error),
    };
    listener.with_context(|| format!("--{flag}={address} cannot be listened on; give host:port or :port"))
}

/// Serves `/metrics` until stopped.
pub async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>, stop: CancellationToken) {
    let router = Router::new().route("/metrics", get(show)).with_state(metrics);
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        tracing::error!("serving /metrics ended: {error}");
    }
}

/// Serves the health pages until stopped.
pub async fn serve_health(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    health: Arc<Health>,
    stop: CancellationToken,
) {
    let router = Router::new()
        .route("/healthz", get(live))
        .route("/healthz/ping", get(live))
        .route("/livez", get(live))
        .route("/readyz", get(ready))
        .with_state(health);
    let served = match tls {
        None => {
            axum::serve(listener, router)
                .with_graceful_shutdown(stop.cancelled_owned())
                .await
        }
        Some(acceptor) => {
            axum::serve(TlsListener { listener, acceptor }, router)
                .with_graceful_shutdown(stop.cancelled_owned())
                .await
        }
    };
    if let Err(error) = served {
        tracing::error!("serving health pages ended: {error}");
    }
}

/// What TLS takes: 1.2 and later, and of clients that show a certificate, one of this authority.
///
/// # Errors
/// When a file cannot be read or used; the message names it.
pub fn tls(files: &TlsFiles) -> anyhow::Result<TlsAcceptor> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&files.ca)? {
        roots
            .add(certificate)
            .with_context(|| format!("{} holds no authority", files.ca.display()))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .with_context(|| format!("{} cannot be used for clients", files.ca.display()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .with_context(|| format!("{} holds no private key", files.key.display()))?;
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_client_cert_verifier(clients)
        .with_single_cert(certificates(&files.cert)?, key)
        .with_context(|| {
            format!(
                "{} and {} do not belong together",
                files.cert.display(),
                files.key.display()
            )
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.with_context(|| format!("{} holds no certificates", path.display()))?;
    anyhow::ensure!(
        !certificates.is_empty(),
        "{} holds no certificate",
        path.display()
    );
    Ok(certificates)
}

struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
            // One that dawdles over its handshake must not keep others waiting for long.
            let patience = std::time::Duration::from_secs(5);
            match tokio::time::timeout(patience, self.acceptor.accept(stream)).await {
                Ok(Ok(stream)) => return (stream, address),
                Ok(Err(error)) => debug!("{address}: {error}"),
                Err(_) => debug!("{address}: no handshake"),
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

async fn show(State(metrics): State<Arc<Metrics>>) -> Response {
    let head = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (head, metrics.render()).into_response()
}

async fn live(State(health): State<Arc<Health>>, RawQuery(query): RawQuery) -> Response {
    answer(&health.live(), query.as_deref())
}

async fn ready(State(health): State<Arc<Health>>, RawQuery(query): RawQuery) -> Response {
    answer(&health.ready(), query.as_deref())
}

fn answer(probe: &Probe, query: Option<&str>) -> Response {
    let status = if probe.well {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let verbose = query.is_some_and(|query| query.split('&').any(|part| part.starts_with("verbose")));
    let mut text = String::new();
    if verbose || !probe.well {
        for line in &probe.lines {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push_str(if probe.well { "ok" } else { "not ok\n" });
    (status, text).into_response()
}
