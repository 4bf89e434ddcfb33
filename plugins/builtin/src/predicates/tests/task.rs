//! Rules of a task by itself: templates, limits, volumes, rules that cannot be read.

use super::*;

#[test]
fn answers_for_a_template_hold_for_all_its_pods() {
    let mut fixture = cluster();
    let of_template = |selector: &'static str| {
        move |pod: &mut PodRecord| {
            pod.template_uid = "t".into();
            pod.spec.node_selector.insert("zone".into(), selector.into());
        }
    };
    let first = fixture.pod("first", "g", "", "cpu=1", of_template("a"));
    let second = fixture.pod("second", "g", "", "cpu=1", of_template("b"));
    let plugin = fixture.open(
        &PredicatesFactory,
        &arguments(&[("predicate.CacheEnable", Value::Bool(true))]),
    );
    assert_eq!(fits(&fixture, &*plugin, first), ["a1", "a2"]);
    let answers = answers(&fixture, &*plugin, second);
    assert!(answers[0].1.is_none() && answers[1].1.is_none());
    let refusal = answers[2].1.as_ref().unwrap();
    assert_eq!(refusal.severity, Severity::Error);
    assert_eq!(refusal.reason.text, "plugin equivalence cache predicates failed");
}

#[test]
fn a_full_node_may_have_a_more_final_reason() {
    let mut fixture = cluster();
    for index in 0..3 {
        fixture.pod(&format!("p{index}"), "g", "a1", "", |_| {});
    }
    let plain = fixture.pod("plain", "g", "", "cpu=1", |_| {});
    let picky = fixture.pod("picky", "g", "", "cpu=1", |pod| {
        pod.spec.node_selector.insert("zone".into(), "b".into());
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    let on_a1 = |task| answers(&fixture, &*plugin, task)[0].1.clone().unwrap();
    assert_eq!(
        (on_a1(plain).reason.code, on_a1(plain).severity),
        ("pod-limit", Severity::Unschedulable)
    );
    assert_eq!(
        (on_a1(picky).reason.code, on_a1(picky).severity),
        ("node-affinity", Severity::Unresolvable)
    );
}

#[test]
fn cpu_and_memory_are_kept_for_scarce_resources() {
    let mut fixture = cluster();
    node(&mut fixture, "gpu", "g", |node| {
        node.allocatable = amounts("cpu=8,memory=8e9,gpu=2")
    });
    let small = fixture.pod("small", "g", "", "cpu=2,memory=1e9", |_| {});
    let big = fixture.pod("big", "g", "", "cpu=2.1,memory=1e9", |_| {});
    let greedy = fixture.pod("greedy", "g", "", "cpu=2,memory=5e9", |_| {});
    let user = fixture.pod("user", "g", "", "cpu=8,memory=8e9,gpu=1", |_| {});
    let conf = arguments(&[
        ("predicate.ProportionalEnable", Value::Bool(true)),
        ("predicate.resources", Value::Str("gpu".into())),
        ("predicate.resources.gpu.cpu", Value::Int(3)),
        ("predicate.resources.gpu.memory", Value::Int(2)),
    ]);
    let plugin = fixture.open(&PredicatesFactory, &conf);
    let on_gpu = |task| codes(&fixture, &*plugin, task)[4].clone();
    for (task, expected) in [
        (small, "fits"),
        (big, "proportional"),
        (greedy, "proportional"),
        (user, "fits"),
    ] {
        assert_eq!(on_gpu(task), expected, "{}", fixture.cluster.task(task).name);
    }
}

#[test]
fn pods_that_need_a_volume_are_refused_before_any_node_is_asked() {
    let mut fixture = cluster();
    let task = fixture.pod("p", "g", "", "cpu=1", |pod| {
        pod.spec.claims.push(Claim::Persistent("data".into()))
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    let reason = plugin
        .pre_predicate()
        .unwrap()
        .check(fixture.view(), task)
        .unwrap_err();
    assert_eq!(reason.code, "volumes");
    assert_eq!(
        reason.text,
        "volumes are not supported yet: the pod uses persistent volume claim `data`"
    );
    let check = plugin.predicate().unwrap().prepare(fixture.view(), task);
    let mut refusals = vec![None; 4];
    check.check(fixture.view().nodes.ready(), &mut Verdicts::new(&mut refusals));
    assert!(refusals.iter().all(Option::is_some));
}

#[test]
fn rules_that_cannot_be_read_refuse_the_task() {
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
        pod.spec.pod_anti_affinity.preferred.push((1, term));
    });
    let spread = fixture.pod("spread", "g", "", "cpu=1", |pod| {
        let constraint = TopologySpreadConstraint {
            hard: true,
            selector: Some(bad()),
            ..Default::default()
        };
        pod.spec.topology_spread.push(constraint);
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    let text = |task| {
        plugin
            .pre_predicate()
            .unwrap()
            .check(fixture.view(), task)
            .unwrap_err()
            .text
    };
    let start =
        "plugin InterPodAffinity pre-predicates failed parsing pod: preferredAntiAffinityTerms: `bad key`";
    assert!(text(affinity).starts_with(start), "{}", text(affinity));
    assert!(
        text(spread).starts_with("plugin PodTopologySpread pre-predicates failed"),
        "{}",
        text(spread)
    );
    let off = arguments(&[
        ("predicate.PodAffinityEnable", Value::Bool(false)),
        ("predicate.PodTopologySpreadEnable", Value::Bool(false)),
    ]);
    let plugin = fixture.open(&PredicatesFactory, &off);
    assert_eq!(
        fits(&fixture, &*plugin, affinity).len() + fits(&fixture, &*plugin, spread).len(),
        8
    );
}

#[test]
fn answers_are_shared_by_class_unless_pods_or_templates_matter() {
    let mut fixture = cluster();
    fixture.pod("shy", "g", "b1", "cpu=1", without("noisy", "zone"));
    let hard = TopologySpreadConstraint {
        hard: true,
        ..TopologySpreadConstraint::default()
    };
    let rows: Vec<(TaskId, Dependence)> = vec![
        (
            fixture.pod("plain", "g", "", "cpu=1", |_| {}),
            Dependence::ClassAndNode,
        ),
        (
            fixture.pod("noisy", "g", "", "cpu=1", labels("noisy")),
            Dependence::Task,
        ),
        (
            fixture.pod("with", "g", "", "cpu=1", with("web", "zone")),
            Dependence::Task,
        ),
        (
            fixture.pod("without", "g", "", "cpu=1", without("web", "zone")),
            Dependence::Task,
        ),
        (
            fixture.pod("soft", "g", "", "cpu=1", |pod| {
                pod.spec.topology_spread.push(Default::default())
            }),
            Dependence::ClassAndNode,
        ),
        (
            fixture.pod("hard", "g", "", "cpu=1", |pod| {
                pod.spec.topology_spread.push(hard)
            }),
            Dependence::Task,
        ),
        (
            fixture.pod("template", "g", "", "cpu=1", |pod| pod.template_uid = "t".into()),
            Dependence::ClassAndNode,
        ),
    ];
    let plugin = fixture.open_plain(&PredicatesFactory);
    for (task, expected) in &rows {
        let dependence = plugin.predicate().unwrap().dependence(fixture.view(), *task);
        assert_eq!(dependence, *expected, "{}", fixture.cluster.task(*task).name);
    }
    let plugin = fixture.open(
        &PredicatesFactory,
        &arguments(&[("predicate.CacheEnable", Value::Bool(true))]),
    );
    let dependence = plugin.predicate().unwrap().dependence(fixture.view(), rows[6].0);
    assert_eq!(dependence, Dependence::Task);
    assert!(Switches::read(&Arguments::default()).0.pod_affinity);
}
