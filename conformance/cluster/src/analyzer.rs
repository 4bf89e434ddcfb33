//! The analyzer's own binary, run against a test's cluster.

use crate::pages;
use crate::process::Process;
use crate::server::{Server, free_port};
use crate::tools::own_binary;
use crate::users::ANALYZER;
use crate::wait::{LONG, until};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names the binary when it is not the one built beside the tests.
pub const VARIABLE: &str = "MCO_ANALYZER";

/// A running analyzer. Dropping it kills it, and shows the end of its log if a test is failing.
pub struct Analyzer {
    process: Process,
    grpc: u16,
    pages: u16,
}

impl Analyzer {
    /// Starts it with these flags besides its addresses, and waits until it is ready.
    ///
    /// # Panics
    /// When it has not been built, or does not become ready.
    pub async fn start(server: &Server, flags: &[&str]) -> Self {
        Self::start_via(server, &server.url(), flags).await
    }

    /// The same, with the API server at `url`, for example behind a proxy.
    ///
    /// # Panics
    /// As [`Analyzer::start`].
    pub async fn start_via(server: &Server, url: &str, flags: &[&str]) -> Self {
        let analyzer = must(Self::try_launch(server, url, flags));
        until("the analyzer is ready", LONG, async || {
            match analyzer.page("/readyz") {
                Ok((200, _)) => Ok(()),
                Ok((code, text)) => Err(format!("{code}: {text}")),
                Err(error) => Err(format!("{error:#}")),
            }
        })
        .await;
        analyzer
    }

    /// Starts it without waiting.
    ///
    /// # Panics
    /// When it has not been built or cannot be run.
    pub fn launch(server: &Server, flags: &[&str]) -> Self {
        must(Self::try_launch(server, &server.url(), flags))
    }

    fn try_launch(server: &Server, url: &str, flags: &[&str]) -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (grpc, pages) = (free_port()?, free_port()?);
        let log = format!("analyzer-{}.log", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(own_binary("mco-analyzer", VARIABLE)?);
        command
            .env("KUBECONFIG", server.kubeconfig_via(&ANALYZER, url))
            .arg(format!("--grpc-addr=127.0.0.1:{grpc}"))
            .arg(format!("--metrics-addr=127.0.0.1:{pages}"))
            .args(flags);
        Ok(Self {
            process: Process::spawn("the analyzer", command, &server.dir().join(log))?,
            grpc,
            pages,
        })
    }

    /// Where collectors connect.
    pub fn grpc_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.grpc)
    }

    /// A page beside its metrics: code and text.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn page(&self, path: &str) -> anyhow::Result<(u16, String)> {
        pages::fetch(self.pages, path)
    }

    /// All it has logged.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// The process, to be killed or told things.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

fn must(analyzer: anyhow::Result<Analyzer>) -> Analyzer {
    match analyzer {
        Ok(analyzer) => analyzer,
        Err(error) => panic!("the analyzer cannot be started: {error:#}"),
    }
}
