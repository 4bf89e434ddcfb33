//! How loud the log is, over a socket in the file system, where Volcano has it:
//! `curl --unix-socket /tmp/klog-socks/klog-klog.sock "http://localhost/setlevel?level=5&duration=60s"`.

use crate::flags::parse_duration;
use crate::log::Loudness;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::get;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

const FOLDER_VARIABLE: &str = "DEBUG_SOCKET_DIR";
const FOLDER: &str = "/tmp/klog-socks";
const FILE: &str = "klog-klog.sock";
const USAGE: &str = "give a level from 1 on, and if it is not to stay so, for how long: \
     curl --unix-socket /tmp/klog-socks/klog-klog.sock \"http://localhost/setlevel?level=5&duration=60s\"\n";

/// Where the socket is.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::var_os(FOLDER_VARIABLE)
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| FOLDER.into(), PathBuf::from)
}

/// Serves it until stopped. Where there can be no socket the scheduler does without.
pub async fn serve(folder: PathBuf, loudness: Loudness, stop: CancellationToken) {
    let listener = match listen(&folder) {
        Ok(listener) => listener,
        Err(error) => {
            info!(
                "no socket for the loudness of the log in {}: {error}",
                folder.display()
            );
            return;
        }
    };
    let router = Router::new()
        .route("/getlevel", get(current))
        .route("/setlevel", get(set))
        .with_state(loudness);
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        warn!("the socket for the loudness of the log ended: {error}");
    }
}

/// A socket for the own user only, in the place of one that is left over.
fn listen(folder: &Path) -> std::io::Result<UnixListener> {
    if !folder.exists() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o750)
            .create(folder)?;
    }
    let path = folder.join(FILE);
    if std::fs::symlink_metadata(&path).is_ok_and(|known| known.file_type().is_socket()) {
        std::fs::remove_file(&path)?;
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))?;
    Ok(listener)
}

async fn current(State(loudness): State<Loudness>) -> String {
    format!("Current klog log level: {}\n", loudness.current())
}

async fn set(
    State(loudness): State<Loudness>,
    RawQuery(query): RawQuery,
) -> Result<String, (StatusCode, &'static str)> {
    let (level, duration) =
        read(query.as_deref().unwrap_or_default()).ok_or((StatusCode::BAD_REQUEST, USAGE))?;
    let undo = loudness.set(level);
    info!("the log is as loud as -v={level} now");
    Ok(match duration {
        None => format!("log level is {level}\n"),
        Some(duration) => {
            tokio::spawn(async move {
                tokio::time::sleep(duration).await;
                if undo() {
                    info!("the log is as loud as at the start again");
                }
            });
            format!("log level is {level} for {} s\n", duration.as_secs_f64())
        }
    })
}

/// Level and duration. The latter may be left out here.
fn read(query: &str) -> Option<(i64, Option<Duration>)> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let level: i64 = value("level")?.parse().ok()?;
    let duration = match value("duration") {
        None => None,
        Some(text) => Some(parse_duration(text).filter(|duration| duration.as_millis() > 0)?),
    };
    (level > 0).then_some((level, duration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    #[test]
    fn what_is_asked_for_is_a_level_and_perhaps_a_duration() {
        let rows = [
            ("level=5", Some((5, None))),
            ("level=8&duration=1m30s", Some((8, Some(Duration::from_secs(90))))),
            ("duration=1s&level=1", Some((1, Some(Duration::from_secs(1))))),
            ("level=0", None),
            ("level=-1", None),
            ("level=loud", None),
            ("level=5&duration=0s", None),
            ("level=5&duration=soon", None),
            ("", None),
        ];
        for (query, expected) in rows {
            assert_eq!(read(query), expected, "{query:?}");
        }
    }

    async fn ask(path: &Path, page: &str) -> String {
        let mut stream = UnixStream::connect(path).await.expect("it listens");
        let request = format!("GET {page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream
            .write_all(request.as_bytes())
            .await
            .expect("it can be asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers");
        answer
    }

    #[tokio::test]
    async fn the_level_can_be_asked_for_and_set_even_where_an_old_socket_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("new");
        drop(listen(&inner).expect("a first socket"));
        let stop = CancellationToken::new();
        let loudness = Loudness::of_no_log(3);
        let serving = tokio::spawn(serve(inner.clone(), loudness.clone(), stop.clone()));
        let path = inner.join(FILE);
        while UnixStream::connect(&path).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let rows = [
            ("/getlevel", "200 OK", "level: 3"),
            ("/setlevel?level=5", "200 OK", "5"),
            ("/getlevel", "200 OK", "level: 5"),
            ("/setlevel?level=x", "400 Bad Request", "curl"),
        ];
        for (page, status, text) in rows {
            let answer = ask(&path, page).await;
            assert!(
                answer.contains(status) && answer.contains(text),
                "{page}: {answer}"
            );
        }
        let mode = std::fs::metadata(&path)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "nobody else may use it");
        stop.cancel();
        serving.await.expect("it ends");
    }
}
