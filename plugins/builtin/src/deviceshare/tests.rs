use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{PluginOption, SchedulerConf, Value};
use mco_model::event::NodeRecord;
use mco_model::extra::{CardShare, HeldShare, PlainCards, RegisteredCard};

fn settings(switch: &str) -> SchedulerConf {
    let mut option = PluginOption::named(NAME);
    option
        .arguments
        .set(format!("deviceshare.{switch}Enable"), Value::Bool(true));
    conf(option)
}

fn with_cards(node: &mut NodeRecord, cards: NodeCards) {
    node.cards = Some(Box::new(cards));
}

/// Node `two` with two plain cards of 10, `one` with one of 20, and `none`.
fn plain_nodes() -> Fixture {
    let mut fixture = Fixture::new();
    for (name, numbers, memory) in [("two", vec![0, 1], 10), ("one", vec![0], 20)] {
        let plain = Some(PlainCards { memory, numbers });
        fixture.node_with(name, "cpu=9", |node| {
            with_cards(
                node,
                NodeCards {
                    plain,
                    ..NodeCards::default()
                },
            );
        });
    }
    fixture.node("none", "cpu=9");
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    fixture
}

/// A pod that asks for memory of a plain card or for whole ones; on a node it has cards of these numbers.
fn pod(fixture: &mut Fixture, name: &str, (memory, number): (u64, i64), node: &str, has: &[u32]) -> TaskId {
    fixture.pod(name, "j", node, "cpu=1", |pod| {
        pod.spec.cards = Some(Box::new(CardNeeds {
            memory,
            number,
            ..CardNeeds::default()
        }));
        pod.extra.cards = (!has.is_empty()).then(|| {
            Box::new(HeldCards {
                numbers: has.to_vec(),
                ..HeldCards::default()
            })
        });
    })
}

fn place(fixture: &mut Fixture, plugin: &mut dyn SessionPlugin, task: TaskId, node: &str) {
    let node = fixture.cluster.nodes.find(node).unwrap();
    fixture.cluster.set_status(task, TaskStatus::Allocated);
    fixture.cluster.count_on(task, node);
    plugin.ledger().unwrap().allocated(fixture.view(), task);
}

fn take_back(fixture: &mut Fixture, plugin: &mut dyn SessionPlugin, task: TaskId) {
    fixture.cluster.set_status(task, TaskStatus::Pending);
    fixture.cluster.uncount(task);
    plugin.ledger().unwrap().deallocated(fixture.view(), task);
}

#[test]
fn pods_go_where_a_card_has_enough_memory_left() {
    let mut fixture = plain_nodes();
    pod(&mut fixture, "runs", (7, 0), "two", &[0]);
    pod(&mut fixture, "unknown", (9, 0), "two", &[]);
    let mut plugin = fixture.open(&DeviceShareFactory, &settings("GPUSharing"));
    // Left: 3 and 10 on two, 20 on one.
    let rows = [
        (3, [true, true, false]),
        (10, [true, true, false]),
        (11, [false, true, false]),
        (21, [false, false, false]),
    ];
    for (memory, fits) in rows {
        let task = pod(&mut fixture, "p", (memory, 0), "", &[]);
        assert_eq!(fixture.fits(&*plugin, task), fits, "{memory}");
    }
    let plain = fixture.pod("plain", "j", "", "cpu=1", |_| ());
    assert_eq!(
        fixture.fits(&*plugin, plain),
        [true, true, true],
        "asks for no card"
    );
    let task = pod(&mut fixture, "large", (10, 0), "", &[]);
    place(&mut fixture, &mut *plugin, task, "two");
    let next = pod(&mut fixture, "next", (10, 0), "", &[]);
    assert!(!fixture.fits(&*plugin, next)[0], "the card is given");
    take_back(&mut fixture, &mut *plugin, task);
    assert!(
        !fixture.fits(&*plugin, next)[0],
        "and stays so until the session is over"
    );
    let plugin = fixture.open(&DeviceShareFactory, &settings("GPUSharing"));
    assert!(fixture.fits(&*plugin, next)[0]);
}

