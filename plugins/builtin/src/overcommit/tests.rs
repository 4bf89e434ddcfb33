use super::*;
use crate::fixture::{Fixture, amounts, conf};
use mco_framework::conf::{PluginOption, Value};

fn option(factor: Option<Value>) -> PluginOption {
    PluginOption {
        arguments: factor.map(|factor| (FACTOR, factor)).into_iter().collect(),
        ..PluginOption::named(NAME)
    }
}

#[test]
fn a_factor_that_cannot_be_used_leaves_the_default_and_a_warning() {
    let rows = [
        (None, 1.2, 0),
        (Some(Value::Float(1.5)), 1.5, 0),
        (Some(Value::Int(2)), 2.0, 0),
        (Some(Value::Float(1.0)), 1.0, 0),
        (Some(Value::Float(f64::INFINITY)), f64::INFINITY, 0),
        (Some(Value::Float(0.99)), 1.2, 1),
        (Some(Value::Float(f64::NEG_INFINITY)), 1.2, 1),
        (Some(Value::Str("2".into())), 1.2, 1),
        (Some(Value::Bool(true)), 1.2, 1),
    ];
    for (given, expected, warned) in rows {
        let (factor, warnings) = factor(&option(given.clone()).arguments);
        assert_eq!(
            (factor, warnings.len()),
            (expected, warned),
            "{given:?}: {warnings:?}"
        );
        assert!(
            warnings.iter().all(|warning| warning.contains(FACTOR)),
            "{warnings:?}"
        );
    }
}

/// A cluster of 10 CPUs and 2 GPUs with 4 CPUs in use and 2 promised.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=10,memory=100,pods=110,example.com/gpu=2");
    fixture.queue("q", |_| ());
    fixture.job("running", "q", |_| ());
    fixture.pod("running-0", "running", "n", "cpu=4", |_| ());
    fixture.job("promised", "q", |group| {
        group.min_resources = Some(amounts("cpu=2"))
    });
    fixture
}

fn ask(fixture: &mut Fixture, factor: f64, min: Option<&str>) -> Vote {
    let id = fixture.job("new", "q", |group| {
        group.status.phase = Default::default();
        group.min_resources = min.map(amounts);
    });
    let mut plugin = fixture.open(&OvercommitFactory, &conf(option(Some(Value::Float(factor)))));
    plugin.job_enqueueable().unwrap().vote(fixture.view(), id)
}

#[test]
fn jobs_are_admitted_up_to_the_factor() {
    let rows = [
        ("up to what there is", 1.0, Some("cpu=4"), true),
        ("beyond it", 1.0, Some("cpu=4.001"), false),
        ("up to the factor", 1.5, Some("cpu=9"), true),
        ("beyond the factor", 1.5, Some("cpu=9.001"), false),
        ("a scalar in whole", 1.0, Some("cpu=1,example.com/gpu=2"), true),
        (
            "more scalars than there are",
            1.0,
            Some("example.com/gpu=3"),
            false,
        ),
        ("a scalar nobody has", 2.0, Some("example.com/other=1"), false),
        ("nothing said", 1.0, None, true),
    ];
    for (name, factor, min, permitted) in rows {
        let vote = ask(&mut fixture(), factor, min);
        assert_eq!(vote == Vote::Permit, permitted, "{name}: {vote:?}");
    }
}

#[test]
fn a_refusal_names_what_is_short() {
    let Vote::Reject(reason) = ask(&mut fixture(), 1.0, Some("cpu=1,example.com/gpu=3")) else {
        panic!("more than there is must not be admitted");
    };
    assert_eq!(
        reason.text,
        "resource in cluster is overused: insufficient example.com/gpu"
    );
}

#[test]
fn a_job_is_not_charged_for_devices_promised_to_a_group_without_pods() {
    let mut fixture = fixture();
    fixture.job("greedy", "q", |group| {
        group.min_resources = Some(amounts("example.com/gpu=9"));
    });
    assert_eq!(ask(&mut fixture, 1.0, Some("cpu=1")), Vote::Permit);
    let vote = ask(&mut fixture, 1.0, Some("cpu=1,example.com/gpu=1"));
    assert!(matches!(vote, Vote::Reject(_)));
    fixture.pod("greedy-0", "greedy", "", "example.com/gpu=9", |_| ());
    let vote = ask(&mut fixture, 1.0, Some("cpu=1"));
    assert!(matches!(vote, Vote::Reject(_)), "as Volcano 1.9: {vote:?}");
}

#[test]
fn a_running_group_holds_back_what_it_lacks_of_its_minimum() {
    let rows = [("what is left", "cpu=3", true), ("beyond it", "cpu=3.001", false)];
    for (name, min, permitted) in rows {
        let mut fixture = fixture();
        fixture.job("served", "q", |group| {
            group.status.phase = mco_model::event::PodGroupPhase::Running;
            group.min_resources = Some(amounts("cpu=2,memory=1"));
            group.min_resources_whole =
                vec![("cpu".into(), 2.0), ("memory".into(), 1.0), ("pods".into(), 3.0)];
        });
        fixture.pod("served-0", "served", "n", "cpu=1,memory=1", |_| ());
        // 10 less 4 and 1 in use, 2 promised and 1 held back: 2 left at a factor of 1, 3 at 1.1.
        let vote = ask(&mut fixture, 1.1, Some(min));
        assert_eq!(vote == Vote::Permit, permitted, "{name}: {vote:?}");
    }
}

#[test]
fn only_what_was_admitted_counts_from_then_on() {
    let mut fixture = fixture();
    let ids: Vec<JobId> = ["a", "b"]
        .iter()
        .map(|name| {
            fixture.job(name, "q", |group| {
                group.status.phase = Default::default();
                group.min_resources = Some(amounts("cpu=3"));
            })
        })
        .collect();
    let mut plugin = fixture.open(&OvercommitFactory, &conf(option(Some(Value::Float(1.0)))));
    let mut vote = |id| plugin.job_enqueueable().unwrap().vote(fixture.view(), id);
    assert_eq!(vote(ids[0]), Vote::Permit);
    assert_eq!(vote(ids[1]), Vote::Permit, "a vote alone promises nothing");
    plugin.job_enqueued().unwrap().enqueued(fixture.view(), ids[0]);
    let vote = plugin.job_enqueueable().unwrap().vote(fixture.view(), ids[1]);
    assert!(matches!(vote, Vote::Reject(_)));
}
