use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::PluginOption;
use mco_model::Event;
use mco_model::spec::{Labels, Operator, Requirement, Text};

fn labels(text: &str) -> Labels {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.into(), value.into())).collect()
}

fn budget(fixture: &mut Fixture, name: &str, allowed: i32, change: impl FnOnce(&mut DisruptionBudgetRecord)) {
    let mut record = DisruptionBudgetRecord {
        namespace: "t".into(),
        name: name.into(),
        selector: Some(LabelSelector {
            labels: labels("app=a"),
            expressions: Vec::new(),
        }),
        allowed,
        disrupted: Vec::new(),
    };
    change(&mut record);
    fixture
        .cluster
        .apply(Event::DisruptionBudgetSet(Box::new(record)));
}

/// A cluster with a running pod for each of the label texts, named by its place.
fn fixture(pods: &[&str]) -> (Fixture, Vec<TaskId>) {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=99");
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    let mut tasks = Vec::new();
    for (index, text) in pods.iter().enumerate() {
        tasks.push(fixture.pod(&index.to_string(), "j", "n", "cpu=1", |pod| {
            pod.labels = labels(text)
        }));
    }
    (fixture, tasks)
}

/// Places of the pods that may go.
fn allowed(fixture: &mut Fixture, tasks: &[TaskId]) -> Vec<usize> {
    let plugin = fixture.open_plain(&PdbFactory);
    let view = fixture.view();
    let found = plugin.victim_tasks().unwrap().victims(view, tasks);
    for point in [plugin.preemptable(), plugin.reclaimable()] {
        let same = point.unwrap().victims(view, tasks[0], tasks);
        assert_eq!(same, Eviction::Victims(found.clone()), "all points say the same");
    }
    let place = |task: &TaskId| tasks.iter().position(|other| other == task).unwrap();
    found.iter().map(place).collect()
}

#[test]
fn as_many_pods_go_as_every_budget_allows() {
    let pods = ["app=a", "app=a", "app=b", "app=a,tier=x", "tier=x", ""];
    let only_a = |_: &mut DisruptionBudgetRecord| ();
    type Change = fn(&mut DisruptionBudgetRecord);
    type Row<'a> = (&'a str, &'a [(i32, Change)], &'a [usize]);
    let tier: Change = |budget| budget.selector.as_mut().unwrap().labels = labels("tier=x");
    let rows: [Row<'_>; 9] = [
        ("no budget: all that have labels", &[], &[0, 1, 2, 3, 4]),
        ("the first two of three", &[(2, only_a)], &[0, 1, 2, 4]),
        ("none", &[(0, only_a)], &[2, 4]),
        ("below zero", &[(-1, only_a)], &[2, 4]),
        // Pod 3 is the third of the one and the first of the other; it counts for the other although it stays.
        (
            "a pod that two budgets protect",
            &[(2, only_a), (1, tier)],
            &[0, 1, 2],
        ),
        (
            "selects all",
            &[(0, |budget| budget.selector = Some(LabelSelector::default()))],
            &[0, 1, 2, 3, 4],
        ),
        (
            "selects none",
            &[(0, |budget| budget.selector = None)],
            &[0, 1, 2, 3, 4],
        ),
        (
            "of another namespace",
            &[(0, |budget| budget.namespace = "other".into())],
            &[0, 1, 2, 3, 4],
        ),
        (
            "a pod that is going already",
            &[(1, |budget| budget.disrupted = vec!["0".into()])],
            &[0, 1, 2, 4],
        ),
    ];
    for (name, budgets, expected) in rows {
        let (mut fixture, tasks) = fixture(&pods);
        for (index, (allowed, change)) in budgets.iter().enumerate() {
            budget(&mut fixture, &index.to_string(), *allowed, change);
        }
        assert_eq!(allowed(&mut fixture, &tasks), expected, "{name}");
    }
}

#[test]
fn every_question_starts_from_the_whole_budget() {
    let (mut fixture, tasks) = fixture(&["app=a", "app=a"]);
    budget(&mut fixture, "b", 1, |_| ());
    assert_eq!(allowed(&mut fixture, &tasks), [0]);
    assert_eq!(allowed(&mut fixture, &tasks), [0]);
}

#[test]
fn a_selector_that_cannot_be_used_protects_nobody_and_is_told() {
    let (mut fixture, tasks) = fixture(&["app=a"]);
    budget(&mut fixture, "broken", 0, |budget| {
        budget.selector.as_mut().unwrap().expressions = vec![Requirement {
            key: "app".into(),
            operator: Operator::Other(Text::from("Near")),
            values: Vec::new(),
        }];
    });
    assert_eq!(allowed(&mut fixture, &tasks), [0]);
    let conf = conf(PluginOption::named(NAME));
    let warnings = fixture.warnings(&PdbFactory, &conf);
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("PodDisruptionBudget t/broken: spec.selector: "),
        "{warnings:?}"
    );
}
