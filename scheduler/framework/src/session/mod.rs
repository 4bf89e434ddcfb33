//! A session: plugins opened on the live cluster, asked by actions, closed with an outcome. It is the only place that
//! changes the cluster while decisions are made.

mod change;
mod closing;

use crate::conf::SchedulerConf;
use crate::fit::FitLog;
use crate::plugin::{OpenContext, PluginFactory, SessionPlugin};
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
    /// Opens a session: brings the cluster's sums up to date, takes over what was odd about objects since the last one, and
    /// opens the plugins of the configuration, tier by tier. A plugin that is unknown or cannot take part is told of and
    /// left out.
    pub fn open(
        cluster: &'c mut Cluster,
        conf: &SchedulerConf,
        known: &dyn Plugins,
        parameters: SessionParameters,
    ) -> Self {
        Self::open_with(cluster, conf, known, parameters, &mut |_| {})
    }

    /// Likewise, and calls `opened` with the name of each plugin that is open.
    pub fn open_with(
        cluster: &'c mut Cluster,
        conf: &SchedulerConf,
        known: &dyn Plugins,
        parameters: SessionParameters,
        opened: &mut dyn FnMut(&str),
    ) -> Self {
        cluster.refresh();
        let facts = Facts {
            uid: parameters.uid,
            now: parameters.now,
        };
        let fits = FitLog::default();
        let mut warnings = cluster.take_warnings();
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
            opened(&option.name);
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

    /// Tells of something odd that is nobody's refusal.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Writes down why a job was passed over.
    pub fn note_job(&mut self, job: JobId, reason: Reason) {
        self.fits.add_job_note(job, reason);
    }
}