#[test]
fn refusals_say_why_and_evictions_may_help() {
    let mut fixture = plain_nodes();
    let plugin = fixture.open(&DeviceShareFactory, &settings("GPUSharing"));
    let task = pod(&mut fixture, "p", (15, 0), "", &[]);
    let refusals = fixture.refusals(&*plugin, task);
    let words: Vec<_> = refusals
        .iter()
        .flatten()
        .map(|refusal| refusal.reason.text.to_string())
        .collect();
    assert_eq!(
        words,
        [
            "no enough gpu memory on node",
            "node not initialized with device GpuShare"
        ]
    );
    let is_open =
        |refusal: &mco_framework::Refusal| refusal.severity == mco_framework::Severity::Unschedulable;
    assert!(refusals.iter().flatten().all(|refusal| is_open(refusal)));
}

#[test]
fn whole_cards_are_those_with_nobody_on_them() {
    let mut fixture = plain_nodes();
    pod(&mut fixture, "runs", (1, 0), "two", &[1]);
    let mut plugin = fixture.open(&DeviceShareFactory, &settings("GPUNumber"));
    let (one, two) = (
        pod(&mut fixture, "one", (0, 1), "", &[]),
        pod(&mut fixture, "both", (0, 2), "", &[]),
    );
    assert_eq!(fixture.fits(&*plugin, one), [true, true, false]);
    assert_eq!(fixture.fits(&*plugin, two), [false, false, false]);
    place(&mut fixture, &mut *plugin, one, "two");
    let other = pod(&mut fixture, "other", (0, 1), "", &[]);
    assert_eq!(fixture.fits(&*plugin, other), [false, true, false]);
}

#[test]
fn a_pod_that_is_bound_gets_its_cards_with_the_binding() {
    let mut fixture = plain_nodes();
    fixture.at(5);
    let (bound, kept) = (
        pod(&mut fixture, "bound", (4, 0), "", &[]),
        pod(&mut fixture, "kept", (4, 0), "", &[]),
    );
    let mut plugin = fixture.open(&DeviceShareFactory, &settings("GPUSharing"));
    for task in [bound, kept] {
        place(&mut fixture, &mut *plugin, task, "two");
    }
    fixture.cluster.set_status(bound, TaskStatus::Binding);
    let mut report = CloseReport::default();
    plugin.close(fixture.view(), &mut report);
    let gift = Gift {
        task: bound,
        cards: HeldCards {
            numbers: vec![0],
            shares: vec![],
        },
        annotations: vec![
            ("volcano.sh/predicate-time", "5000000000".to_owned()),
            ("volcano.sh/gpu-index", "0".to_owned()),
        ],
    };
    assert_eq!(report.gifts(), [gift]);
}

#[test]
fn plain_cards_of_an_evicted_pod_are_free_until_its_eviction_is_undone() {
    let mut fixture = plain_nodes();
    let runs = pod(&mut fixture, "runs", (20, 0), "one", &[0]);
    let mut plugin = fixture.open(&DeviceShareFactory, &settings("GPUSharing"));
    let task = pod(&mut fixture, "p", (20, 0), "", &[]);
    assert!(!fixture.fits(&*plugin, task)[1]);
    fixture.cluster.set_status(runs, TaskStatus::Releasing);
    plugin.ledger().unwrap().deallocated(fixture.view(), runs);
    assert!(fixture.fits(&*plugin, task)[1]);
    fixture.cluster.set_status(runs, TaskStatus::Running);
    plugin.ledger().unwrap().allocated(fixture.view(), runs);
    assert!(!fixture.fits(&*plugin, task)[1]);
}

/// Node `n` with two registered cards of 100.
fn registered_node(handshake: Handshake) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.at(1000);
    let card = |uuid: &str| RegisteredCard {
        uuid: uuid.into(),
        shares: 2,
        memory: 100,
        kind: "NVIDIA".into(),
    };
    fixture.node_with("n", "cpu=9", |node| {
        let registered = vec![card("a"), card("b")];
        with_cards(
            node,
            NodeCards {
                registered,
                handshake,
                ..NodeCards::default()
            },
        );
    });
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    fixture
}

