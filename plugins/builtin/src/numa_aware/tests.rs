use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{PluginOption, Value};
use mco_model::Event;
use mco_model::event::PodPhase;
use mco_model::extra::{CpuPlace, NumaRecord};

fn set(text: &str) -> CpuSet {
    CpuSet::parse(text).unwrap()
}

/// What the exporter of a node says: `numas` NUMA nodes of 4 CPUs each, with these free.
fn seen(fixture: &mut Fixture, node: &str, numas: u32, policy: &str, free: &str) {
    let place = |cpu: u32| CpuPlace {
        numa: cpu / 4,
        socket: cpu / 4,
        core: cpu,
    };
    fixture.cluster.apply(Event::NumatopologySet(Box::new(NumaRecord {
        node: node.into(),
        cpu_policy: "static".into(),
        topology_policy: policy.into(),
        reserved_milli_cpu: None,
        free: [("cpu".into(), set(free))].into(),
        cpus: (0..numas * 4).map(|cpu| (cpu, place(cpu))).collect(),
    })));
}

/// Nodes `a` and `b` with two NUMA nodes, of which the first is half used on `b`, and `plain`, of which nothing is known.
fn fixture(policy: &str) -> Fixture {
    let mut fixture = Fixture::new();
    for name in ["a", "b", "plain"] {
        fixture.node(name, "cpu=8");
    }
    seen(&mut fixture, "a", 2, policy, "0-7");
    seen(&mut fixture, "b", 2, policy, "2-5");
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    fixture
}

fn pod(fixture: &mut Fixture, name: &str, policy: &str, cpus: u32) -> TaskId {
    fixture.pod(name, "j", "", &format!("cpu={cpus}"), |pod| {
        pod.spec.cpus = Some(Box::new(CpuNeeds {
            policy: policy.into(),
            containers: vec![Some(cpus)],
        }));
    })
}

#[test]
fn pods_go_where_they_can_be_aligned() {
    let mut fixture = fixture("single-numa-node");
    let rows = [
        ("fits everywhere", "single-numa-node", 2, [true, true, false]),
        (
            "too large for what is free on b",
            "single-numa-node",
            3,
            [true, false, false],
        ),
        ("another policy", "restricted", 2, [false, false, false]),
        ("no policy of its own", "", 3, [true, false, true]),
    ];
    for (name, policy, cpus, fits) in rows {
        let task = pod(&mut fixture, "p", policy, cpus);
        let plugin = fixture.open_plain(&NumaAwareFactory::default());
        assert_eq!(fixture.fits(&*plugin, task), fits, "{name}");
    }
    let plain = fixture.pod("shared", "j", "", "cpu=3", |_| ());
    let plugin = fixture.open_plain(&NumaAwareFactory::default());
    assert_eq!(
        fixture.fits(&*plugin, plain),
        [true, true, true],
        "no CPUs of its own"
    );
}

#[test]
fn refusals_say_why() {
    let mut fixture = fixture("restricted");
    let plugin = fixture.open_plain(&NumaAwareFactory::default());
    let task = pod(&mut fixture, "p", "restricted", 3);
    let texts: Vec<Option<String>> = fixture
        .refusals(&*plugin, task)
        .into_iter()
        .map(|refusal| refusal.map(|refusal| refusal.reason.text.to_string()))
        .collect();
    assert_eq!(
        texts,
        [
            None,
            Some("CPUs of container 0 cannot be aligned on NUMA nodes".to_owned()),
            Some("numa info is empty".to_owned()),
        ]
    );
}

/// 4 CPUs are on one NUMA node of `a` and on two of `b`: 100 - 100 x 1 / 2 and 100 - 100 x 2 / 2, each x 5.
#[test]
fn few_numa_nodes_are_better() {
    let mut fixture = fixture("best-effort");
    let mut option = PluginOption::named(NAME);
    option.arguments.set(WEIGHT, Value::Int(5));
    let (wide, loose) = (
        pod(&mut fixture, "wide", "best-effort", 4),
        pod(&mut fixture, "loose", "", 4),
    );
    let plugin = fixture.open(&NumaAwareFactory::default(), &conf(option));
    let nodes: Vec<NodeId> = fixture.cluster.nodes.ready()[..2].to_vec();
    let score = |task| {
        let mut scores = vec![0.0; 2];
        plugin
            .batch_node_order()
            .unwrap()
            .score(fixture.view(), task, &nodes, &mut scores)
            .unwrap();
        scores
    };
    assert_eq!(score(wide), [250.0, 0.0]);
    assert_eq!(score(loose), [0.0, 0.0], "no policy of its own");
}

#[test]
fn points_go_down_to_nothing_for_the_worst() {
    assert_eq!(points(&[1, 2, 4]), [75, 50, 0]);
    assert_eq!(points(&[1, 3]), [67, 0], "whole numbers: 100 - 33");
    assert_eq!(points(&[0, 0]), [100, 100]);
    assert_eq!(points(&[]), [0; 0]);
}

fn place(fixture: &mut Fixture, task: TaskId, node: &str, status: TaskStatus) {
    let node = fixture.cluster.nodes.find(node).unwrap();
    fixture.cluster.set_status(task, status);
    fixture.cluster.count_on(task, node);
}

