//! Scores on small clusters.

use super::NodeOrderFactory;
use crate::fixture::{Fixture, amounts, conf};
use mco_framework::conf::{Arguments, PluginOption, Value};
use mco_framework::{ScoreError, Scores, SessionPlugin};
use mco_model::event::{NodeRecord, PodRecord, WorkloadKind, WorkloadRecord};
use mco_model::spec::{LabelSelector, NodeSelectorTerm, PodAffinityTerm, Text, TopologySpreadConstraint};
use mco_model::status::TaskStatus;
use mco_model::{Event, TaskId};

const KEYS: [&str; 8] = [
    "nodeaffinity.weight",
    "podaffinity.weight",
    "leastrequested.weight",
    "mostrequested.weight",
    "balancedresource.weight",
    "tainttoleration.weight",
    "imagelocality.weight",
    "podtopologyspread.weight",
];

/// Nodes `a1`, `a2` in zone `a` and `b1` in zone `b`.
fn cluster() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.queue("default", |_| {});
    fixture.job("g", "default", |_| {});
    for (name, zone) in [("a1", "a"), ("a2", "a"), ("b1", "b")] {
        let mut node = NodeRecord {
            name: name.into(),
            allocatable: amounts("cpu=4,memory=4e9,nvidia.com/gpu=4"),
            ready: true,
            ..NodeRecord::default()
        };
        node.labels.insert("kubernetes.io/hostname".into(), name.into());
        node.labels
            .insert("topology.kubernetes.io/zone".into(), zone.into());
        fixture.cluster.apply(Event::NodeSet(Box::new(node)));
    }
    fixture
}

/// Opens the plugin with this weight alone.
fn only(fixture: &mut Fixture, key: &str, weight: i64) -> Box<dyn SessionPlugin> {
    let value = |name: &str| Value::Int(if name == key { weight } else { 0 });
    let arguments: Arguments = KEYS.iter().map(|name| (*name, value(name))).collect();
    fixture.open(
        &NodeOrderFactory,
        &conf(PluginOption {
            arguments,
            ..PluginOption::named("nodeorder")
        }),
    )
}

fn batch(fixture: &Fixture, plugin: &dyn SessionPlugin, task: TaskId) -> Result<Vec<f64>, ScoreError> {
    let view = fixture.view();
    let nodes = view.nodes.ready().to_vec();
    let mut scores = vec![0.0; nodes.len()];
    plugin
        .batch_node_order()
        .unwrap()
        .score(view, task, &nodes, &mut scores)?;
    Ok(scores)
}

fn by_node(fixture: &Fixture, plugin: &dyn SessionPlugin, task: TaskId) -> (Vec<f64>, Vec<bool>) {
    let view = fixture.view();
    let nodes = view.nodes.ready().to_vec();
    let (mut totals, mut failed) = (vec![0.0; nodes.len()], vec![false; nodes.len()]);
    let score = plugin.node_order().unwrap().prepare(view, task);
    score.score(&nodes, &mut Scores::new(&mut totals, &mut failed));
    (totals, failed)
}

fn selects(app: &str) -> Option<LabelSelector> {
    let labels = [(Text::from("app"), Text::from(app))].into();
    Some(LabelSelector {
        labels,
        expressions: vec![],
    })
}

fn app(name: &str) -> impl Fn(&mut PodRecord) {
    move |pod| {
        pod.labels.insert("app".into(), name.into());
    }
}

fn prefers(app: &str, weight: i32) -> impl Fn(&mut PodRecord) {
    let term = PodAffinityTerm {
        selector: selects(app),
        topology_key: "topology.kubernetes.io/zone".into(),
        ..PodAffinityTerm::default()
    };
    move |pod| {
        if weight > 0 {
            pod.spec.pod_affinity.preferred.push((weight, term.clone()));
        } else {
            pod.spec.pod_anti_affinity.preferred.push((-weight, term.clone()));
        }
    }
}

fn place(fixture: &mut Fixture, task: TaskId, node: &str) {
    let node = fixture.cluster.nodes.find(node).unwrap();
    fixture.cluster.set_status(task, TaskStatus::Allocated);
    fixture.cluster.count_on(task, node);
    fixture.cluster.occupy(task, node);
}

