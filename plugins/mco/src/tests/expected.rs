//! Expected load: what is placed raises the level of its node for a while.

use super::fixture::*;
use crate::{McoFactory, NAME, NEUTRAL_SCORE};
use mco_framework::conf::{Arguments, PluginOption, SchedulerConf, Value};
use mco_framework::fit::FitLog;
use mco_framework::view::Facts;
use mco_framework::{OpenContext, PluginFactory, Session, Statement, View};
use mco_model::interference::NodeInterference;
use mco_model::time::Time;
use mco_model::{Cluster, NodeId, TaskId};

fn load(level_per_task: f64, seconds: f64) -> Arguments {
    let pairs = [
        ("levelPerTask", Value::Float(level_per_task)),
        ("seconds", Value::Float(seconds)),
    ];
    [("expectedLoad", map(&pairs))].into_iter().collect()
}

const NOW: Time = Time::from_seconds(100);

/// Nodes `a` and `b` of these levels, node `dark` without one, and pods `p` and `p0` to `p9`.
fn cluster(a: f64, b: f64) -> Cluster {
    let mut cluster = Cluster::new("default");
    for name in ["a", "b", "dark"] {
        node(&mut cluster, name, |_| ());
    }
    pod(&mut cluster, None);
    for number in 0..10 {
        named_pod(&mut cluster, &format!("p{number}"), None);
    }
    cluster.apply(report(&[
        ("a", entry(a, 0.0, 0.0)),
        ("b", entry(b, 0.0, 0.0)),
        ("dark", NodeInterference::default()),
    ]));
    cluster
}

fn ids(session: &Session<'_>, pod: &str, node: &str) -> (TaskId, NodeId) {
    let view = session.view();
    (view.find_task("t", pod).unwrap(), view.nodes.find(node).unwrap())
}

fn allocate(statement: &mut Statement<'_, '_>, pod: &str, node: &str) {
    let (task, node) = ids(statement.session(), pod, node);
    statement.allocate(task, node);
}

fn assert_scores(found: &[f64], expected: [f64; 3], when: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{when}: {found}, not {expected}");
    }
    assert_eq!(found.len(), 3, "{when}");
}

#[test]
fn a_placement_raises_the_level_of_its_node_up_to_one() {
    let rows = [
        // level per task, pods on a, scores of a, b and dark
        (0.0, 2, [80.0, 60.0, NEUTRAL_SCORE]),
        (0.1, 0, [80.0, 60.0, NEUTRAL_SCORE]),
        (0.1, 1, [70.0, 60.0, NEUTRAL_SCORE]),
        (0.1, 2, [60.0, 60.0, NEUTRAL_SCORE]),
        (0.1, 8, [0.0, 60.0, NEUTRAL_SCORE]),
        (0.1, 9, [0.0, 60.0, NEUTRAL_SCORE]),
        (1.0, 1, [0.0, 60.0, NEUTRAL_SCORE]),
    ];
    for (level_per_task, pods, expected) in rows {
        let mut cluster = cluster(0.2, 0.4);
        let mut session = Scheduler::new(load(level_per_task, 10.0)).open(&mut cluster, NOW);
        let mut statement = session.begin();
        for number in 0..pods {
            allocate(&mut statement, &format!("p{number}"), "a");
        }
        // On a node without a level it changes nothing.
        allocate(&mut statement, "p9", "dark");
        let scores = answers(statement.session()).scores;
        assert_scores(&scores, expected, &format!("{pods} pods of {level_per_task}"));
    }
}

