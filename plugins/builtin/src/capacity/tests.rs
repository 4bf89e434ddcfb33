use super::*;
use crate::fixture::{Fixture, amounts};
use mco_model::event::QueueRecord;

/// A cluster of 10 CPUs, 100 bytes and 4 GPUs.
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

fn open(fixture: &mut Fixture) -> Capacity {
    fixture.cluster.refresh();
    Capacity::open(fixture.view())
}

/// A queue with one job, of which `runs` is on the node and `waits` is not.
fn queue(
    fixture: &mut Fixture,
    name: &str,
    change: impl FnOnce(&mut QueueRecord),
    runs: &str,
    waits: &str,
) -> QueueId {
    let queue = fixture.queue(name, change);
    fixture.job(name, name, |_| ());
    for (suffix, node, wants) in [("runs", "n", runs), ("waits", "", waits)] {
        if !wants.is_empty() {
            fixture.pod(&format!("{name}-{suffix}"), name, node, wants, |_| ());
        }
    }
    queue
}

/// deserved = max(min(spec.deserved, what it may have, what it asks for), guarantee).
#[test]
fn a_queue_deserves_what_it_says_within_limit_and_request_and_never_less_than_guaranteed() {
    // name, deserved, capability, guarantee, request: cpu and GPU deserved in milli
    let rows = [
        ("as it says", "cpu=4", "", "", "cpu=9", (4000.0, None)),
        (
            "no more than it asks for",
            "cpu=4",
            "",
            "",
            "cpu=3",
            (3000.0, None),
        ),
        (
            "no more than it may have",
            "cpu=4",
            "cpu=2",
            "",
            "cpu=9",
            (2000.0, None),
        ),
        (
            "not less than guaranteed",
            "cpu=1",
            "",
            "cpu=2",
            "cpu=9",
            (2000.0, None),
        ),
        (
            "guaranteed without being asked for",
            "cpu=4",
            "",
            "cpu=2",
            "cpu=1",
            (2000.0, None),
        ),
        ("nothing said", "", "", "", "cpu=9", (0.0, None)),
        (
            "a scalar nobody asks for stays deserved",
            "cpu=4,example.com/gpu=2",
            "",
            "",
            "cpu=9",
            (4000.0, Some(2000.0)),
        ),
        (
            "a scalar asked for less",
            "cpu=4,example.com/gpu=2",
            "",
            "",
            "cpu=9,example.com/gpu=1",
            (4000.0, Some(1000.0)),
        ),
    ];
    for (name, deserved, capability, guarantee, request, (cpu, gpu)) in rows {
        let mut fixture = fixture();
        let change = |queue: &mut QueueRecord| {
            queue.deserved = amounts(deserved);
            queue.capability = amounts(capability);
            queue.guarantee = amounts(guarantee);
        };
        let queue = queue(&mut fixture, "q", change, "", request);
        let plugin = open(&mut fixture);
        let found = &plugin.books.get(queue).unwrap().deserved;
        let id = fixture.cluster.scalars.get("example.com/gpu").unwrap();
        assert_eq!((found.milli_cpu, found.scalar(id)), (cpu, gpu), "{name}");
    }
}

#[test]
fn queues_come_by_their_share_and_first_without_anything_deserved() {
    let mut fixture = fixture();
    let deserves = |cpu: &'static str| move |queue: &mut QueueRecord| queue.deserved = amounts(cpu);
    let half = queue(&mut fixture, "half", deserves("cpu=4"), "cpu=2", "cpu=9");
    let third = queue(&mut fixture, "third", deserves("cpu=3"), "cpu=1", "cpu=9");
    let none = queue(&mut fixture, "none", deserves(""), "cpu=3", "cpu=9");
    let plugin = open(&mut fixture);
    let view = fixture.view();
    assert_eq!(
        plugin.compare(view, third, half),
        Ordering::Less,
        "1 of 3 before 2 of 4"
    );
    assert_eq!(plugin.compare(view, none, third), Ordering::Less);
    assert!(Preemptive::preemptive(&plugin, view, half));
    assert!(
        !Preemptive::preemptive(&plugin, view, none),
        "it deserves nothing more"
    );
}

#[test]
fn a_queue_takes_from_others_while_it_lacks_anything_it_deserves() {
    let rows = [
        ("less than deserved", "cpu=1", true),
        ("all that is deserved", "cpu=2,memory=5", false),
        ("one kind is short", "cpu=9,memory=4", true),
    ];
    for (name, runs, takes) in rows {
        let mut fixture = fixture();
        let change = |queue: &mut QueueRecord| queue.deserved = amounts("cpu=2,memory=5");
        let queue = queue(&mut fixture, "q", change, runs, "cpu=9,memory=9");
        let plugin = open(&mut fixture);
        assert_eq!(
            Preemptive::preemptive(&plugin, fixture.view(), queue),
            takes,
            "{name}"
        );
    }
}

