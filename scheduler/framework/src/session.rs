//! A session: plugins opened on the live cluster, asked by actions, closed with an outcome. It is the only place that
//! changes the cluster while decisions are made.

use crate::close::{self, CloseReport, JobOutcome, SessionOutcome, TaskOutcome};
use crate::conf::SchedulerConf;
use crate::fit::{FitErrors, FitLog};
use crate::plugin::{OpenContext, PluginFactory, SessionPlugin};
use crate::points::Ledger;
use crate::reason::Reason;
use crate::statement::{Operation, Statement};
use crate::table::Table;
use crate::tie::TieBreak;
use crate::view::{Facts, View};
use mco_model::event::{PodGroupPhase, PodGroupStatus};
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::time::Time;
use mco_model::{Cluster, Decision, JobId, NodeId, TaskId};
use std::collections::HashMap;
use std::sync::Arc;

/// What a session needs to know besides the cluster and the configuration.
#[derive(Clone, Debug)]
pub struct SessionParameters {
    /// Id of the session; conditions carry it.
    pub uid: Text,
    /// The moment the session stands for.
    pub now: Time,
    /// The choice among equally good nodes.
    pub tie_break: TieBreak,
    /// Threads for the search of nodes; 1 or more. Decisions do not depend on it.
    pub threads: usize,
}

/// The plugins that exist, by name.
pub trait Plugins {
    /// The factory of that name.
    fn find(&self, name: &str) -> Option<&dyn PluginFactory>;
}

/// An open session.
pub struct Session<'c> {
    cluster: &'c mut Cluster,
    facts: Facts,
    fits: FitLog,
    pub(crate) plugins: Vec<Box<dyn SessionPlugin>>,
    pub(crate) table: Table,
    actions: Vec<String>,
    tie_break: TieBreak,
    threads: usize,
    /// Pods placed and evicted here are seen by filters and scores.
    pods_in_sight: bool,
    kept: Vec<Operation>,
    /// Bound without being in sight: to be seen when the next session opens.
    unseen: Vec<(TaskId, NodeId)>,
    /// Evicted for good: still there when the next session opens.
    evicted: Vec<TaskId>,
    group_before: HashMap<JobId, PodGroupStatus>,
    decisions: Vec<Decision>,
    warnings: Vec<String>,
}

impl<'c> Session<'c> {
    /// Opens a session: brings the cluster's sums up to date and opens the plugins of the configuration, tier by tier.
    /// A plugin that is unknown or cannot take part is told of and left out.
    pub fn open(
        cluster: &'c mut Cluster,
        conf: &SchedulerConf,
        known: &dyn Plugins,
        parameters: SessionParameters,
    ) -> Self {
        cluster.refresh();
        let facts = Facts {
            uid: parameters.uid,
            now: parameters.now,
        };
        let fits = FitLog::default();
        let mut warnings = Vec::new();
        let mut plugins: Vec<Box<dyn SessionPlugin>> = Vec::new();
        for option in conf.plugins() {
            let Some(factory) = known.find(&option.name) else {
                warnings.push(format!("unknown plugin `{}`: it is left out", option.name));
                continue;
            };
            let view = View::new(cluster, &facts, &fits);
            let mut context = OpenContext {
                view,
                option,
                conf,
                warnings: Vec::new(),
            };
            match factory.open(&mut context) {
                Ok(plugin) => plugins.push(plugin),
                Err(error) => context.warnings.push(format!("{error}: it is left out")),
            }
            warnings.append(&mut context.warnings);
        }
        let table = Table::build(conf, &mut plugins);
        let pods_in_sight = plugins.iter().any(|plugin| plugin.keeps_pods_in_sight());
        Self {
            cluster,
            facts,
            fits,
            plugins,
            table,
            actions: conf.actions.clone(),
            tie_break: parameters.tie_break,
            threads: parameters.threads.max(1),
            pods_in_sight,
            kept: Vec::new(),
            unseen: Vec::new(),
            evicted: Vec::new(),
            group_before: HashMap::new(),
            decisions: Vec::new(),
            warnings,
        }
    }

