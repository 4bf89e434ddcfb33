//! Time and memory of one cycle on large cluster states: by phase, wall and CPU, each state in a process of its own.

use anyhow::{Context, Result, bail};
use mco_framework::tie::TieBreak;
use mco_objects::{Options, read_objects};
use mco_registry::{CycleParameters, Phase, Registry, World, run_cycle_with};
use rustix::time::{ClockId, clock_gettime};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// States that are made when none is given: name, flags of the generator.
const STATES: [(&str, &str); 3] = [
    ("1k", "--nodes 1000 --jobs 1000 --tasks-per-job 10"),
    ("5k-10k", "--nodes 5000 --jobs 1000 --tasks-per-job 10"),
    ("5k", "--nodes 5000 --jobs 5000 --tasks-per-job 10"),
];

/// The default plugins and actions of the chart.
const CONF: &str = r#"
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins:
  - {name: overcommit}
  - {name: drf, enablePreemptable: false}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
"#;

const USAGE: &str = "usage: bench [--conf FILE] [--threads N] [--cycles N] [FILE…]
Without files the states 1k, 5k-10k and 5k are made by ../shared/bench/gen_cluster.py (MCO_SHARED names another folder).";

struct Arguments {
    conf: String,
    threads: usize,
    cycles: usize,
    files: Vec<PathBuf>,
    /// Measure in this process instead of one for each file.
    here: bool,
}

fn main() -> Result<()> {
    let passed_on: Vec<String> = std::env::args().skip(1).collect();
    let arguments = parse(&passed_on)?;
    if arguments.here {
        return arguments
            .files
            .iter()
            .try_for_each(|file| measure(file, &arguments));
    }
    let files = if arguments.files.is_empty() {
        make_states()?
    } else {
        arguments.files.clone()
    };
    println!("{}", header());
    for file in files {
        // A process for each state, so that its peak of memory is its own.
        let flags = passed_on
            .iter()
            .filter(|argument| !arguments.files.contains(&PathBuf::from(argument)));
        let mut child = Command::new(std::env::current_exe().context("cannot find this program")?);
        let status = child
            .args(flags)
            .arg("--here")
            .arg(&file)
            .status()
            .context("cannot start a measurement")?;
        if !status.success() {
            bail!("the measurement of {} failed: {status}", file.display());
        }
    }
    Ok(())
}

fn parse(given: &[String]) -> Result<Arguments> {
    let mut arguments = Arguments {
        conf: CONF.to_owned(),
        threads: 1,
        cycles: 2,
        files: Vec::new(),
        here: false,
    };
    let mut given = given.iter();
    while let Some(argument) = given.next() {
        let mut value = || {
            given
                .next()
                .with_context(|| format!("{argument} needs a value\n{USAGE}"))
        };
        match argument.as_str() {
            "--conf" => {
                let path = value()?;
                arguments.conf =
                    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            }
            "--threads" => arguments.threads = value()?.parse().context("--threads needs a number")?,
            "--cycles" => arguments.cycles = value()?.parse().context("--cycles needs a number")?,
            "--here" => arguments.here = true,
            flag if flag.starts_with('-') => bail!("unknown flag {flag}\n{USAGE}"),
            file => arguments.files.push(file.into()),
        }
    }
    Ok(arguments)
}

