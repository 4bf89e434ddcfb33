//! Topology spreading.

use super::*;

#[test]
fn pods_spread_over_domains_up_to_the_skew() {
    let constraint = TopologySpreadConstraint {
        max_skew: 1,
        topology_key: "zone".into(),
        hard: true,
        selector: selects("web"),
        honor_node_affinity: true,
        ..TopologySpreadConstraint::default()
    };
    type Change = fn(&mut PodRecord, &mut TopologySpreadConstraint);
    let rows: [(&str, Change, &[&str]); 6] = [
        ("as it is", |_, _| {}, &["b1"]),
        ("wide", |_, it| it.max_skew = 2, &["a1", "a2", "b1"]),
        (
            "not one of them",
            |pod, _| drop(pod.labels.insert("app".into(), "db".into())),
            &["a1", "a2", "b1"],
        ),
        ("more domains wanted", |_, it| it.min_domains = Some(3), &["b1"]),
        (
            "bound to its zone",
            |pod, _| drop(pod.spec.node_selector.insert("zone".into(), "a".into())),
            &["a1", "a2"],
        ),
        (
            "selects everything",
            |_, it| it.selector = Some(LabelSelector::default()),
            &["a1", "a2", "b1"],
        ),
    ];
    for (what, change, expected) in rows {
        let mut fixture = cluster();
        fixture.pod("web", "g", "a1", "cpu=1", labels("web"));
        let task = fixture.pod("new", "g", "", "cpu=1", |pod| {
            labels("web")(pod);
            let mut constraint = constraint.clone();
            change(pod, &mut constraint);
            pod.spec.topology_spread.push(constraint);
        });
        let plugin = fixture.open_plain(&PredicatesFactory);
        assert_eq!(fits(&fixture, &*plugin, task), expected, "{what}");
    }
}

#[test]
fn pods_being_deleted_do_not_count_for_spreading() {
    let mut fixture = cluster();
    fixture.pod("web", "g", "a1", "cpu=1", |pod| {
        labels("web")(pod);
        pod.deleting = true;
    });
    let task = fixture.pod("new", "g", "", "cpu=1", |pod| {
        labels("web")(pod);
        pod.labels.insert("version".into(), "2".into());
        pod.spec.topology_spread.push(TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "zone".into(),
            hard: true,
            selector: selects("web"),
            match_label_keys: vec!["version".into(), "absent".into()],
            ..TopologySpreadConstraint::default()
        });
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(
        codes(&fixture, &*plugin, task),
        ["fits", "fits", "fits", "topology-label"]
    );
}

#[test]
fn a_taint_takes_a_domain_out_when_the_constraint_honors_it() {
    for (honor, expected) in [(false, vec![]), (true, vec!["a1", "a2", "b1"])] {
        let mut fixture = cluster();
        node(&mut fixture, "c1", "c", |node| {
            node.taints.push(Taint {
                key: "k".into(),
                value: "".into(),
                effect: "NoSchedule".into(),
            });
        });
        for (name, node) in [("w1", "a1"), ("w2", "b1")] {
            fixture.pod(name, "g", node, "cpu=1", labels("web"));
        }
        let task = fixture.pod("new", "g", "", "cpu=1", |pod| {
            labels("web")(pod);
            pod.spec.topology_spread.push(TopologySpreadConstraint {
                max_skew: 1,
                topology_key: "zone".into(),
                hard: true,
                selector: selects("web"),
                honor_node_taints: honor,
                ..TopologySpreadConstraint::default()
            });
        });
        let plugin = fixture.open_plain(&PredicatesFactory);
        assert_eq!(fits(&fixture, &*plugin, task), expected, "honors taints: {honor}");
    }
}
