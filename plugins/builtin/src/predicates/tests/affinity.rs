//! Rules between pods.

use super::*;

#[test]
fn a_pod_goes_where_its_company_is() {
    let mut fixture = cluster();
    fixture.pod("web", "g", "a1", "cpu=1", labels("web"));
    let near = fixture.pod("near", "g", "", "cpu=1", with("web", "zone"));
    let beside = fixture.pod("beside", "g", "", "cpu=1", with("web", HOST));
    let lonely = fixture.pod("lonely", "g", "", "cpu=1", with("db", "zone"));
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(fits(&fixture, &*plugin, near), ["a1", "a2"]);
    assert_eq!(fits(&fixture, &*plugin, beside), ["a1"]);
    assert_eq!(codes(&fixture, &*plugin, lonely), ["pod-affinity"; 4]);
}

#[test]
fn the_first_of_a_kind_needs_no_company_but_the_label() {
    let mut fixture = cluster();
    let first = fixture.pod("first", "g", "", "cpu=1", |pod| {
        labels("web")(pod);
        with("web", "zone")(pod);
    });
    let second = fixture.pod("second", "g", "", "cpu=1", |pod| {
        labels("web")(pod);
        with("web", "zone")(pod);
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(fits(&fixture, &*plugin, first), ["a1", "a2", "b1"]);
    place(&mut fixture, first, "b1");
    assert_eq!(fits(&fixture, &*plugin, second), ["b1"]);
    take_back(&mut fixture, first);
    assert_eq!(fits(&fixture, &*plugin, second), ["a1", "a2", "b1"]);
}

#[test]
fn all_terms_must_speak_of_the_same_pod() {
    let mut fixture = cluster();
    fixture.pod("web", "g", "a1", "cpu=1", labels("web"));
    fixture.pod("db", "g", "a1", "cpu=1", labels("db"));
    let both = fixture.pod("both", "g", "", "cpu=1", |pod| {
        with("web", "zone")(pod);
        with("db", "zone")(pod);
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(codes(&fixture, &*plugin, both), ["pod-affinity"; 4]);
}

#[test]
fn anti_affinity_counts_from_both_sides() {
    let mut fixture = cluster();
    fixture.pod("web", "g", "a1", "cpu=1", labels("web"));
    fixture.pod("shy", "g", "b1", "cpu=1", without("noisy", "zone"));
    let avoids = fixture.pod("avoids", "g", "", "cpu=1", without("web", "zone"));
    let noisy = fixture.pod("noisy", "g", "", "cpu=1", labels("noisy"));
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(
        codes(&fixture, &*plugin, avoids),
        ["pod-anti-affinity", "pod-anti-affinity", "fits", "fits"]
    );
    assert_eq!(
        codes(&fixture, &*plugin, noisy),
        ["fits", "fits", "existing-anti-affinity", "fits"]
    );
}

#[test]
fn nodes_without_anti_affinity_at_the_opening_are_not_listed_later() {
    let mut fixture = cluster();
    fixture.pod("shy", "g", "b1", "cpu=1", without("noisy", HOST));
    let late: Vec<TaskId> = ["l1", "l2"]
        .map(|name| fixture.pod(name, "g", "", "cpu=1", without("noisy", "zone")))
        .into();
    let noisy = fixture.pod("noisy", "g", "", "cpu=1", labels("noisy"));
    let plugin = fixture.open_plain(&PredicatesFactory);
    place(&mut fixture, late[0], "a1");
    assert_eq!(fits(&fixture, &*plugin, noisy), ["a1", "a2", "bare"]);
    place(&mut fixture, late[1], "b1");
    take_back(&mut fixture, late[0]);
    assert_eq!(fits(&fixture, &*plugin, noisy), ["a1", "a2", "bare"]);
    // The next session lists the node.
    place(&mut fixture, late[0], "a1");
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(fits(&fixture, &*plugin, noisy), ["bare"]);
}

#[test]
fn a_task_found_at_ease_stays_so_for_the_session() {
    let mut fixture = cluster();
    fixture.pod("shy", "g", "b1", "cpu=1", without("other", HOST));
    let late = fixture.pod("late", "g", "", "cpu=1", without("noisy", HOST));
    let noisy = fixture.pod("noisy", "g", "", "cpu=1", labels("noisy"));
    let next = fixture.pod("next", "g", "", "cpu=1", labels("noisy"));
    let plugin = fixture.open_plain(&PredicatesFactory);
    assert_eq!(fits(&fixture, &*plugin, noisy).len(), 4);
    place(&mut fixture, late, "b1");
    assert_eq!(fits(&fixture, &*plugin, noisy).len(), 4);
    assert_eq!(fits(&fixture, &*plugin, next), ["a1", "a2", "bare"]);
}

#[test]
fn terms_reach_into_namespaces_by_name_or_by_label() {
    let mut fixture = cluster();
    fixture.cluster.apply(Event::NamespaceSet {
        name: "other".into(),
        labels: [(Text::from("team"), Text::from("x"))].into(),
    });
    fixture.pod("web", "", "a1", "cpu=1", |pod| {
        labels("web")(pod);
        pod.namespace = "other".into();
    });
    let by_label = |team: &str| {
        let labels = [(Text::from("team"), Text::from(team))].into();
        Some(LabelSelector {
            labels,
            expressions: vec![],
        })
    };
    let reach = |name: &str, fixture: &mut Fixture, change: &dyn Fn(&mut PodAffinityTerm)| {
        let mut term = term("web", HOST);
        change(&mut term);
        fixture.pod(name, "g", "", "cpu=1", |pod| {
            pod.spec.pod_affinity.required.push(term)
        })
    };
    let own = reach("own", &mut fixture, &|_| {});
    let named = reach("named", &mut fixture, &|term| {
        term.namespaces = vec!["other".into()]
    });
    let labelled = reach("labelled", &mut fixture, &|term| {
        term.namespace_selector = by_label("x")
    });
    let elsewhere = reach("elsewhere", &mut fixture, &|term| {
        term.namespace_selector = by_label("y")
    });
    let all = reach("all", &mut fixture, &|term| {
        term.namespace_selector = Some(LabelSelector::default())
    });
    let plugin = fixture.open_plain(&PredicatesFactory);
    for (task, expected) in [(own, 0), (named, 1), (labelled, 1), (elsewhere, 0), (all, 1)] {
        assert_eq!(
            fits(&fixture, &*plugin, task).len(),
            expected,
            "{}",
            fixture.cluster.task(task).name
        );
    }
}