#[test]
fn how_full_nodes_are_counts_with_the_task() {
    let mut fixture = cluster();
    fixture.pod("there", "g", "a1", "cpu=1,memory=2e9,nvidia.com/gpu=1", |pod| {
        (pod.spec.non_zero_milli_cpu, pod.spec.non_zero_memory) = (1000, 2_000_000_000);
    });
    let task = fixture.pod("new", "g", "", "cpu=1", |pod| {
        (pod.spec.non_zero_milli_cpu, pod.spec.non_zero_memory) = (1000, 200 << 20);
    });
    let gpu = fixture.pod("gpu", "g", "", "cpu=2,memory=2e9,nvidia.com/gpu=1", |_| {});
    // On a1 50 and 44 percent are free, elsewhere 75 and 94.
    let rows = [
        ("leastrequested.weight", task, [47.0, 84.0, 84.0]),
        ("mostrequested.weight", task, [52.0, 15.0, 15.0]),
        ("balancedresource.weight", task, [100.0, 87.0, 87.0]),
        ("balancedresource.weight", gpu, [79.0, 88.0, 88.0]),
    ];
    for (key, task, expected) in rows {
        let plugin = only(&mut fixture, key, 1);
        assert_eq!(
            by_node(&fixture, &*plugin, task).0,
            expected,
            "{key} of {}",
            fixture.cluster.task(task).name
        );
    }
}

#[test]
fn a_preference_that_cannot_be_read_fails_all_nodes() {
    let mut fixture = cluster();
    let task = fixture.pod("new", "g", "", "cpu=1", |pod| {
        let requirement = mco_model::spec::Requirement {
            key: "bad key".into(),
            operator: mco_model::spec::Operator::Exists,
            values: vec![],
        };
        let term = NodeSelectorTerm {
            expressions: vec![requirement],
            fields: vec![],
        };
        pod.spec.node_affinity.preferred.push((1, term));
    });
    let plugin = only(&mut fixture, "nodeaffinity.weight", 1);
    assert_eq!(by_node(&fixture, &*plugin, task).1, [true; 3]);
    let plugin = only(&mut fixture, "leastrequested.weight", 1);
    assert_eq!(by_node(&fixture, &*plugin, task).1, [false; 3]);
}

#[test]
fn preferred_company_is_stretched_over_the_candidates() {
    let mut fixture = cluster();
    fixture.pod("web", "g", "a1", "cpu=1", app("web"));
    let near = fixture.pod("near", "g", "", "cpu=1", prefers("web", 5));
    let far = fixture.pod("far", "g", "", "cpu=1", prefers("web", -5));
    let plugin = only(&mut fixture, "podaffinity.weight", 2);
    assert_eq!(batch(&fixture, &*plugin, near), Ok(vec![200.0, 200.0, 0.0]));
    assert_eq!(batch(&fixture, &*plugin, far), Ok(vec![0.0, 0.0, 200.0]));
}

#[test]
fn pods_there_have_preferences_too_as_far_as_their_node_is_listed() {
    let mut fixture = cluster();
    fixture.pod("fond", "g", "a1", "cpu=1", prefers("web", 5));
    let late = fixture.pod("late", "g", "", "cpu=1", prefers("web", 50));
    let web = fixture.pod("web", "g", "", "cpu=1", app("web"));
    let choosy = fixture.pod("choosy", "g", "", "cpu=1", |pod| {
        app("web")(pod);
        prefers("nobody", 1)(pod);
    });
    let plugin = only(&mut fixture, "podaffinity.weight", 1);
    assert_eq!(batch(&fixture, &*plugin, web), Ok(vec![100.0, 100.0, 0.0]));
    place(&mut fixture, late, "b1");
    assert_eq!(batch(&fixture, &*plugin, web), Ok(vec![100.0, 100.0, 0.0]));
    // Who prefers something goes through all nodes.
    assert_eq!(batch(&fixture, &*plugin, choosy), Ok(vec![0.0, 0.0, 100.0]));
}

