//! The interference pipeline in this process: the real collector of this machine and the simulated ones, a gRPC stream each
//! over loopback, the real analyzer, and its reports.

use super::profile::Profile;
use anyhow::{Context, Result, bail};
use mco_analyzer::rules::file;
use mco_analyzer::{Analyzer, Config, MemorySink, Rules};
use mco_collector::Daemon;
use mco_crds::NodeInterferenceReportStatus;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long the collectors, and then the analyzer, may take to end.
const FAREWELL: Duration = Duration::from_secs(3);

/// Everything from sensing to the report, running.
pub struct Pipeline {
    /// The report as the analyzer's sink gets it.
    pub reports: watch::Receiver<Arc<NodeInterferenceReportStatus>>,
    /// Ends the collectors.
    sensing: CancellationToken,
    collectors: JoinSet<Result<()>>,
    /// Ends the analyzer.
    analyzing: CancellationToken,
    analyzer: JoinSet<Result<()>>,
}

impl Pipeline {
    /// Starts it. `rules` is a file with a DetectionRuleConfig.
    ///
    /// # Errors
    /// No port on loopback, or rules that cannot be used.
    pub async fn start(
        host: &str,
        profiles: Vec<Profile>,
        window: Duration,
        rules: Option<&Path>,
    ) -> Result<Self> {
        raise_file_limit();
        let sink = Arc::new(MemorySink::new());
        let config = Config {
            window,
            reporter: Some("mcoctl demo".to_owned()),
            ..Config::default()
        };
        let analyzer =
            Analyzer::new(config, Rules::default(), sink.clone()).context("cannot start the analyzer")?;
        if let Some(path) = rules {
            // To the analyzer a missing file is an absent object, which means the defaults; here it was asked for.
            std::fs::metadata(path).with_context(|| format!("cannot read --rules {}", path.display()))?;
            let verdict = analyzer.apply_rules(&file::read(path));
            if !verdict.accepted {
                bail!("--rules {}: {}", path.display(), verdict.message);
            }
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("no port on 127.0.0.1 for gRPC")?;
        let address = format!(
            "http://{}",
            listener.local_addr().context("no address on 127.0.0.1")?
        );
        let (sensing, analyzing) = (CancellationToken::new(), CancellationToken::new());
        let (mut serving, mut collectors) = (JoinSet::new(), JoinSet::new());
        let until = analyzing.clone();
        serving.spawn(async move { analyzer.run(listener, until).await.context("the analyzer failed") });

        let mut config = mco_collector::Config::for_node(host);
        config.analyzer = Some(address.clone());
        let collector = Daemon::bind(config).await.context("cannot start the collector")?;
        let until = sensing.clone();
        collectors.spawn(async move {
            collector
                .run(until.cancelled_owned())
                .await
                .context("the collector failed")
        });
        for profile in profiles {
            let (address, until) = (address.clone(), sensing.clone());
            collectors.spawn(async move {
                profile.stream(address, until).await;
                Ok(())
            });
        }
        Ok(Self {
            reports: sink.subscribe(),
            sensing,
            collectors,
            analyzing,
            analyzer: serving,
        })
    }

    /// The next report.
    ///
    /// # Errors
    /// When a part of the pipeline has failed.
    pub async fn next(&mut self) -> Result<Arc<NodeInterferenceReportStatus>> {
        loop {
            tokio::select! {
                changed = self.reports.changed() => {
                    changed.context("the analyzer is gone")?;
                    return Ok(self.reports.borrow_and_update().clone());
                }
                Some(ended) = self.analyzer.join_next() => ended.context("the analyzer broke")??,
                Some(ended) = self.collectors.join_next() => ended.context("a collector broke")??,
            }
        }
    }

    /// Ends everything: the collectors first, so that their streams end with a farewell.
    pub async fn stop(mut self) {
        self.sensing.cancel();
        ended(&mut self.collectors).await;
        self.analyzing.cancel();
        ended(&mut self.analyzer).await;
    }
}

/// Waits for all tasks, but not for long: what does not end is dropped with the runtime.
async fn ended(tasks: &mut JoinSet<Result<()>>) {
    let all = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, all).await;
}

/// The collector opens two counters for each CPU, which is more than the usual limit on machines with many.
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
