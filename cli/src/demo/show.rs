//! The demo as it runs: reports come in, the story goes on, the scheduler decides, the screen shows it.

use super::checks::{self, Facts};
use super::files::{self, Act, Scenario};
use super::heat::{self, Heat, Limits, heat};
use super::host::Host;
use super::load::{Bounds, Load};
use super::pipeline::Pipeline;
use super::screen::Screen;
use super::stage::Stage;
use super::story::{Heated, Phase, Seen, Step, Story};
use super::summary::{self, Memory, Summary};
use super::{Arguments, Output, jobs, table};
use anyhow::{Context, Result};
use mco_crds::{NodeEntry, NodeInterferenceReportStatus};
use mco_model::time::Time;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};

/// What a process that was interrupted exits with.
const INTERRUPTED: u8 = 130;
/// How long no report may come before the story looks again all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// Plays the story to its end.
///
/// # Errors
/// Files that cannot be used, or a part that cannot start or broke.
pub async fn show(arguments: &Arguments) -> Result<Summary> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let conf = arguments.conf()?;
    let host = Host::look()?;
    let mut scenario = files::load(&arguments.cluster, &host.name)?;
    let limits = Limits::of(&conf);
    let here = host.event()?;
    let stage = Stage::new(
        conf,
        std::iter::once(here).chain(std::mem::take(&mut scenario.events)),
    );
    let profiles = std::mem::take(&mut scenario.profiles);
    let window = Duration::from_secs(arguments.window);
    let mut pipeline = Pipeline::start(&host.name, profiles, window, arguments.rules.as_deref()).await?;
    let mut show = Show::new(arguments, host, scenario, stage, limits);
    let mut interrupted = false;
    while !interrupted && show.story.phase() != Phase::Done {
        let report = tokio::select! {
            report = pipeline.next() => Some(report?),
            () = tokio::time::sleep(PATIENCE) => None,
            _ = interrupt.recv() => { interrupted = true; None }
            _ = terminate.recv() => { interrupted = true; None }
        };
        match interrupted {
            true => show.story.cut_short("it was interrupted before"),
            false => show.look(report)?,
        }
    }
    if show.heat_detail.is_empty() {
        show.heat_detail = show.told_of_heat(show.entry());
    }
    // Waits for the load's threads, each of which has at most one read to finish.
    let load = show.load.take().map(|load| {
        load.stop();
        let done = load.done();
        drop(load);
        done
    });
    pipeline.stop().await;
    Ok(show.end(load, interrupted))
}

struct Show {
    host: Host,
    names: Vec<String>,
    scenario: Scenario,
    stage: Stage,
    limits: Option<Limits>,
    story: Story,
    screen: Screen,
    bounds: Bounds,
    load: Option<Load>,
    once: bool,
    started: Instant,
    started_wall: i64,
    /// This machine's entry when it was last calm.
    calm: Option<NodeEntry>,
    if_calm: Option<BTreeMap<String, String>>,
    heat_detail: String,
    /// The highest I/O pressure of this machine under the load.
    highest: Option<f64>,
    heats: BTreeMap<String, Heat>,
    states: BTreeMap<String, (jobs::State, usize)>,
}