/// Writes the states by the shared generator, once.
fn make_states() -> Result<Vec<PathBuf>> {
    let shared = std::env::var_os("MCO_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let generator = shared.join("bench/gen_cluster.py");
    if !generator.exists() {
        bail!(
            "{} is not here: give files of objects, or set MCO_SHARED\n{USAGE}",
            generator.display()
        );
    }
    let folder = Path::new("target/bench");
    std::fs::create_dir_all(folder).context("cannot make target/bench")?;
    let mut files = Vec::new();
    for (name, flags) in STATES {
        let file = folder.join(format!("{name}.jsonl"));
        if !file.exists() {
            let mut python = Command::new("python3");
            let status = python
                .arg(&generator)
                .args(flags.split(' '))
                .arg("-o")
                .arg(&file)
                .status()
                .context("cannot run python3")?;
            if !status.success() {
                bail!("{} failed: {status}", generator.display());
            }
        }
        files.push(file);
    }
    Ok(files)
}

/// A row of the table: what, wall and CPU seconds, and what came of it.
fn row(state: &str, cycle: &str, part: &str, wall: Duration, cpu: Duration, note: &str) -> String {
    format!(
        "{state:10} {cycle:>5} {part:<10} {:>9.3} {:>9.3}  {note}",
        wall.as_secs_f64(),
        cpu.as_secs_f64()
    )
}

fn header() -> String {
    format!(
        "{:10} {:>5} {:<10} {:>9} {:>9}",
        "state", "cycle", "part", "wall s", "CPU s"
    )
}

/// Loads a state and measures its cycles. What the first one binds runs in the second.
fn measure(file: &Path, arguments: &Arguments) -> Result<()> {
    let state = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let conf =
        mco_framework::conf::read(arguments.conf.as_bytes()).context("cannot read the configuration")?;
    let registry = Registry::new();
    let watch = Watch::start();
    let mut world = load(file)?;
    let (wall, cpu) = watch.stop();
    let cluster = world.cluster();
    let (nodes, pods) = (cluster.nodes.iter().count(), cluster.tasks().count());
    println!(
        "{}",
        row(
            &state,
            "",
            "load",
            wall,
            cpu,
            &format!("{nodes} nodes, {pods} pods, {}", memory())
        )
    );
    for number in 1..=arguments.cycles {
        let parameters = CycleParameters {
            uid: format!("bench-{number}").as_str().into(),
            // 2026-06-01T12:00:00Z; nothing in a generated state depends on it.
            now: mco_model::time::Time::from_seconds(1_780_315_200 + number as i64),
            tie_break: TieBreak::Seeded(1),
            threads: arguments.threads,
        };
        let label = number.to_string();
        let (whole, mut part) = (Watch::start(), Watch::start());
        let mut rows = Vec::new();
        let outcome = run_cycle_with(
            world.cluster_mut(),
            &conf,
            &registry,
            parameters,
            &mut |phase, _| {
                let name = match phase {
                    // They are parts of opening and closing, and are measured with those.
                    Phase::PluginOpen(_) | Phase::PluginClose(_) => return,
                    Phase::Open => "open",
                    Phase::Action(name) => name,
                    Phase::Close => "close",
                };
                let (wall, cpu) = part.stop();
                rows.push(row(&state, &label, name, wall, cpu, ""));
                part = Watch::start();
            },
        );
        let (wall, cpu) = whole.stop();
        let decided = world.decided(&outcome);
        rows.iter().for_each(|row| println!("{row}"));
        let note = format!(
            "{} binds, {} evicts, {} left waiting, {}",
            decided.binds.len(),
            decided.evicts.len(),
            outcome.waiting.len(),
            memory()
        );
        println!("{}", row(&state, &label, "all", wall, cpu, &note));
        world.settle(&decided);
    }
    Ok(())
}

fn load(file: &Path) -> Result<World> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let read = read_objects(&bytes, &file.display().to_string(), &Options::default());
    if let Some(error) = read.errors.first() {
        bail!("{error}");
    }
    let mut world = World::new("default");
    read.events.into_iter().for_each(|event| world.apply(event));
    Ok(world)
}

/// Wall time, and CPU time of all threads of the process.
struct Watch {
    wall: Instant,
    cpu: Duration,
}

impl Watch {
    fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    fn stop(&self) -> (Duration, Duration) {
        (self.wall.elapsed(), cpu_time().saturating_sub(self.cpu))
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Memory now and at its peak, as the kernel counts it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mib = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim()
            .trim_end_matches(" kB")
            .parse::<f64>()
            .ok()
            .map(|kib| kib / 1024.0)
    };
    match (mib("VmRSS:"), mib("VmHWM:")) {
        (Some(now), Some(peak)) => format!("RSS {now:.0} MiB, peak {peak:.0} MiB"),
        _ => "memory unknown".to_owned(),
    }
}
