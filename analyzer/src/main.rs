//! The analyzer's process: flags, log, signals.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Parser;
use mco_analyzer::http::{self, ReportEndpoint};
use mco_analyzer::kubernetes::{KubernetesSink, Names, watch_nodes, watch_rules};
use mco_analyzer::rules::file;
use mco_analyzer::settings::{LogFormat, Settings, Sink};
use mco_analyzer::{Analyzer, MemorySink, ReportSink, Rules};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;

/// After a signal everything has this long to end.
const GRACE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let settings = Settings::parse();
    start_log(&settings);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(analyze(settings));
            runtime.shutdown_timeout(GRACE);
            result
        }
        Err(error) => Err(error).context("cannot start"),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn analyze(settings: Settings) -> anyhow::Result<()> {
    let config = settings.config().map_err(|sentence| anyhow!(sentence))?;
    warn!(
        "AUTH_MODE=none: collectors are not asked who they are, whoever reaches the gRPC port can report for any \
         node; authentication comes in a later version"
    );
    let stop = CancellationToken::new();
    let signals = stop_at_signal(stop.clone())?;
    let (client, sink): (_, Arc<dyn ReportSink>) = match settings.report_sink {
        Sink::Kubernetes => {
            let client = connect().await?;
            (
                Some(client.clone()),
                Arc::new(KubernetesSink::new(client, &settings.report_name)),
            )
        }
        Sink::Memory => (None, Arc::new(MemorySink::new())),
    };
    let analyzer = Analyzer::new(config, Rules::default(), sink)?;
    let grpc = settings
        .grpc_addr
        .bind()
        .await
        .context("cannot listen on GRPC_ADDR")?;
    let pages = settings
        .metrics_addr
        .bind()
        .await
        .context("cannot listen on METRICS_ADDR")?;
    info!(grpc = %grpc.local_addr()?, metrics = %pages.local_addr()?, "analyzer started");

    let report = match settings.report_sink {
        Sink::Kubernetes => ReportEndpoint::Hidden,
        Sink::Memory => ReportEndpoint::Served,
    };
    let rest = {
        let (analyzer, stop) = (analyzer.clone(), stop.clone());
        tokio::spawn(async move { follow(client, &settings, &analyzer, stop).await })
    };
    let pages = tokio::spawn(http::serve(analyzer.clone(), pages, report, stop.clone()));
    let serving = tokio::spawn({
        let stop = stop.clone();
        async move {
            let result = analyzer.run(grpc, stop.clone()).await;
            stop.cancel();
            result
        }
    });
    stop.cancelled().await;
    let ended = async {
        serving.await.context("the analyzer broke")??;
        pages
            .await
            .context("the HTTP server broke")?
            .context("cannot serve HTTP")?;
        rest.await.context("a watch broke")?;
        anyhow::Ok(())
    };
    let result = match tokio::time::timeout(GRACE, ended).await {
        Ok(result) => result,
        Err(_) => Err(anyhow!(
            "not everything ended within {} s of the signal",
            GRACE.as_secs()
        )),
    };
    signals.abort();
    info!("analyzer stopped");
    result
}

async fn connect() -> anyhow::Result<kube::Client> {
    let mut config = kube::Config::infer()
        .await
        // Its text already holds that of all its causes.
        .map_err(|error| {
            anyhow!("cannot find the cluster; outside of one use REPORT_SINK=memory: {error}")
        })?;
    // What fails is done again by whoever asked, with newer data.
    config.default_retry = false;
    kube::Client::try_from(config).map_err(|error| anyhow!("cannot make a client for the cluster: {error}"))
}

/// Follows the rules, and in a cluster the nodes.
async fn follow(
    client: Option<kube::Client>,
    settings: &Settings,
    analyzer: &Analyzer,
    stop: CancellationToken,
) {
    let Some(client) = client else {
        match &settings.rules_file {
            Some(path) => {
                let apply = |update: &_| {
                    analyzer.apply_rules(update);
                };
                file::watch(path, apply, stop).await;
            }
            None => info!("no RULES_FILE: the default rules are in force"),
        }
        return;
    };
    let names = Names {
        report: settings.report_name.clone(),
        rules: settings.rules_name.clone(),
        rules_namespace: settings.pod_namespace.clone(),
    };
    tokio::join!(
        watch_rules(client.clone(), &names, analyzer, stop.clone()),
        watch_nodes(client, analyzer, stop.clone()),
    );
}

fn stop_at_signal(stop: CancellationToken) -> anyhow::Result<tokio::task::JoinHandle<()>> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        info!("stopping");
        stop.cancel();
    }))
}

fn start_log(settings: &Settings) {
    // The client says at every attempt what we say once.
    let default = format!("{},kube_client=off,kube_runtime=off", settings.log_level.as_str());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !no_color);
    match settings.log_format {
        LogFormat::Json => log.json().init(),
        LogFormat::Text => log.init(),
    }
}
