//! `mcoctl demo`: the main job on this machine, without a cluster. Its real collector, the real analyzer and the real scheduler
//! core place gangs, and an I/O load of its own shows that the next gang keeps away from a machine that got hot.

mod candidates;
mod checks;
mod files;
mod heat;
mod host;
mod jobs;
mod load;
mod pipeline;
mod profile;
mod screen;
mod show;
mod stage;
mod story;
mod summary;
mod table;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use mco_framework::conf::{self, SchedulerConf};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The configuration used when none is given: the stock one with mco-plugin.
const BUILT_IN_CONF: &str = include_str!("../../demo/scheduler.conf");

/// Flags of `mcoctl demo`.
///
/// Exit codes: 0 what was shown held; 1 something did not hold; 2 it could not run; 3 nothing failed, but this machine cannot
/// show all of it (for example without pressure figures); 130 interrupted.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 what was shown held; 1 something did not hold; 2 it could not run; 3 nothing failed, but \
    this machine cannot show all of it, for example without pressure figures; 130 interrupted."
)]
pub struct Arguments {
    /// Files with the nodes and gangs beside this machine, in YAML; the built-in ones when not given.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    cluster: Vec<PathBuf>,
    /// The scheduler configuration (volcano-scheduler.conf); the stock one with mco-plugin when not given.
    #[arg(long, value_name = "FILE")]
    conf: Option<PathBuf>,
    /// A DetectionRuleConfig for the analyzer; the defaults when not given.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// One window of samples and one decision, no load.
    #[arg(long)]
    once: bool,
    /// Do not make this machine hot.
    #[arg(long)]
    no_load: bool,
    /// The load ends by itself after so long, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=120))]
    load_seconds: u64,
    /// Threads of the load.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    load_threads: u16,
    /// Size of the file that the load reads, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(16..=4096))]
    load_size: u64,
    /// Folder of that file; one on a real disk is looked for when not given.
    #[arg(long, value_name = "DIR")]
    load_dir: Option<PathBuf>,
    /// Everything ends by then, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(5..=600))]
    timeout: u64,
    /// The analyzer's window in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    window: u64,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Live tables on a terminal, plain lines elsewhere.
    Table,
    /// One object at the end; what happens meanwhile goes to standard error.
    Json,
}

impl Arguments {
    fn conf(&self) -> Result<SchedulerConf> {
        let Some(path) = &self.conf else {
            return conf::read(BUILT_IN_CONF.as_bytes()).context("built-in configuration");
        };
        let bytes = std::fs::read(path).with_context(|| format!("cannot read --conf {}", path.display()))?;
        conf::read(&bytes).with_context(|| format!("--conf {}", path.display()))
    }

    fn plan(&self) -> story::Plan {
        story::Plan {
            once: self.once,
            load: !self.no_load && !self.once,
            window: Duration::from_secs(self.window),
            timeout: Duration::from_secs(self.timeout),
        }
    }

    fn bounds(&self) -> load::Bounds {
        load::Bounds {
            directory: self.load_dir.clone(),
            bytes: self.load_size << 20,
            threads: self.load_threads.into(),
            time: Duration::from_secs(self.load_seconds),
        }
    }
}

/// Runs the demo.
///
/// # Errors
/// Files that cannot be used, or a part that cannot start.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start")?;
    let summary = runtime.block_on(show::show(arguments))?;
    // Streams that did not say farewell are not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    if arguments.output == Output::Json {
        let text = serde_json::to_string_pretty(&summary)? + "\n";
        match std::io::stdout().write_all(text.as_bytes()) {
            // The reader has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.context("cannot write to standard output")?,
        }
    }
    Ok(ExitCode::from(summary.exit_code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_configuration_uses_the_plugin_and_only_what_exists() {
        let conf = conf::read(BUILT_IN_CONF.as_bytes()).expect("it is ours");
        let limits = heat::Limits::of(&conf).expect("mco-plugin is in it");
        assert_eq!((limits.memory_full, limits.io_some), (0.0, 20.0));
        let registry = mco_registry::Registry::new();
        let known: Vec<_> = registry.plugin_names().collect();
        let unknown: Vec<_> = conf
            .plugins()
            .map(|option| &*option.name)
            .filter(|name| !known.contains(name))
            .collect();
        assert_eq!(unknown, [""; 0]);
        assert!(
            conf.actions
                .iter()
                .all(|action| registry.action(action).is_some())
        );
    }
}
