//! The plugin `tdm`: nodes that belong to others for a part of the day are used while they are there.

pub mod budget;
pub mod zones;

use budget::TaskCounts;
use mco_framework::{
    Dependence, Evictable, Eviction, JobOrder, JobPipelined, JobStarving, NodeCheck, NodeOrder, NodeScore,
    OpenContext, PluginError, PluginFactory, Predicate, Reason, Refusal, Scores, SessionPlugin, Verdicts,
    VictimTasks, View, Vote,
};
use mco_model::job::Job;
use mco_model::status::TaskStatus;
use mco_model::time::Time;
use mco_model::{JobId, NodeId, TaskId};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use zones::Settings;

const NAME: &str = "tdm";

/// Makes the plugin `tdm`, and remembers when it last asked for evictions.
#[derive(Clone, Debug, Default)]
pub struct TdmFactory {
    asked: Arc<Mutex<Option<Time>>>,
}

impl PluginFactory for TdmFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (settings, warnings) = Settings::read(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(Tdm {
            settings,
            asked: self.asked.clone(),
        }))
    }
}

struct Tdm {
    settings: Settings,
    asked: Arc<Mutex<Option<Time>>>,
}

/// Where a node stands for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In no zone.
    Plain,
    /// In a zone that is not there now.
    Away,
    /// In a zone that is there.
    There,
}

impl Tdm {
    fn place(&self, view: View<'_>, node: NodeId) -> Place {
        let zone = &view.nodes.row(node).revocable_zone;
        if zone.is_empty() {
            Place::Plain
        } else if self.settings.is_there(zone, view.now(), view.utc_offset()) {
            Place::There
        } else {
            Place::Away
        }
    }

    /// Notes that evictions are asked for, unless that was too short a time ago.
    fn is_time(&self, now: Time) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_some_and(|asked| self.settings.period.after(asked) > now.nanoseconds()) {
            return false;
        }
        *asked = Some(now);
        true
    }
}

impl SessionPlugin for Tdm {
    fn name(&self) -> &'static str {
        NAME
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        Some(self)
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn victim_tasks(&self) -> Option<&dyn VictimTasks> {
        Some(self)
    }
    fn job_order(&self) -> Option<&dyn JobOrder> {
        Some(self)
    }
    fn job_pipelined(&self) -> Option<&dyn JobPipelined> {
        Some(self)
    }
    fn job_starving(&self) -> Option<&dyn JobStarving> {
        Some(self)
    }
}

/// A task looking at nodes.
struct Looking<'v> {
    tdm: &'v Tdm,
    view: View<'v>,
    /// It may use nodes that are taken away at times.
    revocable: bool,
}

impl Predicate for Tdm {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        Box::new(Looking::of(self, view, task))
    }
}

impl NodeOrder for Tdm {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v> {
        Box::new(Looking::of(self, view, task))
    }
}

impl<'v> Looking<'v> {
    fn of(tdm: &'v Tdm, view: View<'v>, task: TaskId) -> Self {
        Self {
            tdm,
            view,
            revocable: view.spec(task).revocable,
        }
    }

    fn refusal(&self, node: NodeId) -> Option<Refusal> {
        let zone = || &self.view.cluster().nodes.row(node).revocable_zone;
        let reason = match self.tdm.place(self.view, node) {
            Place::Away => Reason::about(
                NAME,
                "zone_away",
                format!("revocable zone {} is not there now", zone()),
            ),
            Place::There if !self.revocable => {
                let text = format!("pod may not use nodes of revocable zone {}", zone());
                Reason::about(NAME, "not_revocable", text)
            }
            Place::Plain | Place::There => return None,
        };
        // Volcano 1.9 does not say that evictions cannot help, and evicts for pods that may still not go there.
        Some(Refusal::unresolvable(reason))
    }
}

impl NodeCheck for Looking<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        verdicts.each(nodes, |node| self.refusal(node));
    }
}

impl NodeScore for Looking<'_> {
    /// Who may use nodes of zones is drawn to them, so that other nodes are left to others.
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        for (index, node) in nodes.iter().enumerate() {
            match self.tdm.place(self.view, *node) {
                Place::Away => scores.fail(index),
                Place::There if self.revocable => scores.add(index, 100.0),
                Place::Plain | Place::There => {}
            }
        }
    }
}