#[test]
fn cpus_given_in_a_session_are_not_given_again_until_they_are_given_back() {
    let mut fixture = fixture("single-numa-node");
    let (first, second) = (
        pod(&mut fixture, "first", "single-numa-node", 4),
        pod(&mut fixture, "second", "single-numa-node", 4),
    );
    let third = pod(&mut fixture, "third", "single-numa-node", 1);
    let mut plugin = fixture.open_plain(&NumaAwareFactory::default());
    for task in [first, second] {
        assert!(fixture.fits(&*plugin, task)[0]);
        place(&mut fixture, task, "a", TaskStatus::Allocated);
        plugin.ledger().unwrap().allocated(fixture.view(), task);
    }
    assert!(!fixture.fits(&*plugin, third)[0]);
    fixture.cluster.set_status(second, TaskStatus::Pending);
    fixture.cluster.uncount(second);
    plugin.ledger().unwrap().deallocated(fixture.view(), second);
    assert!(fixture.fits(&*plugin, third)[0]);
}

#[test]
fn cpus_of_bound_pods_stay_theirs_and_those_of_others_do_not() {
    let mut fixture = fixture("single-numa-node");
    let factory = NumaAwareFactory::default();
    let (bound, kept) = (
        pod(&mut fixture, "bound", "single-numa-node", 4),
        pod(&mut fixture, "kept", "single-numa-node", 4),
    );
    let mut plugin = fixture.open_plain(&factory);
    for task in [bound, kept] {
        place(&mut fixture, task, "a", TaskStatus::Allocated);
        plugin.ledger().unwrap().allocated(fixture.view(), task);
    }
    fixture.cluster.set_status(bound, TaskStatus::Binding);
    plugin.close(fixture.view(), &mut CloseReport::default());
    fixture.cluster.set_status(kept, TaskStatus::Pending);
    fixture.cluster.uncount(kept);
    // Four of the eight CPUs are left.
    let fits = |fixture: &mut Fixture, cpus: u32| {
        let task = pod(fixture, "next", "single-numa-node", cpus);
        let plugin = fixture.open_plain(&factory);
        fixture.fits(&*plugin, task)[0]
    };
    assert!(fits(&mut fixture, 4));
    let other = pod(&mut fixture, "other", "single-numa-node", 4);
    let mut plugin = fixture.open_plain(&factory);
    place(&mut fixture, other, "a", TaskStatus::Binding);
    fixture.cluster.set_status(other, TaskStatus::Allocated);
    plugin.ledger().unwrap().allocated(fixture.view(), other);
    fixture.cluster.set_status(other, TaskStatus::Binding);
    plugin.close(fixture.view(), &mut CloseReport::default());
    assert!(!fits(&mut fixture, 1), "all are given out");
    // A binding that failed gives its CPUs back.
    fixture.cluster.apply(Event::BindFailed {
        uid: "other".into(),
        message: "".into(),
    });
    assert!(fits(&mut fixture, 4));
    // The exporter sees more free CPUs than before: what it says counts.
    seen(&mut fixture, "a", 2, "single-numa-node", "0-7");
    let plugin = fixture.open_plain(&factory);
    let task = pod(&mut fixture, "next", "single-numa-node", 4);
    assert!(fixture.fits(&*plugin, task)[0]);
}

#[test]
fn less_than_was_counted_is_believed_and_more_than_that_is_not_unless_it_grew() {
    let view = Fixture::new();
    let mut memory = Memory::default();
    memory.review(view.view());
    let mut topology = mco_model::extra::Numatopology {
        epoch: 1,
        grown: true,
        ..Default::default()
    };
    let mut say = |memory: &mut Memory, epoch: u64, grown: bool, free: &str| {
        topology.epoch = epoch;
        topology.grown = grown;
        topology.record.free = [("cpu".into(), set(free))].into();
        memory.free(&"n".into(), &topology).unwrap()
    };
    assert_eq!(say(&mut memory, 1, true, "0-7"), set("0-7"));
    memory.give(&"n".into(), &"p".into(), set("0-3"));
    assert_eq!(
        say(&mut memory, 1, true, "0-7"),
        set("4-7"),
        "nothing new was seen"
    );
    assert_eq!(
        say(&mut memory, 2, false, "2-7"),
        set("4-7"),
        "it has not seen the pod yet"
    );
    assert_eq!(
        say(&mut memory, 3, false, "5-7"),
        set("5-7"),
        "less than was counted"
    );
    assert_eq!(say(&mut memory, 4, true, "0-7"), set("0-7"), "it grew");
}

#[test]
fn a_weight_that_is_no_whole_number_is_told_and_stays_1() {
    let mut fixture = fixture("none");
    let mut option = PluginOption::named(NAME);
    option.arguments.set(WEIGHT, Value::Str("5".into()));
    let warnings = fixture.warnings(&NumaAwareFactory::default(), &conf(option));
    assert!(
        warnings.len() == 1 && warnings[0].contains("`weight` of plugin `numa-aware`"),
        "{warnings:?}"
    );
}

#[test]
fn pods_that_run_already_take_nothing_twice() {
    let mut fixture = fixture("single-numa-node");
    let running = fixture.pod("runs", "j", "a", "cpu=4", |pod| {
        pod.phase = PodPhase::Running;
        pod.spec.cpus = Some(Box::new(CpuNeeds {
            policy: "".into(),
            containers: vec![Some(4)],
        }));
    });
    let mut plugin = fixture.open_plain(&NumaAwareFactory::default());
    // Its eviction was undone.
    plugin.ledger().unwrap().allocated(fixture.view(), running);
    let task = pod(&mut fixture, "p", "single-numa-node", 4);
    assert!(fixture.fits(&*plugin, task)[0]);
    plugin.ledger().unwrap().deallocated(fixture.view(), running);
    assert!(fixture.fits(&*plugin, task)[0]);
}
