//! A proxy that understands nothing: it passes bytes, or lets connections go silent, be refused or be reset.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What befalls connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Pass,
    /// New ones are accepted and never served.
    Silent,
    /// Nobody listens.
    Refuse,
}

/// The mode, and two counts that each open connection watches.
#[derive(Clone, Copy, Debug)]
struct Order {
    mode: Mode,
    /// Grows when all connections open at that moment go silent for ever.
    freezes: u32,
    /// Grows when they are reset.
    resets: u32,
}

/// Listens on a port of its own and passes what comes to another port of this machine.
pub struct TcpProxy {
    port: u16,
    orders: watch::Sender<Order>,
    listening: watch::Receiver<bool>,
    passed: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl TcpProxy {
    /// Starts one before the port `target`.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start(target: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("no free port")?;
        let port = listener.local_addr()?.port();
        let (orders, received) = watch::channel(Order {
            mode: Mode::Pass,
            freezes: 0,
            resets: 0,
        });
        let (is_listening, listening) = watch::channel(true);
        let passed = Arc::new(AtomicUsize::new(0));
        let work = serve(
            listener,
            port,
            target,
            received,
            is_listening,
            Arc::clone(&passed),
        );
        Ok(Self {
            port,
            orders,
            listening,
            passed,
            task: tokio::spawn(work),
        })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address as the address of an API server.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// How many connections it has passed on.
    pub fn connections(&self) -> usize {
        self.passed.load(Ordering::Relaxed)
    }

    /// Serves new connections again.
    pub async fn pass(&self) {
        self.orders.send_modify(|order| order.mode = Mode::Pass);
        self.until_listening(true).await;
    }

    /// Lets all open connections go silent for ever, without a word: half-open. New ones are as the mode says.
    pub fn freeze(&self) {
        self.orders.send_modify(|order| order.freezes += 1);
    }

    /// Lets all open connections go silent for ever, and new ones too.
    pub fn black_hole(&self) {
        self.orders.send_modify(|order| {
            order.mode = Mode::Silent;
            order.freezes += 1;
        });
    }

    /// Resets all open connections, once. New ones are as the mode says.
    pub fn reset(&self) {
        self.orders.send_modify(|order| order.resets += 1);
    }

    /// Resets all open connections and listens no more.
    pub async fn refuse(&self) {
        self.orders.send_modify(|order| {
            order.mode = Mode::Refuse;
            order.resets += 1;
        });
        self.until_listening(false).await;
    }

    async fn until_listening(&self, wanted: bool) {
        // It fails only when the proxy is gone, and then there is nothing to wait for.
        let _ = self.listening.clone().wait_for(|&now| now == wanted).await;
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    listener: TcpListener,
    port: u16,
    target: u16,
    mut orders: watch::Receiver<Order>,
    is_listening: watch::Sender<bool>,
    passed: Arc<AtomicUsize>,
) {
    let mut listener = Some(listener);
    loop {
        let mode = orders.borrow_and_update().mode;
        match (&listener, mode) {
            (Some(_), Mode::Refuse) => {
                listener = None;
                is_listening.send_replace(false);
            }
            (None, Mode::Pass | Mode::Silent) => match TcpListener::bind(("127.0.0.1", port)).await {
                Ok(bound) => {
                    listener = Some(bound);
                    is_listening.send_replace(true);
                }
                Err(error) => {
                    eprintln!("the proxy lost its port {port}: {error}");
                    return;
                }
            },
            _ => {}
        }
        let incoming = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = orders.changed() => if changed.is_err() { return },
            Ok((client, _)) = incoming => {
                if mode == Mode::Pass {
                    passed.fetch_add(1, Ordering::Relaxed);
                }
                tokio::spawn(connection(client, target, mode, orders.clone()));
            }
        }
    }
}

async fn connection(mut client: TcpStream, target: u16, mode: Mode, mut orders: watch::Receiver<Order>) {
    let begun = *orders.borrow_and_update();
    let mut server = None;
    if mode == Mode::Pass {
        match TcpStream::connect(("127.0.0.1", target)).await {
            Ok(stream) => server = Some(stream),
            // Nobody is behind the proxy: to the client it is as if nobody were here.
            Err(_) => return abort(client),
        }
    }
    if let Some(server) = &mut server {
        tokio::select! {
            // Either end closed: dropping both closes the other.
            _ = copy_bidirectional(&mut client, server) => return,
            _ = orders.wait_for(|now| now.freezes != begun.freezes || now.resets != begun.resets) => {}
        }
    }
    // Silent: both ends stay open, nothing is read any more. An error means that the proxy is gone.
    let _ = orders.wait_for(|now| now.resets != begun.resets).await;
    abort(client);
    drop(server);
}

/// Closes with a reset instead of a farewell.
fn abort(client: TcpStream) {
    // It may be closed already.
    let _ = client.set_zero_linger();
    drop(client);
}
