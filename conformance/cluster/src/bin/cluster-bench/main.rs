//! What scheduling costs on a real API server: from the start of the scheduler's process to its last bind, beside a binder
//! that binds a list it was given and decides nothing.

mod blind;
mod measure;
mod report;

use anyhow::{Context, bail};
use std::path::Path;
use std::process::ExitCode;

/// How large a burst is.
#[derive(Clone, Copy, Debug)]
struct Size {
    nodes: usize,
    gangs: usize,
    /// Pods in a gang.
    members: usize,
    /// Requests that the blind binder has under way at once.
    concurrency: usize,
}

impl Size {
    fn pods(self) -> usize {
        self.gangs * self.members
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    if let [command, kubeconfig, list, concurrency] = arguments.as_slice()
        && command == "bind"
    {
        let concurrency = concurrency
            .parse()
            .context("the last argument is a number of requests")?;
        return runtime.block_on(blind::bind(Path::new(kubeconfig), Path::new(list), concurrency));
    }
    let size = size(&arguments)?;
    runtime.block_on(async {
        let scheduler = measure::scheduler(size).await?;
        let blind = measure::blind(size).await?;
        report::print(size, &scheduler, &blind)
    })
}

/// `--nodes N --gangs N --members N --concurrency N`, each with a default.
fn size(arguments: &[String]) -> anyhow::Result<Size> {
    let mut size = Size {
        nodes: 1000,
        gangs: 500,
        members: 10,
        concurrency: 32,
    };
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else {
            bail!("{} needs a number", pair[0]);
        };
        let value: usize = value.parse().with_context(|| format!("{flag} needs a number"))?;
        match flag.as_str() {
            "--nodes" => size.nodes = value,
            "--gangs" => size.gangs = value,
            "--members" => size.members = value,
            "--concurrency" => size.concurrency = value,
            _ => bail!("unknown flag {flag}: --nodes, --gangs, --members and --concurrency are known"),
        }
    }
    Ok(size)
}
