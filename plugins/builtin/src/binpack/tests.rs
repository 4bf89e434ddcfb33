use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{Arguments, PluginOption, Value};

fn int(key: &str, value: i64) -> (String, Value) {
    (key.to_owned(), Value::Int(value))
}

fn text(key: &str, value: &str) -> (String, Value) {
    (key.to_owned(), Value::Str(value.to_owned()))
}

#[test]
fn weights_from_arguments() {
    let gpu = "example.com/gpu";
    let gpu_weight = "binpack.resources.example.com/gpu";
    // Name, arguments; weight of the score, weights of resources, number of warnings.
    type Row<'a> = (&'a str, Vec<(String, Value)>, i64, &'a [(&'a str, i64)], usize);
    let rows: &[Row<'_>] = &[
        ("none", vec![], 1, &[("cpu", 1), ("memory", 1)], 0),
        (
            "all",
            vec![
                int("binpack.weight", 10),
                int("binpack.cpu", 5),
                int("binpack.memory", 0),
                text("binpack.resources", "example.com/gpu , a,"),
                int(gpu_weight, 2),
            ],
            10,
            &[("a", 1), ("cpu", 5), (gpu, 2), ("memory", 0)],
            0,
        ),
        (
            "negative",
            vec![
                int("binpack.weight", -3),
                int("binpack.cpu", -1),
                text("binpack.resources", gpu),
                int(gpu_weight, -1),
            ],
            -3,
            &[("cpu", 1), (gpu, 1), ("memory", 1)],
            2,
        ),
        (
            "wrong types",
            vec![
                text("binpack.weight", "7"),
                int("binpack.resources", 5),
                text("binpack.memory", "2"),
            ],
            1,
            &[("cpu", 1), ("memory", 1)],
            3,
        ),
        (
            "a weight without its resource in the list",
            vec![int(gpu_weight, 2)],
            1,
            &[("cpu", 1), ("memory", 1)],
            0,
        ),
        (
            "cpu in the list has the weight of binpack.cpu",
            vec![text("binpack.resources", "cpu"), int("binpack.resources.cpu", 9)],
            1,
            &[("cpu", 1), ("memory", 1)],
            0,
        ),
    ];
    for (name, given, score, resources, warned) in rows {
        let arguments: Arguments = given.iter().cloned().collect();
        let (weights, warnings) = Weights::from_arguments(&arguments);
        let expected = resources
            .iter()
            .map(|(name, weight)| ((*name).to_owned(), *weight))
            .collect();
        assert_eq!(
            weights,
            Weights {
                score: *score,
                resources: expected
            },
            "{name}"
        );
        assert_eq!(warnings.len(), *warned, "{name}: {warnings:?}");
    }
}

/// The score of a node with 10 CPUs (4 in use), memory of 100 (10 in use) and 4 GPUs.
fn score(arguments: Vec<(String, Value)>, wants: &str) -> Option<f64> {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=10,memory=100,pods=110,example.com/gpu=4");
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    fixture.pod("used", "j", "n", "cpu=4,memory=10", |_| ());
    let task = fixture.pod("new", "j", "", wants, |_| ());
    let option = PluginOption {
        arguments: arguments.into_iter().collect(),
        ..PluginOption::named(NAME)
    };
    let plugin = fixture.open(&BinpackFactory, &conf(option));
    let order = plugin.node_order()?;
    assert_eq!(order.dependence(fixture.view(), task), Dependence::ClassAndNode);
    let node = fixture.cluster.nodes.find("n").unwrap();
    let (mut totals, mut failed) = ([0.0], [false]);
    let prepared = order.prepare(fixture.view(), task);
    prepared.score(&[node], &mut Scores::new(&mut totals, &mut failed));
    Some(totals[0])
}

#[test]
fn the_fuller_the_node_would_be_the_better() {
    let gpu = || text("binpack.resources", "example.com/gpu");
    let rows = [
        ("cpu and memory alike", vec![], "cpu=2,memory=30", Some(50.0)),
        (
            "cpu alone when nothing else is asked for",
            vec![],
            "cpu=2",
            Some(60.0),
        ),
        (
            "by weight",
            vec![int("binpack.cpu", 3)],
            "cpu=2,memory=30",
            Some(55.0),
        ),
        (
            "times the plugin's weight",
            vec![int("binpack.weight", 5)],
            "cpu=2",
            Some(300.0),
        ),
        (
            "below zero to spread",
            vec![int("binpack.weight", -1)],
            "cpu=2",
            Some(-60.0),
        ),
        (
            "weight 0 scores nothing at all",
            vec![int("binpack.weight", 0)],
            "cpu=2",
            None,
        ),
        (
            "a resource of weight 0 does not count",
            vec![int("binpack.memory", 0)],
            "cpu=2,memory=30",
            Some(60.0),
        ),
        (
            "nothing that counts",
            vec![int("binpack.cpu", 0)],
            "cpu=2",
            Some(0.0),
        ),
        ("more than full", vec![], "cpu=7,memory=1", Some(0.0)),
        (
            "a listed scalar counts",
            vec![gpu()],
            "cpu=2,example.com/gpu=2",
            Some(55.0),
        ),
        (
            "an unlisted scalar does not",
            vec![],
            "cpu=2,example.com/gpu=2",
            Some(60.0),
        ),
        (
            "a scalar that the node lacks only divides",
            vec![text("binpack.resources", "example.com/other")],
            "cpu=2,example.com/other=1",
            Some(30.0),
        ),
        ("a pod that asks for nothing", vec![], "", Some(0.0)),
    ];
    for (name, arguments, wants, expected) in rows {
        let score = score(arguments, wants);
        match (score, expected) {
            (Some(score), Some(expected)) => assert!((score - expected).abs() < 1e-9, "{name}: {score}"),
            _ => assert_eq!(score, expected, "{name}"),
        }
    }
}
