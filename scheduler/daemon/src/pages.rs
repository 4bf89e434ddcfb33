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
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// A client that takes longer over its handshake is let go.
const HANDSHAKE: Duration = Duration::from_secs(5);
const HANDSHAKES: usize = 64;

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
        Some(acceptor) => match listener.local_addr() {
            Ok(address) => {
                axum::serve(TlsListener::new(listener, acceptor, address), router)
                    .with_graceful_shutdown(stop.cancelled_owned())
                    .await
            }
            Err(error) => Err(error),
        },
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

/// Takes connections whose handshake is done. Handshakes go on beside each other, so one that dawdles keeps nobody waiting.
struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl TlsListener {
    fn new(mut listener: TcpListener, acceptor: TlsAcceptor, address: SocketAddr) -> Self {
        let (done, ready) = mpsc::channel(1);
        tokio::spawn(async move {
            let slots = Arc::new(Semaphore::new(HANDSHAKES));
            while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
                let (stream, from) = tokio::select! {
                    accepted = axum::serve::Listener::accept(&mut listener) => accepted,
                    () = done.closed() => return,
                };
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => drop(done.send((stream, from)).await),
                        Ok(Err(error)) => debug!("{from}: {error}"),
                        Err(_) => debug!("{from}: no handshake"),
                    }
                    drop(slot);
                });
            }
        });
        Self { address, ready }
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            // Who accepts ends after this listener only.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
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

#[cfg(test)]
mod tests;