fn sharer(fixture: &mut Fixture, name: &str, memory: i64) -> TaskId {
    fixture.pod(name, "j", "", "cpu=1", |pod| {
        pod.spec.cards = Some(Box::new(CardNeeds {
            shares: vec![CardShare {
                number: 1,
                memory,
                percent: None,
                cores: 10,
            }],
            ..CardNeeds::default()
        }));
    })
}

#[test]
fn registered_cards_count_while_their_agent_is_there() {
    let asked = |second| Handshake::Requested(Some(Time::from_seconds(second)));
    let rows = [
        (Handshake::Reported, true),
        (asked(940), true),
        (asked(939), false),
        (Handshake::Requested(None), false),
        (Handshake::Deleted, false),
        (Handshake::Absent, false),
    ];
    for (handshake, fits) in rows {
        let mut fixture = registered_node(handshake);
        let task = sharer(&mut fixture, "p", 1);
        let plugin = fixture.open(&DeviceShareFactory, &settings("VGPU"));
        assert_eq!(fixture.fits(&*plugin, task), [fits], "{handshake:?}");
    }
}

#[test]
fn shares_of_registered_cards_are_counted_and_written_with_the_binding() {
    let mut fixture = registered_node(Handshake::Reported);
    fixture.pod("runs", "j", "n", "cpu=1", |pod| {
        let share = HeldShare {
            uuid: "b".into(),
            memory: 60,
            cores: 5,
        };
        pod.extra.cards = Some(Box::new(HeldCards {
            numbers: vec![],
            shares: vec![share],
        }));
    });
    let mut plugin = fixture.open(&DeviceShareFactory, &settings("VGPU"));
    let (first, second) = (
        sharer(&mut fixture, "first", 50),
        sharer(&mut fixture, "second", 60),
    );
    place(&mut fixture, &mut *plugin, first, "n");
    assert_eq!(
        fixture.fits(&*plugin, second),
        [false],
        "50 of a and 60 of b are taken"
    );
    fixture.cluster.set_status(first, TaskStatus::Binding);
    let mut report = CloseReport::default();
    plugin.close(fixture.view(), &mut report);
    let gift = &report.gifts()[0];
    assert_eq!(
        gift.cards.shares,
        [HeldShare {
            uuid: "a".into(),
            memory: 50,
            cores: 10
        }]
    );
    let texts: Vec<(&str, &str)> = gift
        .annotations
        .iter()
        .map(|(key, value)| (*key, &**value))
        .collect();
    assert_eq!(
        texts,
        [
            ("volcano.sh/vgpu-node", "n"),
            ("volcano.sh/vgpu-time", "1000"),
            ("volcano.sh/vgpu-ids-new", "a,NVIDIA,50,10:"),
            ("volcano.sh/devices-to-allocate", "a,NVIDIA,50,10:"),
            ("volcano.sh/bind-phase", "allocating"),
            ("volcano.sh/bind-time", "1000"),
        ]
    );
}

#[test]
fn a_contradiction_keeps_pods_with_cards_waiting_and_nothing_is_looked_after_when_off() {
    let mut fixture = plain_nodes();
    let task = pod(&mut fixture, "p", (1, 1), "", &[]);
    let mut both = settings("GPUSharing");
    both.tiers[0].plugins[0]
        .arguments
        .set("deviceshare.GPUNumberEnable", Value::Bool(true));
    assert_eq!(fixture.warnings(&DeviceShareFactory, &both).len(), 1);
    let plugin = fixture.open(&DeviceShareFactory, &both);
    assert_eq!(fixture.fits(&*plugin, task), [false, false, false]);
    let plain = fixture.pod("plain", "j", "", "cpu=1", |_| ());
    assert_eq!(fixture.fits(&*plugin, plain), [true, true, true]);
    let plugin = fixture.open_plain(&DeviceShareFactory);
    assert_eq!(fixture.fits(&*plugin, task), [true, true, true]);
}
