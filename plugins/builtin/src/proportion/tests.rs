use super::*;
use crate::fixture::{Fixture, amounts};
use mco_framework::SessionPlugin;
use mco_model::event::QueueRecord;

/// A cluster of 10 CPUs and 4 GPUs.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=10,memory=100,pods=110,example.com/gpu=4");
    fixture
}

fn pods(fixture: &mut Fixture, job: &str, node: &str, number: usize, wants: &str) -> Vec<TaskId> {
    (0..number)
        .map(|index| fixture.pod(&format!("{job}-{node}-{index}"), job, node, wants, |_| ()))
        .collect()
}

fn open(fixture: &mut Fixture) -> Proportion {
    fixture.cluster.refresh();
    Proportion::open(fixture.view())
}

#[test]
fn queues_come_by_their_share_of_what_they_deserve() {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=10,memory=100,pods=10");
    let light = fixture.queue("light", |queue| queue.weight = 1);
    let heavy = fixture.queue("heavy", |queue| queue.weight = 4);
    fixture.job("light", "light", |_| ());
    fixture.job("heavy", "heavy", |_| ());
    pods(&mut fixture, "light", "n", 2, "cpu=1");
    pods(&mut fixture, "light", "", 9, "cpu=1");
    pods(&mut fixture, "heavy", "n", 3, "cpu=1");
    pods(&mut fixture, "heavy", "", 9, "cpu=1");
    let plugin = open(&mut fixture);
    let view = fixture.view();
    assert_eq!(
        plugin.compare(view, heavy, light),
        Ordering::Less,
        "3 of 8 against 2 of 2"
    );
    assert_eq!(plugin.compare(view, light, heavy), Ordering::Greater);
    assert!(Overused::overused(&plugin, view, light).is_some());
    assert!(Overused::overused(&plugin, view, heavy).is_none());
}

#[test]
fn a_queue_is_overused_without_requests_and_never_without_jobs() {
    let mut fixture = fixture();
    let idle = fixture.queue("idle", |_| ());
    let empty = fixture.queue("empty", |_| ());
    fixture.job("idle", "idle", |_| ());
    let plugin = open(&mut fixture);
    assert!(Overused::overused(&plugin, fixture.view(), idle).is_some());
    assert!(Overused::overused(&plugin, fixture.view(), empty).is_none());
}

#[test]
fn a_task_has_to_fit_into_what_is_left_of_deserved() {
    let rows = [
        ("fits", "cpu=3", true),
        ("too much cpu", "cpu=3.1", false),
        ("a scalar that is not deserved", "cpu=1,example.com/gpu=1", false),
    ];
    for (name, wants, fits) in rows {
        let mut fixture = fixture();
        let queue = fixture.queue("q", |queue| queue.capability = amounts("cpu=5,example.com/gpu=0"));
        fixture.job("j", "q", |_| ());
        pods(&mut fixture, "j", "n", 2, "cpu=1");
        pods(&mut fixture, "j", "", 9, "cpu=1");
        let task = fixture.pod("new", "j", "", wants, |_| ());
        let plugin = open(&mut fixture);
        let answer = Allocatable::allocatable(&plugin, fixture.view(), queue, task);
        assert_eq!(answer.is_ok(), fits, "{name}: {answer:?}");
    }
}

#[test]
fn tasks_are_reclaimed_down_to_what_their_queue_deserves() {
    let mut fixture = fixture();
    for name in ["owner", "guest"] {
        fixture.queue(name, |_| ());
        fixture.job(name, name, |_| ());
    }
    let guests = pods(&mut fixture, "guest", "n", 9, "cpu=1");
    let evictor = pods(&mut fixture, "owner", "", 9, "cpu=1")[0];
    let plugin = open(&mut fixture);
    let victims = Evictable::victims(&plugin, fixture.view(), evictor, &guests);
    assert_eq!(
        victims,
        Eviction::Victims(guests[..4].to_vec()),
        "9 CPUs, 5 deserved"
    );
    // Who lacks a kind that is asked for cannot make room.
    let evictor = fixture.pod("gpu", "owner", "", "cpu=1,example.com/gpu=1", |_| ());
    let plugin = open(&mut fixture);
    let victims = Evictable::victims(&plugin, fixture.view(), evictor, &guests);
    assert_eq!(victims, Eviction::Victims(vec![]));
}

fn vote(fixture: &mut Fixture, queue: impl FnOnce(&mut QueueRecord), min: Option<&str>) -> Vote {
    fixture.queue("q", queue);
    fixture.job("running", "q", |_| ());
    fixture.pod("running-0", "running", "n", "cpu=2,memory=1", |_| ());
    fixture.job("promised", "q", |group| {
        group.min_resources = Some(amounts("cpu=1,example.com/gpu=5"))
    });
    let id = fixture.job("new", "q", |group| {
        group.status.phase = Default::default();
        group.min_resources = min.map(amounts);
    });
    let mut plugin = open(fixture);
    plugin.vote(fixture.view(), id)
}

