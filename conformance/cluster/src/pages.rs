//! Fetches pages that our processes serve in plain HTTP on this machine.

use anyhow::{Context, bail};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A page: its status code and its text.
///
/// # Errors
/// When nobody answers on the port.
pub fn fetch(port: u16, path: &str) -> anyhow::Result<(u16, String)> {
    let patience = Some(Duration::from_secs(5));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("nobody listens")?;
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(patience)?;
    // The old protocol spares one reading chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let Some((head, text)) = answer.split_once("\r\n\r\n") else {
        bail!("no answer but {answer:?}");
    };
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Ok((
        code.with_context(|| format!("no code in {head:?}"))?,
        text.to_owned(),
    ))
}
