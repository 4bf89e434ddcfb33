mod expected;
pub mod fixture;
mod holding;
mod recorded;

use super::*;
use fixture::*;
use mco_framework::Severity;
use mco_framework::conf::{Arguments, Value};
use mco_model::Cluster;
use mco_model::time::Time;

#[test]
fn a_refusal_carries_what_was_measured() {
    let mut cluster = Cluster::new("default");
    node(&mut cluster, "hot", |_| ());
    pod(&mut cluster, None);
    cluster.apply(report(&[("hot", entry(0.75, 2.5, 90.0))]));
    let answers = ask(&mut cluster, Time::from_seconds(103), Arguments::default());
    let refusal = answers.refusals[0].1.as_ref().unwrap();
    assert_eq!(refusal.severity, Severity::Unresolvable);
    assert_eq!(refusal.reason.code, "psi_memory_full");
    let measured = refusal.reason.measured.unwrap();
    assert_eq!(
        (measured.value, measured.threshold, measured.age_seconds),
        (2.5, 0.0, 3.0)
    );
    assert_eq!(answers.scores, [25.0]);
}

#[test]
fn a_level_out_of_range_says_nothing() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, None);
    let levels = [
        ("nan", f64::NAN),
        ("above", 1.01),
        ("below", -0.01),
        ("infinite", f64::INFINITY),
    ];
    let entries: Vec<_> = levels
        .iter()
        .map(|(name, level)| (*name, entry(*level, 0.0, 0.0)))
        .collect();
    for (name, _) in levels {
        node(&mut cluster, name, |_| ());
    }
    cluster.apply(report(&entries));
    let answers = ask(&mut cluster, Time::from_seconds(100), Arguments::default());
    assert_eq!(answers.scores, [NEUTRAL_SCORE; 4]);
}

#[test]
fn too_many_nodes_over_a_limit_turn_the_filter_off() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, None);
    for name in ["hot-1", "hot-2", "calm"] {
        node(&mut cluster, name, |_| ());
    }
    node(&mut cluster, "cordoned", |record| record.unschedulable = true);
    node(&mut cluster, "small", |record| {
        record.allocatable.milli_cpu = 100.0
    });
    cluster.apply(report(&[
        ("hot-1", entry(0.9, 0.0, 50.0)),
        ("hot-2", entry(0.9, 0.0, 50.0)),
        ("calm", entry(0.1, 0.0, 0.0)),
    ]));
    for (ratio, filtered) in [(1.0, true), (0.67, true), (0.66, false), (0.0, false)] {
        let arguments = [("maxExcludedRatio", Value::Float(ratio))].into_iter().collect();
        let answers = ask(&mut cluster, Time::from_seconds(100), arguments);
        assert_eq!(
            answers.code("hot-1").is_some(),
            filtered,
            "at {ratio}, with 2 of 3 over a limit"
        );
        assert_eq!(answers.code("calm"), None);
        let told = format!(
            "plugin `mco-plugin`: 2 of 3 nodes that pods could go to are over a hard limit, a share of 0.67 where \
             `maxExcludedRatio` is {ratio}: for these pods nodes were scored but not filtered by hard limits"
        );
        let expected = if filtered { vec![] } else { vec![told] };
        assert_eq!(answers.warnings, expected, "at {ratio}");
    }
}

#[test]
fn kata_readiness_counts_when_limits_do_not() {
    let mut cluster = Cluster::new("default");
    pod(&mut cluster, Some("kata-qemu"));
    node(&mut cluster, "plain", |_| ());
    cluster.apply(report(&[("plain", entry(0.9, 9.0, 0.0))]));
    let arguments = [("maxExcludedRatio", Value::Int(0))].into_iter().collect();
    let answers = ask(&mut cluster, Time::from_seconds(100), arguments);
    assert_eq!(answers.code("plain"), Some("kata_not_ready"));
}
