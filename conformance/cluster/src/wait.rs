//! Waiting for a cluster to come to a state, and saying what it was instead.

use std::time::{Duration, Instant};

/// Long enough for what takes a cycle or two on a busy machine. Nothing is slower for it when all goes well.
pub const SOON: Duration = Duration::from_secs(30);

/// Long enough for what has to start or to time out first.
pub const LONG: Duration = Duration::from_secs(120);

/// Several cycles: what would happen in each of them is seen.
pub const QUIET: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(100);

/// Asks `state` again and again until it gives a value, for at most `within`.
///
/// # Errors
/// What was waited for and the last state, when time is over. `Ok(Err(…))` from `state` ends the wait at once.
pub async fn eventually<T>(
    what: &str,
    within: Duration,
    mut state: impl AsyncFnMut() -> Result<Result<T, String>, String>,
) -> Result<T, String> {
    let deadline = Instant::now() + within;
    loop {
        match state().await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(hopeless)) => return Err(format!("waited for: {what}; but {hopeless}")),
            Err(last) if Instant::now() > deadline => {
                return Err(format!("waited {within:?} for: {what}; last seen: {last}"));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Asks `state` until it gives a value.
///
/// # Panics
/// With the last state, when it has not within `within`.
pub async fn until<T>(what: &str, within: Duration, mut state: impl AsyncFnMut() -> Result<T, String>) -> T {
    match eventually(what, within, async || state().await.map(Ok)).await {
        Ok(value) => value,
        Err(why) => panic!("{why}"),
    }
}

/// Watches for `period` that `state` keeps giving `Ok`.
///
/// # Panics
/// With what it gave instead.
pub async fn always(what: &str, period: Duration, mut state: impl AsyncFnMut() -> Result<(), String>) {
    let end = Instant::now() + period;
    while Instant::now() < end {
        if let Err(seen) = state().await {
            panic!("expected all along: {what}; but then: {seen}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}
