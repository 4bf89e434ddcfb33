use super::*;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;

/// Listens on a port of its own.
async fn somewhere() -> (TcpListener, SocketAddr) {
    let listener = listen("healthz-address", "127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

async fn get_over<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, page: &str) -> std::io::Result<String> {
    let request = format!("GET {page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn fetch(address: SocketAddr, page: &str) -> String {
    let stream = TcpStream::connect(address).await.expect("it listens");
    get_over(stream, page).await.expect("it answers")
}

fn listed() -> Arc<Health> {
    let health = Arc::new(Health::new(Duration::from_secs(1)));
    health.complete();
    health
}

#[tokio::test]
async fn pages_say_how_it_is_and_more_when_asked() {
    let (listener, address) = somewhere().await;
    let health = listed();
    let stop = CancellationToken::new();
    tokio::spawn(serve_health(listener, None, Arc::clone(&health), stop.clone()));
    for page in ["/healthz", "/healthz/ping", "/livez"] {
        let answer = fetch(address, page).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"),
            "{page}: {answer}"
        );
    }
    let not_yet = fetch(address, "/readyz").await;
    assert!(not_yet.starts_with("HTTP/1.1 503"), "{not_yet}");
    assert!(
        not_yet.contains("[-] configuration"),
        "what is missing is said unasked: {not_yet}"
    );
    health.conf_read();
    health.note("nodes: followed".to_owned());
    let ready = fetch(address, "/readyz?verbose").await;
    for line in [
        "HTTP/1.1 200",
        "[+] caches",
        "[i] lease: another decides",
        "[i] nodes: followed",
    ] {
        assert!(ready.contains(line), "{line}: {ready}");
    }
    stop.cancel();
}

#[tokio::test]
async fn metrics_are_served_as_text() {
    let (listener, address) = somewhere().await;
    let stop = CancellationToken::new();
    tokio::spawn(serve_metrics(
        listener,
        Arc::new(Metrics::new(true)),
        stop.clone(),
    ));
    let answer = fetch(address, "/metrics").await;
    assert!(answer.contains("content-type: text/plain"), "{answer}");
    assert!(
        answer.contains("volcano_e2e_scheduling_latency_milliseconds_count 0"),
        "{answer}"
    );
    stop.cancel();
}

#[tokio::test]
async fn an_address_that_cannot_be_listened_on_is_named_with_its_flag() {
    let (_listener, address) = somewhere().await;
    for bad in [address.to_string(), "nonsense".to_owned()] {
        let error = listen("listen-address", &bad)
            .await
            .expect_err("it is taken or none");
        assert!(
            error.to_string().contains(&format!("--listen-address={bad}")),
            "{error}"
        );
    }
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, pem }
    }

    /// Certificate and key for `localhost`.
    fn sign(&self) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

async fn fetch_tls(
    address: SocketAddr,
    trusted: &Authority,
    identity: Option<(String, String)>,
) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(trusted.pem.as_bytes()).expect("a certificate"))
        .expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let config = match identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => config
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate")],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key"),
            )
            .expect("they belong together"),
    };
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    get_over(stream, "/healthz").await
}

#[tokio::test]
async fn with_certificates_clients_may_come_without_one_but_not_with_a_strangers() {
    let (ours, strangers) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = ours.sign();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let files = TlsFiles {
        ca: write("ca.crt", &ours.pem),
        cert: write("tls.crt", &certificate),
        key: write("tls.key", &key),
    };
    let acceptor = tls(&files).expect("the files can be used");
    let (listener, address) = somewhere().await;
    let stop = CancellationToken::new();
    tokio::spawn(serve_health(listener, Some(acceptor), listed(), stop.clone()));

    // One that connects and says nothing keeps nobody waiting.
    let _dawdling = TcpStream::connect(address).await.expect("it listens");
    let answer = fetch_tls(address, &ours, None).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let known = fetch_tls(address, &ours, Some(ours.sign()))
        .await
        .expect("it answers");
    assert!(known.starts_with("HTTP/1.1 200"), "{known}");
    let refused = fetch_tls(address, &ours, Some(strangers.sign())).await;
    assert!(refused.is_err(), "{refused:?}");

    let plain = TcpStream::connect(address).await.expect("it listens");
    let plain = get_over(plain, "/healthz").await.unwrap_or_default();
    assert!(!plain.contains("200 OK"), "no TLS, no page: {plain}");
    stop.cancel();
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let (certificate, key) = authority.sign();
    let (_, other_key) = authority.sign();
    let good = TlsFiles {
        ca: write("ca.crt", &authority.pem),
        cert: write("tls.crt", &certificate),
        key: write("tls.key", &key),
    };
    let rows = [
        (
            TlsFiles {
                ca: write("a", "no"),
                ..good.clone()
            },
            "a holds no certificate",
        ),
        (
            TlsFiles {
                cert: folder.path().join("none"),
                ..good.clone()
            },
            "none holds no certificates",
        ),
        (
            TlsFiles {
                key: write("k", "no"),
                ..good.clone()
            },
            "k holds no private key",
        ),
        (
            TlsFiles {
                key: write("o", &other_key),
                ..good
            },
            "do not belong together",
        ),
    ];
    for (files, expected) in rows {
        let Err(error) = tls(&files) else {
            panic!("{files:?} can be used");
        };
        assert!(error.to_string().contains(expected), "{expected}: {error:#}");
    }
}
