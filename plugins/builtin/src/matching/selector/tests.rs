//! Tests of `selector`.

use super::*;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(key, value)| (Text::from(*key), Text::from(*value)))
        .collect()
}

fn requirement(key: &str, operator: Operator, values: &[&str]) -> Requirement {
    Requirement {
        key: key.into(),
        operator,
        values: values.iter().map(|value| Text::from(*value)).collect(),
    }
}

#[test]
fn operators_judge_the_label() {
    let node = labels(&[("zone", "a"), ("n", "5"), ("plus", "+5"), ("empty", "")]);
    let cases = [
        (requirement("zone", Operator::In, &["a", "b"]), true),
        (requirement("zone", Operator::In, &["b"]), false),
        (requirement("rack", Operator::In, &["a"]), false),
        (requirement("empty", Operator::In, &[""]), true),
        (requirement("zone", Operator::NotIn, &["b"]), true),
        (requirement("rack", Operator::NotIn, &["b"]), true),
        (requirement("zone", Operator::NotIn, &["a"]), false),
        (requirement("zone", Operator::Exists, &[]), true),
        (requirement("rack", Operator::DoesNotExist, &[]), true),
        (requirement("n", Operator::Gt, &["04"]), true),
        (requirement("n", Operator::Gt, &["5"]), false),
        (requirement("n", Operator::Lt, &["6"]), true),
        (requirement("plus", Operator::Gt, &["4"]), true),
        (requirement("zone", Operator::Gt, &["1"]), false),
        (requirement("empty", Operator::Lt, &["1"]), false),
        (requirement("rack", Operator::Lt, &["1"]), false),
    ];
    for (requirement, expected) in cases {
        let selector = Selector::of_nodes(std::slice::from_ref(&requirement)).unwrap();
        assert_eq!(selector.matches(&node), expected, "{requirement:?}");
    }
}

#[test]
fn what_kubernetes_refuses_is_an_error() {
    let bad = [
        requirement("zone", Operator::In, &[]),
        requirement("zone", Operator::NotIn, &[]),
        requirement("zone", Operator::Exists, &["a"]),
        requirement("zone", Operator::DoesNotExist, &["a"]),
        requirement("n", Operator::Gt, &["1", "2"]),
        requirement("n", Operator::Gt, &["-1"]),
        requirement("n", Operator::Lt, &["4.5"]),
        requirement("n", Operator::Lt, &["9223372036854775808"]),
        requirement("", Operator::In, &["a"]),
        requirement("zone", Operator::In, &["a", "-x-"]),
        requirement("zone", Operator::Other("Equals".into()), &["a"]),
    ];
    for requirement in bad {
        assert!(
            Selector::of_nodes(std::slice::from_ref(&requirement)).is_err(),
            "{requirement:?}"
        );
    }
}

#[test]
fn pods_are_not_compared_by_number() {
    let selector = LabelSelector {
        expressions: vec![requirement("n", Operator::Gt, &["1"])],
        ..LabelSelector::default()
    };
    let error = Selector::of_pods(Some(&selector)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operator `Gt` on key `n` is not known here: use In, NotIn, Exists or DoesNotExist"
    );
}

#[test]
fn absent_selects_nothing_and_empty_everything() {
    let pod = labels(&[("app", "web")]);
    let nothing = Selector::of_pods(None).unwrap();
    assert!(!nothing.matches(&pod) && !nothing.is_everything());
    assert_eq!(nothing.anchor(), Anchor::Nothing);
    assert!(!nothing.and_pairs(&pod).matches(&pod));
    let everything = Selector::of_pods(Some(&LabelSelector::default())).unwrap();
    assert!(everything.matches(&pod) && everything.is_everything());
    assert_eq!(everything.anchor(), Anchor::Unknown);
    let db = everything.and_pairs(&labels(&[("app", "db")]));
    assert!(!db.matches(&pod));
    assert_eq!(db.anchor(), Anchor::OneOf(&"app".into(), &["db".into()]));
}