#[test]
fn a_task_has_to_fit_into_what_its_queue_may_have() {
    let rows = [
        ("fits, beyond what is deserved", "cpu=3", true),
        ("too much cpu", "cpu=3.1", false),
        ("a scalar within the cluster", "cpu=1,example.com/gpu=4", true),
        ("a scalar beyond the cluster", "cpu=1,example.com/gpu=5", false),
    ];
    for (name, wants, fits) in rows {
        let mut fixture = fixture();
        let change = |queue: &mut QueueRecord| {
            queue.capability = amounts("cpu=5");
            queue.deserved = amounts("cpu=1");
        };
        let queue = queue(&mut fixture, "q", change, "cpu=2", "");
        let task = fixture.pod("new", "q", "", wants, |_| ());
        let plugin = open(&mut fixture);
        let answer = Allocatable::allocatable(&plugin, fixture.view(), queue, task);
        assert_eq!(answer.is_ok(), fits, "{name}: {answer:?}");
    }
}

#[test]
fn tasks_are_reclaimed_down_to_what_is_deserved_and_guaranteed() {
    // name, what the guests' queue deserves and is guaranteed; 9 of its tasks run with a CPU each
    let rows = [
        ("down to what is deserved", "cpu=5,memory=100", "", 4),
        ("nothing deserved: all", "", "", 9),
        ("not below the guarantee", "", "cpu=7", 2),
        (
            "a kind that is deserved, asked for by others and not held opens all",
            "cpu=9,memory=9,x.io/y=1",
            "",
            9,
        ),
    ];
    for (name, deserved, guarantee, victims) in rows {
        let mut fixture = fixture();
        fixture.queue("owner", |_| ());
        fixture.job("owner", "owner", |_| ());
        fixture.queue("guest", |queue| {
            queue.deserved = amounts(deserved);
            queue.guarantee = amounts(guarantee);
        });
        fixture.job("guest", "guest", |_| ());
        let guests = pods(&mut fixture, "guest", "n", 9, "cpu=1");
        pods(&mut fixture, "guest", "", 9, "cpu=1");
        let evictor = pods(&mut fixture, "owner", "", 1, "cpu=1")[0];
        let plugin = open(&mut fixture);
        let found = Evictable::victims(&plugin, fixture.view(), evictor, &guests);
        assert_eq!(found, Eviction::Victims(guests[..victims].to_vec()), "{name}");
    }
}

#[test]
fn who_lacks_a_kind_that_is_asked_for_cannot_make_room() {
    let mut fixture = fixture();
    fixture.queue("owner", |_| ());
    fixture.job("owner", "owner", |_| ());
    queue(&mut fixture, "guest", |_| (), "cpu=9", "");
    let guest = fixture.cluster.find_task("t", "guest-runs").unwrap();
    let evictor = fixture.pod("gpu", "owner", "", "cpu=1,example.com/gpu=1", |_| ());
    let plugin = open(&mut fixture);
    let victims = Evictable::victims(&plugin, fixture.view(), evictor, &[guest]);
    assert_eq!(victims, Eviction::Victims(vec![]));
}

#[test]
fn jobs_are_admitted_up_to_the_limit_of_their_queue_and_a_permit_counts_at_once() {
    let mut fixture = fixture();
    fixture.queue("q", |queue| queue.capability = amounts("cpu=5"));
    let mut job = |name: &str, min: Option<&str>| {
        fixture.job(name, "q", |group| {
            group.status.phase = Default::default();
            group.min_resources = min.map(amounts);
        })
    };
    let (first, second, silent) = (job("a", Some("cpu=3")), job("b", Some("cpu=3")), job("c", None));
    let mut plugin = open(&mut fixture);
    assert_eq!(plugin.vote(fixture.view(), first), Vote::Permit);
    let Vote::Reject(reason) = plugin.vote(fixture.view(), second) else {
        panic!("3 and 3 of 5 CPUs");
    };
    assert_eq!(reason.text, "queue resource quota insufficient: insufficient cpu");
    assert_eq!(plugin.vote(fixture.view(), silent), Vote::Permit);
}

#[test]
fn placing_and_taking_back_leaves_shares_as_they_were() {
    let mut fixture = fixture();
    let change = |queue: &mut QueueRecord| queue.deserved = amounts("cpu=7");
    let queue = queue(&mut fixture, "q", change, "cpu=1.3", "cpu=1.1,example.com/gpu=1");
    let task = fixture.cluster.find_task("t", "q-waits").unwrap();
    let mut plugin = open(&mut fixture);
    let before = plugin.books.share(queue);
    plugin.ledger().unwrap().allocated(fixture.view(), task);
    assert!(plugin.books.share(queue) > before);
    plugin.ledger().unwrap().deallocated(fixture.view(), task);
    assert_eq!(plugin.books.share(queue), before);
}
