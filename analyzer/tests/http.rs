//! The HTTP endpoints over a real socket.

use std::net::SocketAddr;
use std::sync::Arc;

use mco_analyzer::http::{self, ReportEndpoint};
use mco_analyzer::{Analyzer, Config, MemorySink, Rules};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: analyzer\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

#[tokio::test]
async fn metrics_and_probes_answer_and_the_report_only_where_asked_for() {
    let analyzer = Analyzer::new(Config::default(), Rules::default(), Arc::new(MemorySink::new())).unwrap();
    analyzer.health().wait_for("rules");
    let stop = CancellationToken::new();
    let mut addresses = Vec::new();
    let mut tasks = Vec::new();
    for report in [ReportEndpoint::Served, ReportEndpoint::Hidden] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        addresses.push(listener.local_addr().unwrap());
        tasks.push(tokio::spawn(http::serve(
            analyzer.clone(),
            listener,
            report,
            stop.clone(),
        )));
    }
    let (served, hidden) = (addresses[0], addresses[1]);

    let (status, answer) = get(served, "/metrics").await;
    assert_eq!(status, 200);
    assert!(
        answer.contains("content-type: text/plain; version=0.0.4"),
        "{answer}"
    );
    assert!(answer.contains("mco_analyzer_streams 0\n"), "{answer}");

    assert_eq!(get(served, "/livez").await.0, 200);
    assert_eq!(get(served, "/healthz").await.0, 200);
    let (status, answer) = get(served, "/readyz").await;
    assert_eq!(status, 503);
    assert!(answer.contains("[-] rules: not loaded yet"), "{answer}");
    analyzer.health().arrived("rules");
    let (status, answer) = get(served, "/readyz?verbose").await;
    assert_eq!(status, 200);
    assert!(
        answer.contains("[+] rules: loaded") && answer.contains("[i] rules:"),
        "{answer}"
    );

    assert_eq!(get(served, "/report").await.0, 200);
    assert_eq!(get(hidden, "/report").await.0, 404);
    stop.cancel();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}
