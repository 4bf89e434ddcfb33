//! Small clusters for tests, built from events.

use mco_framework::conf::{PluginOption, SchedulerConf, Tier};
use mco_framework::fit::FitLog;
use mco_framework::view::Facts;
use mco_framework::{OpenContext, PluginFactory, Refusal, Scores, SessionPlugin, Verdicts, View};
use mco_model::event::{
    Amounts, NodeRecord, PodGroupPhase, PodGroupRecord, PodPhase, PodRecord, QueueRecord,
};
use mco_model::time::Time;
use mco_model::{Cluster, Event, JobId, QueueId, TaskId};

/// A cluster with what a view of it needs. Amounts are written as text: `cpu=2,memory=1e9,gpu=1`, CPU in cores, memory
/// in bytes, every other kind whole.
pub(crate) struct Fixture {
    pub(crate) cluster: Cluster,
    facts: Facts,
    fits: FitLog,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            cluster: Cluster::new("default"),
            facts: Facts::default(),
            fits: FitLog::default(),
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.cluster, &self.facts, &self.fits)
    }

    /// Views stand for that second from now on.
    pub(crate) fn at(&mut self, seconds: i64) {
        self.facts.now = Time::from_seconds(seconds);
    }

    pub(crate) fn node(&mut self, name: &str, has: &str) {
        self.node_with(name, has, |_| ());
    }

    pub(crate) fn node_with(&mut self, name: &str, has: &str, change: impl FnOnce(&mut NodeRecord)) {
        let mut record = NodeRecord {
            name: name.into(),
            allocatable: amounts(has),
            ready: true,
            max_pods: 110,
            ..NodeRecord::default()
        };
        change(&mut record);
        self.cluster.apply(Event::NodeSet(Box::new(record)));
    }

    pub(crate) fn queue(&mut self, name: &str, change: impl FnOnce(&mut QueueRecord)) -> QueueId {
        let mut record = QueueRecord {
            name: name.into(),
            weight: 1,
            reclaimable: true,
            ..QueueRecord::default()
        };
        change(&mut record);
        self.cluster.apply(Event::QueueSet(Box::new(record)));
        self.cluster.find_queue(name).unwrap()
    }

    /// A PodGroup in phase `Inqueue` in namespace `t`.
    pub(crate) fn job(&mut self, name: &str, queue: &str, change: impl FnOnce(&mut PodGroupRecord)) -> JobId {
        let mut record = PodGroupRecord {
            namespace: "t".into(),
            name: name.into(),
            queue: queue.into(),
            min_member: 1,
            ..PodGroupRecord::default()
        };
        record.status.phase = PodGroupPhase::Inqueue;
        change(&mut record);
        self.cluster.apply(Event::PodGroupSet(Box::new(record)));
        self.cluster.find_job(&format!("t/{name}")).unwrap()
    }

    /// A pod of the group; on a node it runs, without one (empty) it waits.
    pub(crate) fn pod(
        &mut self,
        name: &str,
        group: &str,
        node: &str,
        wants: &str,
        change: impl FnOnce(&mut PodRecord),
    ) -> TaskId {
        let mut request = amounts(wants);
        request.scalars.push(("pods".into(), 1.0));
        let mut record = PodRecord {
            namespace: "t".into(),
            name: name.into(),
            uid: name.into(),
            ours: true,
            node: node.into(),
            phase: if node.is_empty() {
                PodPhase::Pending
            } else {
                PodPhase::Running
            },
            group: group.into(),
            priority: 1,
            preemptable: true,
            best_effort: wants.is_empty(),
            request,
            ..PodRecord::default()
        };
        change(&mut record);
        let namespace = record.namespace.clone();
        self.cluster.apply(Event::PodSet(Box::new(record)));
        self.cluster.find_task(&namespace, name).unwrap()
    }

    /// Opens the plugin on the cluster as it is, with the first entry of `conf`.
    pub(crate) fn open(
        &mut self,
        factory: &dyn PluginFactory,
        conf: &SchedulerConf,
    ) -> Box<dyn SessionPlugin> {
        self.cluster.refresh();
        let mut context = OpenContext {
            view: View::new(&self.cluster, &self.facts, &self.fits),
            option: &conf.tiers[0].plugins[0],
            conf,
            warnings: Vec::new(),
        };
        factory.open(&mut context).unwrap()
    }

    /// Which of the ready nodes the plugin lets the task go to.
    pub(crate) fn fits(&self, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<bool> {
        self.refusals(plugin, task).iter().map(Option::is_none).collect()
    }

    /// What the plugin says to the task about each ready node.
    pub(crate) fn refusals(&self, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<Option<Box<Refusal>>> {
        let nodes = self.cluster.nodes.ready();
        let mut refusals = vec![None; nodes.len()];
        let check = plugin.predicate().unwrap().prepare(self.view(), task);
        check.check(nodes, &mut Verdicts::new(&mut refusals));
        refusals
    }

    /// The plugin's score of each ready node, not a number where scoring failed.
    pub(crate) fn scores(&self, plugin: &dyn SessionPlugin, task: TaskId) -> Vec<f64> {
        let nodes = self.cluster.nodes.ready();
        let (mut totals, mut failed) = (vec![0.0; nodes.len()], vec![false; nodes.len()]);
        let score = plugin.node_order().unwrap().prepare(self.view(), task);
        score.score(nodes, &mut Scores::new(&mut totals, &mut failed));
        let told = totals.into_iter().zip(failed);
        told.map(|(total, failed)| if failed { f64::NAN } else { total })
            .collect()
    }

    /// What the plugin finds odd when it opens with the first entry of `conf`.
    pub(crate) fn warnings(&mut self, factory: &dyn PluginFactory, conf: &SchedulerConf) -> Vec<String> {
        self.cluster.refresh();
        let mut context = OpenContext {
            view: View::new(&self.cluster, &self.facts, &self.fits),
            option: &conf.tiers[0].plugins[0],
            conf,
            warnings: Vec::new(),
        };
        factory.open(&mut context).unwrap();
        context.warnings
    }

    /// Opens the plugin without arguments.
    pub(crate) fn open_plain(&mut self, factory: &dyn PluginFactory) -> Box<dyn SessionPlugin> {
        self.open(factory, &conf(PluginOption::named(factory.name())))
    }
}

/// A configuration with one plugin and no actions.
pub(crate) fn conf(option: PluginOption) -> SchedulerConf {
    SchedulerConf {
        tiers: vec![Tier {
            plugins: vec![option],
        }],
        ..SchedulerConf::default()
    }
}

pub(crate) fn amounts(text: &str) -> Amounts {
    let mut amounts = Amounts::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, amount) = part.split_once('=').unwrap();
        let amount: f64 = amount.parse().unwrap();
        amounts.given = true;
        match name {
            "cpu" => amounts.milli_cpu = amount * 1000.0,
            "memory" => amounts.memory = amount,
            "pods" => amounts.scalars.push((name.into(), amount)),
            _ => amounts.scalars.push((name.into(), amount * 1000.0)),
        }
    }
    amounts
}
