//! The collector's process: flags, log, signals.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use mco_collector::config::LogFormat;
use mco_collector::{Flags, run};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Senses interference on one node and streams it to the analyzer.
///
/// Reads cache counters, block latency, pressure and memory figures once an interval. Whatever the node does not
/// have is reported as absent. Needs CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH for everything.
#[derive(Debug, Parser)]
#[command(name = "mco-collector", version)]
struct CommandLine {
    #[command(flatten)]
    flags: Flags,
}

fn main() -> ExitCode {
    let CommandLine { flags } = CommandLine::parse();
    start_log(&flags);
    match collect(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn collect(flags: Flags) -> anyhow::Result<()> {
    let config = flags.into_config()?;
    raise_file_limit();
    // One thread is plenty for one message and one page now and then; sampling has its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
        let shutdown = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        Ok(run(config, shutdown).await?)
    })
}

/// Two counters per CPU are more files than the usual limit on machines with many CPUs.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

fn start_log(flags: &Flags) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(flags.log_level.as_str()));
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !no_color);
    match flags.log_format {
        LogFormat::Json => log.json().init(),
        LogFormat::Text => log.init(),
    }
}