#[test]
fn what_is_undone_leaves_the_figures_as_they_were() {
    type Change = fn(&mut Statement<'_, '_>);
    let rows: [(&str, Change, [f64; 3]); 4] = [
        (
            "allocated",
            |s| allocate(s, "p1", "b"),
            [70.0, 50.0, NEUTRAL_SCORE],
        ),
        (
            "pipelined",
            |s| {
                let (task, node) = ids(s.session(), "p1", "b");
                s.pipeline(task, node);
            },
            [70.0, 60.0, NEUTRAL_SCORE],
        ),
        (
            "evicted",
            |s| {
                let (task, _) = ids(s.session(), "p0", "a");
                s.evict(task, "test");
            },
            [70.0, 60.0, NEUTRAL_SCORE],
        ),
        (
            "allocated and evicted",
            |s| {
                allocate(s, "p1", "a");
                let (task, _) = ids(s.session(), "p1", "a");
                s.evict(task, "test");
            },
            [60.0, 60.0, NEUTRAL_SCORE],
        ),
    ];
    for (name, change, expected) in rows {
        let mut cluster = cluster(0.2, 0.4);
        let mut session = Scheduler::new(load(0.1, 10.0)).open(&mut cluster, NOW);
        let mut statement = session.begin();
        allocate(&mut statement, "p0", "a");
        statement.commit();
        let before = answers(&session).scores;
        assert_scores(&before, [70.0, 60.0, NEUTRAL_SCORE], name);

        let mut statement = session.begin();
        let savepoint = statement.savepoint();
        change(&mut statement);
        assert_scores(&answers(statement.session()).scores, expected, name);
        statement.rollback_to(savepoint);
        assert_eq!(answers(statement.session()).scores, before, "{name}, rolled back");
        change(&mut statement);
        statement.discard();
        assert_eq!(answers(&session).scores, before, "{name}, discarded");
        change(&mut session.begin());
        assert_eq!(answers(&session).scores, before, "{name}, dropped");
    }
}

#[test]
fn what_was_bound_counts_for_some_seconds() {
    let mut cluster = cluster(0.2, 0.4);
    let mut scheduler = Scheduler::new(load(0.1, 10.0));
    let place = |scheduler: &Scheduler, cluster: &mut Cluster, second, pods: &[(&str, &str)]| {
        let mut session = scheduler.open(cluster, Time::from_seconds(second));
        let mut statement = session.begin();
        for (pod, node) in pods {
            allocate(&mut statement, pod, node);
        }
        statement.commit();
        // A gang that is not whole, and a placement that is undone: neither is sent.
        let mut statement = session.begin();
        allocate(&mut statement, "p8", "b");
        statement.keep();
        allocate(&mut session.begin(), "p9", "b");
        let _ = session.close();
    };
    place(
        &scheduler,
        &mut cluster,
        100,
        &[("p0", "a"), ("p1", "a"), ("p2", "b")],
    );
    place(&scheduler, &mut cluster, 105, &[("p3", "a")]);
    let dark = NEUTRAL_SCORE;
    let rows = [
        (105, [50.0, 50.0, dark]),
        (109, [50.0, 50.0, dark]),
        (110, [70.0, 60.0, dark]),
        (114, [70.0, 60.0, dark]),
        (115, [80.0, 60.0, dark]),
    ];
    for (second, expected) in rows {
        let scores = scheduler.ask(&mut cluster, Time::from_seconds(second)).scores;
        assert_scores(&scores, expected, &format!("second {second}"));
    }

    place(&scheduler, &mut cluster, 120, &[("p4", "a")]);
    let steps = [
        ("the own clock is set back", 100, [70.0, 60.0, dark]),
        ("and goes on", 109, [70.0, 60.0, dark]),
        ("until it is over", 110, [80.0, 60.0, dark]),
    ];
    for (name, second, expected) in steps {
        let scores = scheduler.ask(&mut cluster, Time::from_seconds(second)).scores;
        assert_scores(&scores, expected, name);
    }

    place(&scheduler, &mut cluster, 112, &[("p5", "a")]);
    scheduler.configure(Arguments::default());
    let off = scheduler.ask(&mut cluster, Time::from_seconds(113)).scores;
    assert_eq!(off, [80.0, 60.0, dark], "off: the formula alone");
    scheduler.configure(load(0.1, 10.0));
    let again = scheduler.ask(&mut cluster, Time::from_seconds(113)).scores;
    assert_eq!(again, [80.0, 60.0, dark], "what was switched off is forgotten");
}

#[test]
fn books_are_kept_only_when_load_is_expected() {
    let mut cluster = cluster(0.2, 0.4);
    cluster.refresh();
    let (facts, fits, conf) = (Facts::default(), FitLog::default(), SchedulerConf::default());
    for (arguments, kept) in [
        (Arguments::default(), false),
        (load(0.0, 10.0), false),
        (load(0.1, 0.0), true),
    ] {
        let option = PluginOption {
            arguments,
            ..PluginOption::named(NAME)
        };
        let mut context = OpenContext {
            view: View::new(&cluster, &facts, &fits),
            option: &option,
            conf: &conf,
            warnings: Vec::new(),
        };
        let mut plugin = McoFactory::default().open(&mut context).unwrap();
        assert_eq!(plugin.ledger().is_some(), kept, "{:?}", option.arguments);
    }
}