    /// The state of the moment.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::new(self.cluster, &self.facts, &self.fits)
    }

    /// The configuration runs an action of that name.
    #[must_use]
    pub fn runs_action(&self, name: &str) -> bool {
        self.actions.iter().any(|action| action == name)
    }

    /// Threads for the search of nodes.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// One of the equally good nodes.
    #[must_use]
    pub fn tie_break(&self, task: TaskId, best: &[NodeId]) -> Option<NodeId> {
        self.tie_break.choose(self.cluster, task, best)
    }

    /// Where reasons are written down.
    pub fn fits_mut(&mut self) -> &mut FitLog {
        &mut self.fits
    }

    /// Gives the job's PodGroup another phase; it is written when the session closes.
    pub fn set_phase(&mut self, job: JobId, phase: PodGroupPhase) {
        let Some(group) = &self.cluster.job(job).group else {
            return;
        };
        let before = group.status.clone();
        let after = PodGroupStatus {
            phase,
            ..before.clone()
        };
        self.group_before.entry(job).or_insert(before);
        self.cluster.set_group_status(job, after);
    }

    /// Begins a statement: everything it does is undone unless it ends otherwise.
    pub fn begin(&mut self) -> Statement<'_, 'c> {
        Statement::new(self)
    }

    /// Binds every allocated task of the job, those that earlier statements only kept included.
    pub fn dispatch(&mut self, job: JobId) {
        let mut tasks: Vec<TaskId> = self.cluster.job(job).tasks(TaskStatus::Allocated).to_vec();
        let cluster = &*self.cluster;
        tasks.sort_by(|l, r| cluster.task(*l).uid.cmp(&cluster.task(*r).uid));
        for task in tasks {
            self.bind(task);
        }
    }

    // What statements do. Every change has its inverse here.

    pub(crate) fn place(&mut self, task: TaskId, node: NodeId, status: TaskStatus) {
        self.cluster.set_status(task, status);
        self.cluster.count_on(task, node);
        if self.pods_in_sight {
            self.cluster.occupy(task, node);
        }
        self.each_ledger(|ledger, view| ledger.allocated(view, task));
    }

    pub(crate) fn take_back(&mut self, task: TaskId) {
        if let Some(node) = self.cluster.task(task).node
            && self.pods_in_sight
        {
            self.cluster.vacate(task, node);
        }
        self.cluster.set_status(task, TaskStatus::Pending);
        self.cluster.uncount(task);
        self.each_ledger(|ledger, view| ledger.deallocated(view, task));
    }

    pub(crate) fn evict(&mut self, task: TaskId) {
        let node = self.cluster.task(task).node;
        self.cluster.set_status(task, TaskStatus::Releasing);
        if let Some(node) = node {
            self.cluster.count_on(task, node);
            if self.pods_in_sight {
                self.cluster.vacate(task, node);
            }
        }
        self.each_ledger(|ledger, view| ledger.deallocated(view, task));
    }

    pub(crate) fn reinstate(&mut self, task: TaskId, status: TaskStatus) {
        let node = self.cluster.task(task).node;
        self.cluster.set_status(task, status);
        if let Some(node) = node {
            self.cluster.count_on(task, node);
            if self.pods_in_sight {
                self.cluster.occupy(task, node);
            }
        }
        self.each_ledger(|ledger, view| ledger.allocated(view, task));
    }

    pub(crate) fn bind(&mut self, task: TaskId) {
        let Some(node) = self.cluster.task(task).node else {
            return;
        };
        self.cluster.set_status(task, TaskStatus::Binding);
        self.decisions.push(Decision::Bind { task, node });
        if !self.pods_in_sight {
            self.unseen.push((task, node));
        }
        self.fits.set_last_transaction(task, None);
    }

    pub(crate) fn send_eviction(&mut self, task: TaskId, reason: &'static str) {
        self.decisions.push(Decision::Evict { task, reason });
        self.evicted.push(task);
        self.fits.set_last_transaction(task, None);
    }

    pub(crate) fn keep(&mut self, operations: Vec<Operation>) {
        self.kept.extend(operations);
    }

    pub(crate) fn remember_transaction(&mut self, task: TaskId) {
        let row = self.cluster.task(task);
        self.fits.set_last_transaction(task, Some((row.status, row.node)));
    }

    fn each_ledger(&mut self, mut tell: impl FnMut(&mut dyn Ledger, View<'_>)) {
        for plugin in &mut self.plugins {
            if let Some(ledger) = plugin.ledger() {
                tell(ledger, View::new(self.cluster, &self.facts, &self.fits));
            }
        }
    }

    pub(crate) fn ask_mut<R>(
        &mut self,
        plugin: usize,
        ask: impl FnOnce(&mut dyn SessionPlugin, View<'_>) -> R,
    ) -> R {
        ask(
            self.plugins[plugin].as_mut(),
            View::new(self.cluster, &self.facts, &self.fits),
        )
    }

    /// Closes the session: plugins have their last word, PodGroups get their phase, and what was not committed is undone.
    #[must_use]
    pub fn close(mut self) -> SessionOutcome {
        let mut report = CloseReport::default();
        for plugin in &mut self.plugins {
            plugin.close(View::new(self.cluster, &self.facts, &self.fits), &mut report);
        }
        self.warnings.append(&mut report.warnings);
        for (job, message) in std::mem::take(&mut report.job_messages) {
            self.fits.set_job_message(job, message);
        }
        for (task, message) in std::mem::take(&mut report.task_messages) {
            if self.fits.errors(task).is_none() {
                let told = FitErrors {
                    common: Some(message),
                    ..FitErrors::default()
                };
                self.fits.set_errors(task, Arc::new(told));
            }
        }
        let jobs = self.close_jobs(&report);
        let waiting = self.waiting_tasks();
        let pipelined = self.pipelined();
        self.undo_kept();
        SessionOutcome {
            decisions: self.decisions,
            pipelined,
            jobs,
            waiting,
            warnings: self.warnings,
        }
    }

    fn close_jobs(&mut self, report: &CloseReport) -> Vec<JobOutcome> {
        let mut conditions: HashMap<JobId, Vec<usize>> = HashMap::new();
        for (index, (job, _)) in report.conditions.iter().enumerate() {
            conditions.entry(*job).or_default().push(index);
        }
        let ids: Vec<JobId> = self.cluster.session_jobs().map(|(id, _)| id).collect();
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            let job = self.cluster.job(id);
            let Some(group) = &job.group else { continue };
            let mut status = group.status.clone();
            for index in conditions.get(&id).into_iter().flatten() {
                let condition = &report.conditions[*index].1;
                close::put_condition(&mut status, condition, &self.facts.uid, self.facts.now);
            }
            let status = close::group_status(job, status, &self.facts.uid);
            let before = self.group_before.get(&id).unwrap_or(&group.status);
            let changed = close::differs(before, &status);
            if changed {
                self.decisions.push(Decision::PodGroupStatus {
                    job: id,
                    status: status.clone(),
                });
                self.cluster.set_group_status(id, status.clone());
            }
            let notes = self.fits.job_notes(id).to_vec();
            let summary = self.summary_of_waiting(id, status.phase);
            outcomes.push(JobOutcome {
                job: id,
                status,
                changed,
                notes,
                summary,
            });
        }
        outcomes
    }

    fn summary_of_waiting(&self, id: JobId, phase: PodGroupPhase) -> String {
        if matches!(phase, PodGroupPhase::Running | PodGroupPhase::Completed) {
            return String::new();
        }
        let job = self.cluster.job(id);
        let (pending, all) = (job.count(TaskStatus::Pending), job.task_count());
        format!(
            "{pending}/{all} tasks in gang unschedulable: {}",
            self.fits.job_summary(self.cluster, id)
        )
    }

    fn waiting_tasks(&self) -> Vec<TaskOutcome> {
        let mut waiting = Vec::new();
        for (_, job) in self.cluster.session_jobs() {
            let mut tasks: Vec<TaskId> = [TaskStatus::Allocated, TaskStatus::Pending, TaskStatus::Pipelined]
                .iter()
                .flat_map(|status| job.tasks(*status))
                .copied()
                .collect();
            tasks.sort_by(|l, r| self.cluster.task(*l).uid.cmp(&self.cluster.task(*r).uid));
            waiting.extend(tasks.into_iter().map(|task| self.task_outcome(task)));
        }
        waiting
    }

    fn task_outcome(&self, task: TaskId) -> TaskOutcome {
        let row = self.cluster.task(task);
        let told = self.fits.task_message(self.cluster, task);
        let message = if told.message.is_empty() {
            "all nodes are unavailable".to_owned()
        } else {
            told.message
        };
        TaskOutcome {
            task,
            status: row.status,
            node: row.node,
            reason: told.reason,
            message,
            errors: self.fits.errors(task).cloned(),
            note: self.fits.note(task).cloned(),
        }
    }

    fn pipelined(&self) -> Vec<(TaskId, NodeId)> {
        let placed = self.kept.iter().filter_map(|operation| match operation {
            Operation::Pipeline { task } => Some(*task),
            _ => None,
        });
        placed
            .filter(|task| self.cluster.task(*task).status == TaskStatus::Pipelined)
            .filter_map(|task| Some((task, self.cluster.task(task).node?)))
            .collect()
    }

    /// Reservations last for one session. Plugins are not told: their state ends here too.
    fn undo_kept(&mut self) {
        for operation in std::mem::take(&mut self.kept).into_iter().rev() {
            let (Operation::Pipeline { task } | Operation::Allocate { task }) = operation else {
                continue;
            };
            let row = self.cluster.task(task);
            if !matches!(row.status, TaskStatus::Allocated | TaskStatus::Pipelined) {
                continue;
            }
            if let Some(node) = row.node {
                self.cluster.vacate(task, node);
            }
            self.cluster.set_status(task, TaskStatus::Pending);
            self.cluster.uncount(task);
        }
        for (task, node) in std::mem::take(&mut self.unseen) {
            self.cluster.occupy(task, node);
        }
        for task in std::mem::take(&mut self.evicted) {
            if let Some(node) = self.cluster.task(task).node {
                // Still there when the next session looks, until its deletion is seen.
                self.cluster.vacate(task, node);
                self.cluster.occupy(task, node);
            }
        }
    }

    /// Tells of something odd that is nobody's refusal.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Writes down why a job was passed over.
    pub fn note_job(&mut self, job: JobId, reason: Reason) {
        self.fits.add_job_note(job, reason);
    }
}
