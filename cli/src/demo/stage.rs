//! The scheduler of the demo: the real core over a cluster in memory, told of reports and arrivals by events, with an eye on
//! what every node said to the gangs that waited.

use super::candidates::{Candidate, candidates};
use super::files::{Act, Gang};
use super::jobs::{self, Job};
use anyhow::{Context, Result};
use mco_crds::{NodeEntry, NodeInterferenceReport, NodeInterferenceReportStatus, SINGLETON};
use mco_framework::TieBreak;
use mco_framework::conf::SchedulerConf;
use mco_model::Event;
use mco_model::event::QueueRecord;
use mco_model::time::Time;
use mco_objects::{Options, decode};
use mco_registry::{CycleParameters, Decided, Phase, Registry, World, run_cycle_with};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The queue of PodGroups that name none.
const DEFAULT_QUEUE: &str = "default";
/// Spreads equal choices; any number would do, but always the same one.
const SEED: u64 = 1;

/// Cluster, configuration and what became of every gang so far.
pub struct Stage {
    world: World,
    conf: Arc<SchedulerConf>,
    registry: Registry,
    cycles: u64,
    gangs: BTreeMap<String, Act>,
    jobs: BTreeMap<String, Job>,
    report: Arc<NodeInterferenceReportStatus>,
    in_part: BTreeSet<String>,
    warnings: BTreeSet<String>,
}

/// What a cycle did.
struct Cycle {
    decided: Decided,
    /// What every node said to the first waiting task of each job, by the job's name.
    candidates: BTreeMap<String, Vec<Candidate>>,
    told: BTreeMap<String, String>,
    warnings: Vec<String>,
}

impl Stage {
    /// A cluster with what `events` bring and no gang yet.
    pub fn new(conf: SchedulerConf, events: impl IntoIterator<Item = Event>) -> Self {
        let mut world = World::new(DEFAULT_QUEUE);
        // Files may bring their own of this name.
        world.apply(Event::QueueSet(Box::new(QueueRecord {
            name: DEFAULT_QUEUE.into(),
            weight: 1,
            reclaimable: true,
            ..QueueRecord::default()
        })));
        for event in events {
            world.apply(event);
        }
        Self {
            world,
            conf: Arc::new(conf),
            registry: Registry::new(),
            cycles: 0,
            gangs: BTreeMap::new(),
            jobs: BTreeMap::new(),
            report: Arc::default(),
            in_part: BTreeSet::new(),
            warnings: BTreeSet::new(),
        }
    }

    /// Takes in the report as seen at `now`.
    ///
    /// # Errors
    /// When it cannot be read back, which is a bug.
    pub fn report(&mut self, status: Arc<NodeInterferenceReportStatus>, now: Time) -> Result<()> {
        self.world.apply(report_event(&status, now)?);
        self.report = status;
        Ok(())
    }

    /// A gang arrives.
    pub fn arrive(&mut self, gang: &Gang) {
        self.gangs.insert(gang.uid.clone(), gang.act);
        for event in &gang.events {
            self.world.apply(event.clone());
        }
    }

    /// Runs a cycle and lets what it decided take effect.
    pub fn cycle(&mut self, now: Time) {
        self.cycles += 1;
        let cycle = run(&mut self.world, &self.conf, &self.registry, self.cycles, now);
        self.world.settle(&cycle.decided);
        self.warnings.extend(cycle.warnings);
        let cluster = self.world.cluster();
        for (uid, act) in &self.gangs {
            let Some(id) = cluster.find_job(uid) else { continue };
            let before = self.jobs.remove(uid);
            let asked = cycle.candidates.get(uid).cloned();
            let told = cycle.told.get(uid).cloned();
            let job = jobs::view(cluster, id, *act, before, asked, told);
            if job.state == jobs::State::Part {
                self.in_part.insert(uid.clone());
            }
            self.jobs.insert(uid.clone(), job);
        }
    }

    /// Where the pods of these gangs would go if they came now and `host` were as in `calm`. Nothing here changes.
    ///
    /// # Errors
    /// As [`Stage::report`].
    pub fn what_if<'g>(
        &self,
        gangs: impl Iterator<Item = &'g Gang>,
        host: &str,
        calm: &NodeEntry,
        now: Time,
    ) -> Result<BTreeMap<String, String>> {
        let mut world = self.world.clone();
        let mut status = NodeInterferenceReportStatus::clone(&self.report);
        status.nodes.insert(host.to_owned(), calm.clone());
        world.apply(report_event(&status, now)?);
        for event in gangs.flat_map(|gang| &gang.events) {
            world.apply(event.clone());
        }
        // A registry of its own: plugins that remember must not remember this.
        let cycle = run(&mut world, &self.conf, &Registry::new(), self.cycles + 1, now);
        let binds = cycle
            .decided
            .binds
            .iter()
            .map(|(pod, node)| (pod.to_string(), node.to_string()));
        Ok(binds.collect())
    }

    /// The last report taken in.
    pub fn last_report(&self) -> &NodeInterferenceReportStatus {
        &self.report
    }

    /// Gangs that arrived, by their names.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// Gangs that were ever seen with some pods placed, but fewer than their minimum.
    pub fn in_part(&self) -> &BTreeSet<String> {
        &self.in_part
    }

    /// What was odd about configuration and objects, each told once.
    pub fn warnings(&self) -> &BTreeSet<String> {
        &self.warnings
    }

    /// Cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Pods on the node, and its CPU in milli: free and all.
    pub fn room(&self, node: &str) -> Option<(usize, f64, f64)> {
        let nodes = &self.world.cluster().nodes;
        let id = nodes.find(node)?;
        Some((
            nodes.row(id).tasks.len(),
            nodes.idle.milli_cpu(id),
            nodes.allocatable.milli_cpu(id),
        ))
    }
}

fn run(world: &mut World, conf: &SchedulerConf, registry: &Registry, number: u64, now: Time) -> Cycle {
    let parameters = CycleParameters {
        uid: format!("demo-{number}").as_str().into(),
        now,
        tie_break: TieBreak::Seeded(SEED),
        threads: 1,
    };
    // Gangs are asked about once they are admitted; without that action at once.
    let admits = conf.actions.iter().any(|action| action == "enqueue");
    let mut asked = BTreeMap::new();
    let outcome = run_cycle_with(
        world.cluster_mut(),
        conf,
        registry,
        parameters,
        &mut |phase, session| {
            let is_time = match phase {
                Phase::Open => !admits,
                Phase::Action(name) => name == "enqueue",
                Phase::PluginOpen(_) | Phase::PluginClose(_) | Phase::Close => false,
            };
            if let Some(session) = session.filter(|_| is_time) {
                asked = candidates(session);
            }
        },
    );
    Cycle {
        decided: world.decided(&outcome),
        candidates: asked,
        told: jobs::told(world.cluster(), &outcome),
        warnings: outcome.warnings,
    }
}

/// The report as a watcher would bring it: through its JSON, and seen to change now.
fn report_event(status: &NodeInterferenceReportStatus, now: Time) -> Result<Event> {
    let object = NodeInterferenceReport::new(SINGLETON, status.clone());
    let decoded = decode(&serde_json::to_vec(&object)?, &Options::default())?;
    match decoded.event {
        Some(Event::ReportSet(mut report)) => {
            report.changed_at = Some(now);
            Ok(Event::ReportSet(report))
        }
        _ => None.context("the report became no event"),
    }
}
