//! `mcoctl simulate`: the scheduler core on a cluster read from files. Objects in, decisions and reasons out.

mod input;
mod print;
mod report;
mod timing;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use mco_framework::TieBreak;
use mco_model::time::Time;
use mco_registry::{CycleParameters, Registry, World, run_cycle_with};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use timing::Stopwatch;

/// Flags of `mcoctl simulate`.
#[derive(Args)]
pub struct Arguments {
    /// Files or folders of Kubernetes objects (YAML documents, JSON lists, JSON lines); `-` reads standard input.
    #[arg(long, required = true, num_args = 1.., value_name = "FILES")]
    cluster: Vec<PathBuf>,
    /// The scheduler configuration (volcano-scheduler.conf); the built-in default when not given.
    #[arg(long, value_name = "FILE")]
    conf: Option<PathBuf>,
    /// How many cycles to run. Between cycles, bound pods start running and evicted ones are gone.
    #[arg(long, default_value_t = 1, value_name = "N")]
    cycles: usize,
    /// How to choose among equally good nodes.
    #[arg(long, value_enum, default_value_t = Ties::Seeded)]
    tie_break: Ties,
    /// Seed of the seeded choice.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads for the search of nodes. Decisions do not depend on it.
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    /// Add how long each part of the last cycle took; reading the files is not part of it.
    #[arg(long)]
    time: bool,
    /// The moment the first cycle stands for (RFC 3339); the clock when not given. Interference reports are judged by it.
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    /// Queue of PodGroups that name none; it is made when the files have none of that name.
    #[arg(long, default_value = "default", value_name = "NAME")]
    default_queue: String,
    /// Pods of these schedulers are placed; repeat for several.
    #[arg(long, default_value = "volcano", value_name = "NAME")]
    scheduler_name: Vec<String>,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Output::Wide)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ties {
    /// Spread by the seed and the pod.
    Seeded,
    /// The lowest node name.
    LowestName,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// Tables for people.
    Wide,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// Exit code when some of the input could not be read; the rest was simulated all the same.
const INPUT_REFUSED: u8 = 1;

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.cycles == 0 {
        bail!("--cycles 0 decides nothing: give 1 or more");
    }
    let now = start(arguments)?;
    let conf = input::read_conf(arguments.conf.as_deref())?;
    let objects = input::read_cluster(arguments)?;
    for error in &objects.errors {
        eprintln!("mcoctl: {error}");
    }
    let refused = !objects.errors.is_empty();
    let mut world = World::new(&arguments.default_queue);
    world.apply(input::default_queue(&arguments.default_queue));
    for event in objects.events {
        world.apply(event);
    }
    let registry = Registry::new();
    let mut report = Report {
        errors: objects.errors,
        ignored: objects.ignored,
        ..Report::default()
    };
    for cycle in 0..arguments.cycles {
        let parameters = CycleParameters {
            uid: format!("cycle-{}", cycle + 1).into(),
            now: Time(now.0 + 1000 * cycle as i64),
            tie_break: match arguments.tie_break {
                Ties::Seeded => TieBreak::Seeded(arguments.seed.wrapping_add(cycle as u64)),
                Ties::LowestName => TieBreak::LowestName,
            },
            threads: arguments.threads,
        };
        let mut watch = Stopwatch::start();
        let outcome = run_cycle_with(
            world.cluster_mut(),
            &conf,
            &registry,
            parameters,
            &mut |phase, _| watch.lap(phase),
        );
        report.timing = arguments.time.then(|| watch.stop(&outcome));
        let decided = world.decided(&outcome);
        report.add_cycle(world.cluster(), &outcome, &decided);
        if cycle + 1 < arguments.cycles {
            world.settle(&decided);
        }
    }
    if arguments.cycles == 1 {
        report.per_cycle.clear();
    }
    print::print(&report, arguments.output)?;
    Ok(if refused {
        ExitCode::from(INPUT_REFUSED)
    } else {
        ExitCode::SUCCESS
    })
}

/// The moment of the first cycle.
fn start(arguments: &Arguments) -> Result<Time> {
    let moment = match &arguments.now {
        None => jiff::Timestamp::now(),
        Some(text) => text.parse().with_context(|| {
            format!("--now {text:?} is no moment in time: write it like 2026-01-31T12:00:00Z")
        })?,
    };
    Ok(Time(moment.as_millisecond()))
}