impl Show {
    fn new(
        arguments: &Arguments,
        host: Host,
        scenario: Scenario,
        stage: Stage,
        limits: Option<Limits>,
    ) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut screen = Screen::new(arguments.output == Output::Json);
        for problem in &scenario.problems {
            screen.say(Duration::ZERO, &format!("left out: {problem}"));
        }
        if limits.is_none() {
            screen.say(
                Duration::ZERO,
                "the configuration does not use mco-plugin: interference changes no decision",
            );
        }
        Self {
            names: std::iter::once(host.name.clone())
                .chain(scenario.nodes.iter().cloned())
                .collect(),
            host,
            scenario,
            stage,
            limits,
            story: Story::new(arguments.plan()),
            screen,
            bounds: arguments.bounds(),
            load: None,
            once: arguments.once,
            started: Instant::now(),
            started_wall: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX),
            calm: None,
            if_calm: None,
            heat_detail: String::new(),
            highest: None,
            heats: BTreeMap::new(),
            states: BTreeMap::new(),
        }
    }

    /// The wall clock at the start plus what has passed since: steps of the clock do not touch the story.
    fn now(&self) -> Time {
        let passed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        Time(self.started_wall.saturating_add(passed))
    }

    /// Takes a report in, goes on with the story, runs a cycle, shows it all.
    fn look(&mut self, report: Option<Arc<NodeInterferenceReportStatus>>) -> Result<()> {
        if let Some(report) = report {
            let now = self.now();
            self.stage.report(report, now)?;
        }
        let entry = self.entry().cloned();
        let host = heat(entry.as_ref(), self.limits);
        if host == Heat::Calm && self.load.is_none() {
            self.calm = entry.clone();
        }
        if self.load.is_some() {
            let pressure = entry.as_ref().and_then(|entry| entry.metrics.psi_io_some_avg10);
            self.highest = pressure.into_iter().chain(self.highest).reduce(f64::max);
        }
        let seen = Seen {
            at: self.started.elapsed(),
            host,
            samples: self.fewest_samples(),
            load_over: self.load.as_ref().is_some_and(Load::is_over),
        };
        let phase = self.story.phase();
        let steps = self.story.advance(seen);
        if self.story.phase() != phase {
            self.screen.say(seen.at, self.story.phase().title());
        }
        for step in steps {
            self.step(step, entry.as_ref())?;
        }
        self.stage.cycle(self.now());
        self.tell(seen.at);
        let lines = self.lines(seen.at);
        self.screen.draw(lines);
        Ok(())
    }

    fn step(&mut self, step: Step, entry: Option<&NodeEntry>) -> Result<()> {
        match step {
            Step::Arrive(act) => {
                if act == Act::Hot && *self.story.heated() != Heated::NotTried {
                    self.heat_detail = self.told_of_heat(entry);
                    self.foresee()?;
                }
                for gang in self.scenario.gangs.values().filter(|gang| gang.act == act) {
                    self.stage.arrive(gang);
                }
            }
            Step::StartLoad => self.load = Some(Load::start(self.bounds.clone())?),
            Step::StopLoad => {
                if let Some(load) = &self.load {
                    load.stop();
                }
            }
            Step::Finish => {}
        }
        Ok(())
    }

    /// Asks where the next gangs would go if this machine were as calm as it was.
    fn foresee(&mut self) -> Result<()> {
        if let Some(calm) = &self.calm {
            let gangs = self.scenario.gangs.values().filter(|gang| gang.act == Act::Hot);
            self.if_calm = Some(self.stage.what_if(gangs, &self.host.name, calm, self.now())?);
        }
        Ok(())
    }

    fn told_of_heat(&self, entry: Option<&NodeEntry>) -> String {
        if matches!(self.story.heated(), Heated::After(_)) {
            return heat::why(entry, self.limits);
        }
        if let Some(failed) = self.load.as_ref().and_then(|load| load.done().failed) {
            return format!("the load failed: {failed}");
        }
        match (self.highest, self.limits) {
            (Some(highest), Some(limits)) => format!(
                "psi_io_some reached {highest:.1}, the limit is {:.0}",
                limits.io_some
            ),
            _ => heat::why(entry, self.limits),
        }
    }

    fn entry(&self) -> Option<&NodeEntry> {
        self.stage.last_report().nodes.get(&self.host.name)
    }

    /// Samples of the node that has fewest, of those that report; 0 before this machine does.
    fn fewest_samples(&self) -> u32 {
        let nodes = &self.stage.last_report().nodes;
        if !nodes.contains_key(&self.host.name) {
            return 0;
        }
        nodes
            .values()
            .filter_map(|entry| entry.sample_count)
            .min()
            .unwrap_or(0)
    }

    /// Says what changed since the last look.
    fn tell(&mut self, at: Duration) {
        for name in &self.names {
            let entry = self.stage.last_report().nodes.get(name);
            let now = heat(entry, self.limits);
            let before = self.heats.insert(name.clone(), now);
            if before != Some(now) && (before.is_some() || entry.is_some()) {
                let level = entry.and_then(|entry| entry.interference_level);
                let level = level.map_or_else(String::new, |level| format!(", level {level:.2}"));
                let kind = if *name == self.host.name {
                    "this machine"
                } else {
                    "simulated"
                };
                let why = heat::why(entry, self.limits);
                let why = if why.is_empty() { why } else { format!(": {why}") };
                self.screen
                    .say(at, &format!("node {name} ({kind}) is {}{level}{why}", now.word()));
            }
        }
        for job in self.stage.jobs() {
            let now = (job.state, job.placed());
            if self.states.insert(job.name.clone(), now) != Some(now) {
                let line = table::job(job, &self.host.name);
                self.screen.say(at, &format!("gang {line}"));
            }
        }
    }

    fn lines(&self, at: Duration) -> Vec<String> {
        let width = self.screen.width();
        let mut lines = vec![
            format!(
                "mcoctl demo  {:.0} s  {}",
                at.as_secs_f64(),
                self.story.phase().title()
            ),
            match &self.load {
                Some(load) if !load.is_over() => {
                    let done = load.done();
                    format!("load: {} threads, {} reads so far", done.threads, done.reads)
                }
                _ => "load: none".to_owned(),
            },
            String::new(),
        ];
        lines.extend(self.tables(width));
        lines
    }

    fn tables(&self, width: u16) -> Vec<String> {
        let rows: Vec<_> = self
            .names
            .iter()
            .map(|name| table::NodeRow {
                name,
                simulated: *name != self.host.name,
                entry: self.stage.last_report().nodes.get(name),
                room: self.stage.room(name),
            })
            .collect();
        let mut lines = table::nodes(&rows, self.limits, width);
        lines.push(String::new());
        lines.extend(table::jobs(self.stage.jobs(), &self.host.name, width));
        lines
    }

    fn end(mut self, load: Option<super::load::Done>, interrupted: bool) -> Summary {
        let checks = checks::judge(&Facts {
            host: &self.host.name,
            jobs: self.stage.jobs().collect(),
            in_part: self.stage.in_part(),
            heated: self.story.heated(),
            heat_detail: self.heat_detail.clone(),
            if_calm: self.if_calm.as_ref(),
            once: self.once,
            cut_short: self.story.is_cut_short(),
        });
        let exit_code = if interrupted {
            INTERRUPTED
        } else {
            checks::exit_code(&checks)
        };
        let tables = self.tables(self.screen.width());
        let warnings = self
            .scenario
            .problems
            .iter()
            .chain(self.stage.warnings())
            .cloned()
            .collect();
        let summary = Summary {
            outcome: summary::outcome(exit_code),
            exit_code,
            checks,
            seconds: self.started.elapsed().as_secs_f64(),
            phases: summary::parts(self.story.log()),
            nodes: summary::nodes(&self.stage, &self.names, &self.host.name, self.limits),
            jobs: self.stage.jobs().cloned().collect(),
            if_calm: self.if_calm.take(),
            load,
            cycles: self.stage.cycles(),
            memory: Memory::look(),
            warnings,
            host: self.host,
        };
        let mut lines = vec![String::new()];
        lines.extend(tables);
        lines.extend(summary.lines());
        self.screen.keep(&lines);
        summary
    }
}