#[test]
fn jobs_are_admitted_up_to_the_limit_of_their_queue() {
    let rows = [
        ("nothing said", "cpu=4", None, true),
        // What runs without minResources is elastic and does not count against the limit.
        ("up to the limit", "cpu=4", Some("cpu=3"), true),
        ("beyond it", "cpu=4", Some("cpu=3.001"), false),
        ("the cluster is the limit", "", Some("cpu=9"), true),
        ("beyond the cluster", "", Some("cpu=9.001"), false),
        (
            "a scalar that others spent",
            "",
            Some("cpu=1,example.com/gpu=1"),
            false,
        ),
        (
            "a scalar nobody limits",
            "",
            Some("cpu=1,example.com/other=1"),
            true,
        ),
        ("no limit for cpu", "example.com/gpu=9", Some("cpu=9"), true),
        (
            "a limit beyond all measure",
            "cpu=9e18,example.com/gpu=9e18",
            Some("cpu=9"),
            true,
        ),
    ];
    for (name, capability, min, permitted) in rows {
        let vote = vote(
            &mut fixture(),
            |queue| queue.capability = amounts(capability),
            min,
        );
        assert_eq!(vote == Vote::Permit, permitted, "{name}: {vote:?}");
    }
}

#[test]
fn a_refusal_names_what_is_short() {
    let Vote::Reject(reason) = vote(&mut fixture(), |_| (), Some("cpu=1,example.com/gpu=1")) else {
        panic!("spent devices must not be promised again");
    };
    assert_eq!(
        reason.text,
        "queue resource quota insufficient: insufficient example.com/gpu"
    );
}

#[test]
fn devices_promised_to_pods_are_held_against_everybody() {
    let mut fixture = fixture();
    fixture.pod("promised-0", "promised", "", "example.com/gpu=5", |_| ());
    let vote = vote(&mut fixture, |_| (), Some("cpu=1"));
    assert!(matches!(vote, Vote::Reject(_)), "as Volcano 1.9: {vote:?}");
}

#[test]
fn a_permit_counts_at_once() {
    let mut fixture = fixture();
    fixture.queue("q", |queue| queue.capability = amounts("cpu=5"));
    let ids: Vec<JobId> = ["a", "b"]
        .iter()
        .map(|name| {
            fixture.job(name, "q", |group| {
                group.status.phase = Default::default();
                group.min_resources = Some(amounts("cpu=3"));
            })
        })
        .collect();
    let mut plugin = open(&mut fixture);
    assert_eq!(plugin.vote(fixture.view(), ids[0]), Vote::Permit);
    assert!(matches!(plugin.vote(fixture.view(), ids[1]), Vote::Reject(_)));
}

#[test]
fn guarantees_of_others_are_not_given_away() {
    let mut fixture = fixture();
    fixture.queue("other", |queue| queue.guarantee = amounts("cpu=4"));
    let rows = [
        ("what is left", "cpu=6", true),
        ("what is guaranteed to another", "cpu=6.001", false),
    ];
    for (name, min, permitted) in rows {
        fixture.queue("q", |_| ());
        let id = fixture.job("new", "q", |group| {
            group.status.phase = Default::default();
            group.min_resources = Some(amounts(min));
        });
        let vote = open(&mut fixture).vote(fixture.view(), id);
        assert_eq!(vote == Vote::Permit, permitted, "{name}: {vote:?}");
    }
}

#[test]
fn guarantees_beyond_the_cluster_leave_nothing_to_others() {
    let mut fixture = fixture();
    fixture.queue("greedy", |queue| {
        queue.guarantee = amounts("cpu=40,example.com/gpu=1")
    });
    fixture.queue("q", |_| ());
    fixture.job("greedy", "greedy", |_| ());
    let id = fixture.job("j", "q", |group| group.min_resources = Some(amounts("cpu=1")));
    pods(&mut fixture, "j", "", 1, "cpu=1");
    let mut plugin = open(&mut fixture);
    assert!(matches!(plugin.vote(fixture.view(), id), Vote::Reject(_)));
}

#[test]
fn placing_and_taking_back_leaves_shares_as_they_were() {
    let mut fixture = fixture();
    let queue = fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    pods(&mut fixture, "j", "n", 1, "cpu=1.3,example.com/gpu=1");
    let waiting = pods(&mut fixture, "j", "", 9, "cpu=1.1,example.com/gpu=1");
    let mut plugin = open(&mut fixture);
    let before = (
        plugin.books.share(queue),
        plugin.books.get(queue).unwrap().allocated.clone(),
    );
    for task in &waiting {
        plugin.ledger().unwrap().allocated(fixture.view(), *task);
    }
    assert!(plugin.books.share(queue) > before.0);
    for task in waiting.iter().rev() {
        plugin.ledger().unwrap().deallocated(fixture.view(), *task);
    }
    assert_eq!(
        (
            plugin.books.share(queue),
            plugin.books.get(queue).unwrap().allocated.clone()
        ),
        before
    );
}