#[test]
fn pods_of_one_service_or_owner_spread_by_themselves() {
    let workload = |kind, name: &str, selector| {
        Event::WorkloadSet(WorkloadRecord {
            kind,
            namespace: "t".into(),
            name: name.into(),
            selector,
        })
    };
    let mut fixture = cluster();
    fixture
        .cluster
        .apply(workload(WorkloadKind::Service, "web", selects("web")));
    fixture
        .cluster
        .apply(workload(WorkloadKind::Service, "headless", None));
    fixture
        .cluster
        .apply(workload(WorkloadKind::ReplicaSet, "rs", selects("db")));
    fixture.cluster.apply(workload(
        WorkloadKind::ReplicationController,
        "rc",
        selects("cache"),
    ));
    for (name, node) in [("web", "a1"), ("db", "b1"), ("cache", "b1")] {
        fixture.pod(name, "g", node, "cpu=1", app(name));
    }
    let owned = |name: &'static str, kind, owner: &'static str| {
        move |pod: &mut PodRecord| {
            app(name)(pod);
            pod.controller = Some((kind, owner.into()));
        }
    };
    let served = fixture.pod("served", "g", "", "cpu=1", app("web"));
    let of_set = fixture.pod(
        "of-set",
        "g",
        "",
        "cpu=1",
        owned("db", WorkloadKind::ReplicaSet, "rs"),
    );
    let of_rc = fixture.pod(
        "of-rc",
        "g",
        "",
        "cpu=1",
        owned("cache", WorkloadKind::ReplicationController, "rc"),
    );
    let lost = fixture.pod(
        "lost",
        "g",
        "",
        "cpu=1",
        owned("db", WorkloadKind::StatefulSet, "gone"),
    );
    let plugin = only(&mut fixture, "podtopologyspread.weight", 1);
    // Raw scores on a1, a2, b1 are 9, 7 and 6: ln 5 for a pod on the node, ln 4 for one in the zone, 6 for the skews.
    assert_eq!(batch(&fixture, &*plugin, served), Ok(vec![66.0, 88.0, 100.0]));
    assert_eq!(batch(&fixture, &*plugin, of_set), Ok(vec![100.0, 100.0, 66.0]));
    assert_eq!(batch(&fixture, &*plugin, of_rc), Ok(vec![100.0, 100.0, 66.0]));
    assert_eq!(batch(&fixture, &*plugin, lost), Ok(vec![0.0; 3]));
}

#[test]
fn nodes_without_the_labels_of_own_constraints_get_nothing() {
    let mut fixture = cluster();
    let bare = NodeRecord {
        name: "bare".into(),
        ready: true,
        ..NodeRecord::default()
    };
    fixture.cluster.apply(Event::NodeSet(Box::new(bare)));
    fixture.pod("web", "g", "a1", "cpu=1", app("web"));
    let spread = |max_skew| {
        move |pod: &mut PodRecord| {
            app("web")(pod);
            pod.spec.topology_spread.push(TopologySpreadConstraint {
                max_skew,
                topology_key: "topology.kubernetes.io/zone".into(),
                selector: selects("web"),
                honor_node_affinity: true,
                ..TopologySpreadConstraint::default()
            });
        }
    };
    let task = fixture.pod("new", "g", "", "cpu=1", spread(1));
    let odd = fixture.pod("odd", "g", "", "cpu=1", spread(-4));
    let plugin = only(&mut fixture, "podtopologyspread.weight", 1);
    assert_eq!(batch(&fixture, &*plugin, task), Ok(vec![0.0, 0.0, 100.0, 0.0]));
    assert_eq!(batch(&fixture, &*plugin, odd), Ok(vec![100.0, 100.0, 100.0, 0.0]));
}

#[test]
fn terms_that_cannot_be_read_break_the_scores() {
    let mut fixture = cluster();
    let bad = || LabelSelector {
        labels: [("bad key".into(), "".into())].into(),
        expressions: vec![],
    };
    let affinity = fixture.pod("affinity", "g", "", "cpu=1", |pod| {
        let term = PodAffinityTerm {
            selector: Some(bad()),
            ..PodAffinityTerm::default()
        };
        pod.spec.pod_affinity.required.push(term);
    });
    let spread = fixture.pod("spread", "g", "", "cpu=1", |pod| {
        pod.spec.topology_spread.push(TopologySpreadConstraint {
            selector: Some(bad()),
            ..Default::default()
        });
    });
    let plugin = fixture.open_plain(&NodeOrderFactory);
    for task in [affinity, spread] {
        let error = batch(&fixture, &*plugin, task).unwrap_err();
        assert!(error.to_string().contains("`bad key` is no label key"), "{error}");
    }
}