impl Evictable for Tdm {
    /// Running tasks that may be evicted, on nodes in no zone, within the budgets of their jobs. Nobody goes for a task that
    /// may be evicted itself or could use a zone.
    fn victims(&self, view: View<'_>, evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        if view.task(evictor).preemptable || view.spec(evictor).revocable {
            return Eviction::Victims(Vec::new());
        }
        let is_outside = |task: &TaskId| {
            let node = view.task(*task).node;
            node.is_some_and(|node| view.nodes.row(node).ready && self.place(view, node) == Place::Plain)
        };
        let candidates = candidates
            .iter()
            .copied()
            .filter(|task| is_evictable(view, *task))
            .filter(is_outside);
        Eviction::Victims(within_budgets(view, candidates))
    }
}

impl VictimTasks for Tdm {
    /// Running tasks that may be evicted, on nodes of zones that are not there now, within the budgets of their jobs.
    fn victims(&self, view: View<'_>, _tasks: &[TaskId]) -> Vec<TaskId> {
        if !self.is_time(view.now()) {
            return Vec::new();
        }
        let is_away = |zone: &&zones::Zone| !zone.is_there(view.now(), view.utc_offset());
        let zones = self.settings.zones.iter().filter(is_away);
        zones
            .flat_map(|zone| within_budgets(view, tasks_in(view, &zone.name).into_iter()))
            .collect()
    }
}

fn is_evictable(view: View<'_>, task: TaskId) -> bool {
    let task = view.task(task);
    task.preemptable && task.status == TaskStatus::Running
}

/// Tasks that may be evicted on nodes of the zone: by name of the node, then by UID.
fn tasks_in(view: View<'_>, zone: &str) -> Vec<TaskId> {
    if zone.is_empty() {
        return Vec::new();
    }
    let rows = view
        .cluster()
        .nodes
        .ready()
        .iter()
        .map(|node| view.cluster().nodes.row(*node));
    let mut rows: Vec<_> = rows.filter(|row| *row.revocable_zone == *zone).collect();
    rows.sort_by(|left, right| left.name.cmp(&right.name));
    let mut found = Vec::new();
    for row in rows {
        let mut tasks: Vec<TaskId> = row
            .tasks
            .iter()
            .copied()
            .filter(|task| is_evictable(view, *task))
            .collect();
        tasks.sort_by(|left, right| view.task(*left).uid.cmp(&view.task(*right).uid));
        found.extend(tasks);
    }
    found
}

/// The first tasks of each job, as many as its budget lets go; jobs by UID.
fn within_budgets(view: View<'_>, tasks: impl Iterator<Item = TaskId>) -> Vec<TaskId> {
    let mut jobs: BTreeMap<&str, (&Job, Vec<TaskId>)> = BTreeMap::new();
    for task in tasks {
        let job = view.task(task).job.map(|job| view.cluster().job(job));
        let Some(job) = job.filter(|job| job.group.is_some() && job.queue.is_some()) else {
            continue;
        };
        jobs.entry(&job.uid)
            .or_insert_with(|| (job, Vec::new()))
            .1
            .push(task);
    }
    let within = jobs.into_values().flat_map(|(job, tasks)| {
        let most = budget::may_go(job.group.as_ref().and_then(|group| group.budget), counts(job));
        tasks.into_iter().take(most)
    });
    within.collect()
}

fn counts(job: &Job) -> TaskCounts {
    TaskCounts {
        all: job.task_count(),
        running: job.count(TaskStatus::Running),
        finished: job.count(TaskStatus::Succeeded) + job.count(TaskStatus::Failed),
    }
}

fn is_preemptable(view: View<'_>, job: JobId) -> bool {
    view.job(job)
        .group
        .as_ref()
        .is_some_and(|group| group.preemptable)
}

impl JobOrder for Tdm {
    /// Jobs that may not be evicted come first.
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering {
        is_preemptable(view, left).cmp(&is_preemptable(view, right))
    }
}

impl JobPipelined for Tdm {
    fn pipelined(&self, view: View<'_>, job: JobId) -> Vote {
        if view.job(job).is_pipelined() {
            return Vote::Permit;
        }
        Vote::Reject(Reason::fixed(
            NAME,
            "short",
            "too few tasks have or wait for a place",
        ))
    }
}

impl JobStarving for Tdm {
    /// Even a job that has its minimum takes from others while tasks of it wait, unless it may be evicted itself.
    fn starving(&self, view: View<'_>, job: JobId) -> bool {
        !is_preemptable(view, job) && view.job(job).count(TaskStatus::Pending) > 0
    }
}

#[cfg(test)]
mod tests;
