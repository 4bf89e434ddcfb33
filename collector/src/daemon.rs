//! The running collector: a thread that samples, a task that streams, a task that serves pages.
//!
//! Sampling has a thread of its own, so that neither a slow analyzer nor a busy runtime moves the rhythm.

use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::collector::Collector;
use crate::config::{Config, ListenAddr};
use crate::http::{self, Heartbeat};
use crate::metrics::Metrics;
use crate::spool::Spool;
use crate::stream::Sender;

/// Why a collector cannot run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The metrics page has no address.
    #[error(
        "cannot listen for /metrics: choose another address with --metrics-addr (METRICS_ADDR), or `off`"
    )]
    Listen(#[source] std::io::Error),
    /// The sampling thread does not start.
    #[error("cannot start the sampling thread")]
    Thread(#[source] std::io::Error),
    /// The sampling thread ended by itself, which is a bug.
    #[error("sampling ended unexpectedly")]
    SamplingEnded,
}

/// A collector that is ready to run.
pub struct Daemon {
    config: Config,
    metrics: Arc<Metrics>,
    listener: Option<TcpListener>,
}

/// Runs a collector until `shutdown` is ready, then stops in order: no more samples, the last ones sent, pages closed.
///
/// # Errors
/// When the address for metrics is taken or the thread cannot be started. Absent sources and an absent analyzer are
/// no errors.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
    Daemon::bind(config).await?.run(shutdown).await
}

impl Daemon {
    /// Takes the address for metrics, so that it is known before anything runs.
    ///
    /// # Errors
    /// When the address is taken.
    pub async fn bind(config: Config) -> Result<Self, RunError> {
        let listener = match config.metrics_addr {
            Some(address) => Some(listen(address).await.map_err(RunError::Listen)?),
            None => None,
        };
        Ok(Self {
            config,
            metrics: Arc::new(Metrics::new()),
            listener,
        })
    }

    /// Where metrics are served.
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.listener
            .as_ref()
            .and_then(|listener| listener.local_addr().ok())
    }

    /// The metrics this collector publishes.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }

    /// As [`run`].
    ///
    /// # Errors
    /// As [`run`].
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
        let Self {
            config,
            metrics,
            listener,
        } = self;
        info!(
            node = config.node_name,
            analyzer = config.analyzer.as_deref().unwrap_or("none"),
            interval = ?config.interval,
            proc = %config.host_proc.display(),
            sys = %config.host_sys.display(),
            "collecting"
        );
        let heartbeat = Arc::new(Heartbeat::new(config.interval));
        let (stop, stopped) = watch::channel(false);
        let pages = listener.map(|listener| {
            let router = http::router(Arc::clone(&metrics), Arc::clone(&heartbeat));
            let served = axum::serve(listener, router).with_graceful_shutdown(until(stopped.clone()));
            tokio::spawn(served.into_future())
        });
        let spool = config
            .analyzer
            .is_some()
            .then(|| Arc::new(Spool::new(config.spool_samples, Arc::clone(&metrics))));
        let sending = config
            .analyzer
            .clone()
            .zip(spool.clone())
            .map(|(address, spool)| {
                let token_file = config.token_file.clone();
                let sender = Sender {
                    address,
                    token_file,
                    spool,
                    metrics: Arc::clone(&metrics),
                };
                tokio::spawn(sender.run(until(stopped)))
            });
        let mut sampler = Sampler::start(config, metrics, heartbeat, spool).map_err(RunError::Thread)?;

        let outcome = tokio::select! {
            () = shutdown => Ok(()),
            () = sampler.ended() => Err(RunError::SamplingEnded),
        };
        sampler.stop();
        stop.send_replace(true);
        if let Some(sending) = sending {
            let _ = sending.await;
        }
        if let Some(pages) = pages {
            // A client that keeps its connection open must not hold up the stop.
            let _ = tokio::time::timeout(Duration::from_millis(500), pages).await;
        }
        info!("stopped");
        outcome
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the daemon is gone, which is a stop as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn listen(address: ListenAddr) -> std::io::Result<TcpListener> {
    match address {
        ListenAddr::Exact(address) => TcpListener::bind(address).await,
        ListenAddr::AnyHost(port) => match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
            Ok(listener) => Ok(listener),
            // Nodes without IPv6.
            Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await,
        },
    }
}

/// The sampling thread.
struct Sampler {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    ended: watch::Receiver<()>,
}

impl Sampler {
    fn start(
        config: Config,
        metrics: Arc<Metrics>,
        heartbeat: Arc<Heartbeat>,
        spool: Option<Arc<Spool>>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        // Dropped when the thread ends, however it ends.
        let (alive, ended) = watch::channel(());
        let thread = std::thread::Builder::new()
            .name("sampler".into())
            .spawn(move || {
                let _alive = alive;
                let _close = spool.clone().map(CloseOnDrop);
                let mut collector = Collector::with_metrics(&config, metrics);
                sample_until(&stopped, config.interval, || {
                    let snapshot = collector.sample();
                    heartbeat.beat();
                    if let Some(spool) = &spool {
                        spool.push(snapshot);
                    }
                });
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            ended,
        })
    }

    async fn ended(&mut self) {
        while self.ended.changed().await.is_ok() {}
    }

    /// Ends the thread; takes as long as one sample.
    fn stop(mut self) {
        self.stop = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            warn!("the sampling thread panicked");
        }
    }
}

struct CloseOnDrop(Arc<Spool>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Calls `sample` at once and then every `interval`, in a phase of its own, until the other end of `stopped` is gone.
fn sample_until(stopped: &mpsc::Receiver<()>, interval: Duration, mut sample: impl FnMut()) {
    sample();
    // Collectors that were started together by a rollout would all report at the same moment otherwise.
    let mut next = Instant::now() + interval.mul_f64(0.5 + fastrand::f64() / 2.0);
    loop {
        match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        sample();
        next += interval;
        let now = Instant::now();
        if next < now {
            // Missed rounds are not made up for.
            next = now + interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_keeps_its_rhythm_and_stops_at_once() {
        let (stop, stopped) = mpsc::channel();
        let interval = Duration::from_millis(20);
        let begun = Instant::now();
        let mut count = 0;
        let mut stop = Some(stop);
        sample_until(&stopped, interval, || {
            count += 1;
            if count == 6 {
                stop = None;
            }
        });
        assert_eq!(count, 6);
        // The first pause is at least half an interval, the four after it are whole ones.
        assert!(
            begun.elapsed() >= interval * 4 + interval / 2,
            "{:?}",
            begun.elapsed()
        );
    }
}
