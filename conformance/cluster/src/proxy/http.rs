//! A proxy that reads requests: single ones can be lost, their answers too, or be answered without asking the server.

use crate::server::Server;
use anyhow::Context;
use futures_util::future::pending;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The server does it, and the connection breaks before its answer arrives.
    LoseAnswer,
    /// The server does it, and its answer never comes while the connection stays.
    HoldAnswer,
    /// The server does it, and its answer comes so much later.
    DelayAnswer(Duration),
    /// The connection breaks before the server hears of it.
    LoseRequest,
    /// The server never hears of it, and the connection stays.
    HoldRequest,
    /// The server never hears of it: this code is the answer.
    Answer(u16),
}

/// Whether a request binds a pod.
pub fn is_binding(method: &Method, path: &str) -> bool {
    method == Method::POST && path.contains("/binding")
}

type Test = Box<dyn Fn(&Method, &str) -> bool + Send>;

struct Rule {
    matches: Test,
    fault: Fault,
    /// How many matching requests pass before the first is hit.
    skip: usize,
    /// How many are hit.
    left: usize,
}

#[derive(Default)]
struct Rules {
    rules: Vec<Rule>,
    /// Method and path of each request that was hit.
    hit: Vec<String>,
}

/// Listens on a port of its own, with a certificate of the cluster's authority, before its API server.
pub struct HttpProxy {
    port: u16,
    rules: Arc<Mutex<Rules>>,
    task: JoinHandle<()>,
}

impl HttpProxy {
    /// Starts one before `server`.
    ///
    /// # Errors
    /// When there is no free port or no certificate.
    pub async fn start(server: &Server) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("no free port")?;
        let port = listener.local_addr()?.port();
        let rules = Arc::new(Mutex::new(Rules::default()));
        let way = Way {
            accept: acceptor(server)?,
            connect: connector(server)?,
            target: server.port(),
            rules: Arc::clone(&rules),
        };
        let task = tokio::spawn(async move {
            // An error concerns one client that is gone again.
            loop {
                if let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(connection(client, way.clone()));
                }
            }
        });
        Ok(Self { port, rules, task })
    }

    /// Its address as the address of an API server.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Its port, to put a [`super::TcpProxy`] before it.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on hits the first `count` requests whose method and path (with query) `matches`, after letting `skip` of
    /// them pass.
    pub fn hit(
        &self,
        fault: Fault,
        skip: usize,
        count: usize,
        matches: impl Fn(&Method, &str) -> bool + Send + 'static,
    ) {
        lock(&self.rules).rules.push(Rule {
            matches: Box::new(matches),
            fault,
            skip,
            left: count,
        });
    }

    /// Lets all requests pass again.
    pub fn clear(&self) {
        lock(&self.rules).rules.clear();
    }

    /// The requests that were hit so far, as `POST /api/v1/…`.
    pub fn hits(&self) -> Vec<String> {
        lock(&self.rules).hit.clone()
    }
}

impl Drop for HttpProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// All that a connection needs.
#[derive(Clone)]
struct Way {
    accept: TlsAcceptor,
    connect: TlsConnector,
    target: u16,
    rules: Arc<Mutex<Rules>>,
}

type Body = BoxBody<Bytes, hyper::Error>;

/// One client's connection, with one to the server for it alone.
async fn connection(client: TcpStream, way: Way) {
    // Whatever fails here ends this connection, as a broken network would.
    let (Ok(client), Ok(server)) = tokio::join!(way.accept.clone().accept(client), reach(&way)) else {
        return;
    };
    let server = tokio::sync::Mutex::new(server);
    let service = service_fn(|request| answer(&way.rules, &server, request));
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(client), service)
        .await;
}

async fn reach(way: &Way) -> anyhow::Result<SendRequest<Incoming>> {
    let stream = TcpStream::connect(("127.0.0.1", way.target)).await?;
    let stream = way
        .connect
        .connect(ServerName::try_from("localhost")?, stream)
        .await?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Its errors reach whoever sends on it.
    tokio::spawn(connection);
    Ok(sender)
}

/// An error closes the client's connection.
async fn answer(
    rules: &Mutex<Rules>,
    server: &tokio::sync::Mutex<SendRequest<Incoming>>,
    request: Request<Incoming>,
) -> anyhow::Result<Response<Body>> {
    let fault = lock(rules).fault_of(&request);
    match fault {
        Some(Fault::LoseRequest) => anyhow::bail!("lost on purpose"),
        Some(Fault::HoldRequest) => return pending().await,
        Some(Fault::Answer(code)) => return refusal(code),
        _ => {}
    }
    let mut server = server.lock().await;
    server.ready().await?;
    let response = server.send_request(request).await?;
    match fault {
        Some(Fault::LoseAnswer) => anyhow::bail!("lost on purpose"),
        Some(Fault::HoldAnswer) => return pending().await,
        Some(Fault::DelayAnswer(delay)) => tokio::time::sleep(delay).await,
        _ => {}
    }
    Ok(response.map(BodyExt::boxed))
}

/// An error as the API server words them.
fn refusal(code: u16) -> anyhow::Result<Response<Body>> {
    let code = StatusCode::from_u16(code)?;
    let reason = code.canonical_reason().unwrap_or("Unknown").replace(' ', "");
    let status = serde_json::json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "refused by a test",
        "reason": reason,
        "code": code.as_u16(),
    });
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never| match never {});
    let response = Response::builder()
        .status(code)
        .header("content-type", "application/json");
    Ok(response.body(body.boxed())?)
}

impl Rules {
    /// What befalls this request. It counts for the first rule that it matches and that is not used up.
    fn fault_of<B>(&mut self, request: &Request<B>) -> Option<Fault> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let hits = |rule: &&mut Rule| rule.left > 0 && (rule.matches)(request.method(), path);
        let rule = self.rules.iter_mut().find(hits)?;
        if rule.skip > 0 {
            rule.skip -= 1;
            return None;
        }
        rule.left -= 1;
        self.hit.push(format!("{} {path}", request.method()));
        Some(rule.fault.clone())
    }
}

fn lock(rules: &Mutex<Rules>) -> MutexGuard<'_, Rules> {
    rules.lock().unwrap_or_else(|broken| broken.into_inner())
}

fn acceptor(server: &Server) -> anyhow::Result<TlsAcceptor> {
    let identity = server.authority().server()?;
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn connector(server: &Server) -> anyhow::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(
        server.authority().certificate().as_bytes(),
    )?)?;
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
