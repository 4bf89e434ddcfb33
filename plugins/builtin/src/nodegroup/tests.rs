use super::*;
use crate::fixture::Fixture;

/// Groups named by the letters of each text.
fn groups([required, preferred, refused, avoided]: [&str; 4]) -> NodeGroups {
    let texts = |letters: &str| {
        letters
            .chars()
            .map(|letter| Text::from(letter.to_string()))
            .collect()
    };
    NodeGroups {
        required: texts(required),
        preferred: texts(preferred),
        refused: texts(refused),
        avoided: texts(avoided),
    }
}

#[test]
fn groups_are_admitted_and_scored_by_the_lists_they_are_in() {
    // name, required, preferred, refused, avoided; admitted; score, all of group a
    let rows = [
        ("in no list", ["b", "b", "b", "b"], false, 0.0),
        ("required", ["a", "", "", ""], true, 100.0),
        ("preferred", ["", "a", "", ""], true, 50.0),
        ("both", ["a", "a", "", ""], true, 150.0),
        ("refused", ["", "", "a", ""], false, 0.0),
        ("required and refused", ["a", "", "a", ""], false, 100.0),
        ("avoided", ["", "", "", "a"], true, -1.0),
        ("refused and avoided", ["", "", "a", "a"], true, -1.0),
        ("required and avoided", ["a", "a", "", "a"], true, -1.0),
    ];
    for (name, lists, admitted, points) in rows {
        let groups = groups(lists);
        assert_eq!(
            (admits(&groups, "a"), score(&groups, "a")),
            (admitted, points),
            "{name}"
        );
    }
}

#[test]
fn the_queue_that_the_pod_names_decides() {
    let mut fixture = Fixture::new();
    fixture.node_with("a", "cpu=1", |node| {
        node.labels.insert(GROUP.into(), "a".into());
    });
    fixture.node("plain", "cpu=1");
    fixture.queue("wishes", |queue| {
        queue.node_groups = Some(Box::new(groups(["a", "", "", ""])))
    });
    fixture.queue("none", |_| ());
    fixture.job("j", "none", |_| ());
    // The queue of the job does not count, as in Volcano 1.9. Nodes: a, plain.
    let rows = [
        ("", [true, true], [0.0, 0.0]),
        ("wishes", [true, false], [100.0, 0.0]),
        ("none", [false, false], [0.0, 0.0]),
        ("unknown", [false, false], [0.0, 0.0]),
    ];
    for (named, fits, points) in rows {
        let task = fixture.pod("p", "j", "", "cpu=1", |pod| pod.spec.named_queue = named.into());
        let plugin = fixture.open_plain(&NodeGroupFactory);
        assert_eq!(fixture.fits(&*plugin, task), fits, "{named:?}");
        assert_eq!(fixture.scores(&*plugin, task), points, "{named:?}");
    }
}
