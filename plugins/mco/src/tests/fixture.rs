//! Small clusters, and a scheduler with this plugin alone that looks at them session after session.

use crate::{McoFactory, NAME};
use mco_framework::conf::{Arguments, PluginOption, SchedulerConf, Tier, Value};
use mco_framework::{
    Dependence, NodeScore, PluginFactory, Plugins, Refusal, Scores, Session, SessionParameters, TieBreak,
    Verdicts,
};
use mco_model::event::{Amounts, NodeRecord, PodPhase, PodRecord};
use mco_model::interference::{InterferenceReport, NodeInterference};
use mco_model::time::Time;
use mco_model::{Cluster, Event, NodeId};

/// What the plugin says to the pod `p` on each node, by name.
pub struct Answers {
    pub refusals: Vec<(String, Option<Box<Refusal>>)>,
    pub scores: Vec<f64>,
    /// Those of the whole session.
    pub warnings: Vec<String>,
}

impl Answers {
    pub fn refusal(&self, node: &str) -> Option<&Refusal> {
        let (_, refusal) = self.refusals.iter().find(|(name, _)| name == node).unwrap();
        refusal.as_deref()
    }

    pub fn code(&self, node: &str) -> Option<&'static str> {
        self.refusal(node).map(|refusal| refusal.reason.code)
    }
}

/// The plugin as it lives in a process, with its arguments.
pub struct Scheduler {
    known: Known,
    conf: SchedulerConf,
}

struct Known(McoFactory);

impl Plugins for Known {
    fn find(&self, name: &str) -> Option<&dyn PluginFactory> {
        (name == NAME).then_some(&self.0)
    }
}

impl Scheduler {
    pub fn new(arguments: Arguments) -> Self {
        let mut scheduler = Self {
            known: Known(McoFactory::default()),
            conf: SchedulerConf::default(),
        };
        scheduler.configure(arguments);
        scheduler
    }

    /// Reads other arguments, as from a file that changed.
    pub fn configure(&mut self, arguments: Arguments) {
        let option = PluginOption {
            arguments,
            ..PluginOption::named(NAME)
        };
        self.conf.tiers = vec![Tier {
            plugins: vec![option],
        }];
    }

    pub fn open<'c>(&self, cluster: &'c mut Cluster, now: Time) -> Session<'c> {
        let parameters = SessionParameters {
            uid: "session".into(),
            now,
            tie_break: TieBreak::LowestName,
            threads: 1,
        };
        Session::open(cluster, &self.conf, &self.known, parameters)
    }

    /// A session that only looks.
    pub fn ask(&self, cluster: &mut Cluster, now: Time) -> Answers {
        let session = self.open(cluster, now);
        let answers = answers(&session);
        Answers {
            warnings: session.close().warnings,
            ..answers
        }
    }
}

/// The first session of a process.
pub fn ask(cluster: &mut Cluster, now: Time, arguments: Arguments) -> Answers {
    Scheduler::new(arguments).ask(cluster, now)
}

/// What the plugin says at this point of the session.
pub fn answers(session: &Session<'_>) -> Answers {
    let view = session.view();
    let task = view.find_task("t", "p").unwrap();
    let nodes: Vec<NodeId> = view.nodes.ready().to_vec();
    assert_eq!(session.filter_dependence(task), Dependence::ClassAndNode);
    assert_eq!(session.score_dependence(task), Dependence::ClassAndNode);
    let mut refusals = vec![None; nodes.len()];
    for predicate in session.predicates() {
        predicate
            .prepare(view, task)
            .check(&nodes, &mut Verdicts::new(&mut refusals));
    }
    let (mut scores, mut failed) = (vec![0.0; nodes.len()], vec![false; nodes.len()]);
    for order in session.node_orders() {
        NodeScore::score(
            order.prepare(view, task).as_ref(),
            &nodes,
            &mut Scores::new(&mut scores, &mut failed),
        );
    }
    let names = nodes.iter().map(|node| view.nodes.row(*node).name.to_string());
    Answers {
        refusals: names.zip(refusals).collect(),
        scores,
        warnings: Vec::new(),
    }
}

pub fn node(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut NodeRecord)) {
    let mut record = NodeRecord {
        name: name.into(),
        ready: true,
        allocatable: Amounts {
            milli_cpu: 8000.0,
            memory: 1e9,
            scalars: vec![("pods".into(), 110.0)],
            given: true,
        },
        ..NodeRecord::default()
    };
    change(&mut record);
    cluster.apply(Event::NodeSet(Box::new(record)));
}

/// The pod that nodes are asked about.
pub fn pod(cluster: &mut Cluster, runtime: Option<&str>) {
    named_pod(cluster, "p", runtime);
}

pub fn named_pod(cluster: &mut Cluster, name: &str, runtime: Option<&str>) {
    let mut record = PodRecord {
        namespace: "t".into(),
        name: name.into(),
        uid: name.into(),
        ours: true,
        request: Amounts {
            milli_cpu: 1000.0,
            memory: 1.0,
            scalars: vec![("pods".into(), 1.0)],
            given: true,
        },
        phase: PodPhase::Pending,
        ..PodRecord::default()
    };
    record.spec.runtime_class = runtime.map(Into::into);
    cluster.apply(Event::PodSet(Box::new(record)));
}

pub fn entry(level: f64, memory_full: f64, io_some: f64) -> NodeInterference {
    NodeInterference {
        ok: true,
        level: Some(level),
        psi_available: true,
        psi_memory_full_avg10: Some(memory_full),
        psi_io_some_avg10: Some(io_some),
        ..NodeInterference::default()
    }
}

/// A report seen to change 100 s after the epoch.
pub fn report(nodes: &[(&str, NodeInterference)]) -> Event {
    report_at(100, nodes)
}

pub fn report_at(seconds: i64, nodes: &[(&str, NodeInterference)]) -> Event {
    Event::ReportSet(Box::new(InterferenceReport {
        last_update: None,
        changed_at: Some(Time::from_seconds(seconds)),
        nodes: nodes
            .iter()
            .map(|(name, entry)| ((*name).into(), entry.clone()))
            .collect(),
    }))
}

/// A mapping of arguments.
pub fn map(pairs: &[(&str, Value)]) -> Value {
    Value::Map(
        pairs
            .iter()
            .map(|(key, value)| (Value::Str((*key).into()), value.clone()))
            .collect(),
    )
}
