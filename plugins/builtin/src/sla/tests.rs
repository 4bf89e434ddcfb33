use super::*;
use crate::fixture::Fixture;

fn arguments(value: Value) -> Arguments {
    [(WAITING_TIME, value)].into_iter().collect()
}

#[test]
fn the_argument_is_a_duration_above_zero() {
    let text = |text: &str| Value::Str(text.into());
    assert_eq!(usual_waiting_time(&Arguments::default()), Ok(None));
    assert_eq!(
        usual_waiting_time(&arguments(text("1h"))),
        Ok(Some(Span::seconds(3600)))
    );
    for bad in [
        text("soon"),
        text(""),
        text("0"),
        text("-1s"),
        Value::Int(5),
        Value::Bool(true),
        Value::Null,
    ] {
        let warning = usual_waiting_time(&arguments(bad.clone())).unwrap_err();
        assert!(
            warning.contains("`sla-waiting-time` of plugin `sla`"),
            "{bad}: {warning}"
        );
    }
}

/// Jobs made at second 0 unless said otherwise; the session stands for second 100.
fn vote(usual: Option<i64>, own: Option<i64>, created: Option<i64>) -> Vote {
    let mut fixture = Fixture::new();
    fixture.at(100);
    fixture.queue("q", |_| ());
    let job = fixture.job("j", "q", |group| {
        group.waiting_time = own.map(Span::seconds);
        group.created = created.map(Time::from_seconds);
    });
    let plugin = Sla {
        usual: usual.map(Span::seconds),
    };
    plugin.vote(fixture.view(), job)
}

/// A job votes for itself from its creation plus its waiting time on.
#[test]
fn who_has_waited_long_enough_is_permitted_and_nobody_is_refused() {
    let rows = [
        ("no waiting time", None, None, Some(0), Vote::Abstain),
        ("time to go", None, Some(101), Some(0), Vote::Abstain),
        ("over just now", None, Some(100), Some(0), Vote::Permit),
        ("over by the usual time", Some(50), None, Some(50), Vote::Permit),
        (
            "its own time goes before the usual",
            Some(50),
            Some(500),
            Some(0),
            Vote::Abstain,
        ),
        ("made later than now", Some(50), None, Some(200), Vote::Abstain),
        ("made at an unknown time", Some(50), None, None, Vote::Permit),
    ];
    for (name, usual, own, created, expected) in rows {
        assert_eq!(vote(usual, own, created), expected, "{name}");
    }
}

#[test]
fn the_earlier_deadline_comes_first_and_none_last() {
    let mut fixture = Fixture::new();
    fixture.queue("q", |_| ());
    let mut job = |name: &str, created: i64, nanos: Option<i64>| {
        fixture.job(name, "q", |group| {
            group.created = Some(Time::from_seconds(created));
            group.waiting_time = nanos.map(Span);
        })
    };
    let (late, early) = (
        job("late", 0, Some(2_000_000_000)),
        job("early", 1, Some(999_999_999)),
    );
    let (same, never) = (job("same", 2, Some(0)), job("never", 0, None));
    let plugin = Sla { usual: None };
    let order = |left, right| plugin.compare(fixture.view(), left, right);
    assert_eq!(order(early, late), Ordering::Less, "1.999999999 s before 2 s");
    assert_eq!(order(late, early), Ordering::Greater);
    assert_eq!(order(late, same), Ordering::Equal);
    assert_eq!(order(late, never), Ordering::Less);
    assert_eq!(order(never, late), Ordering::Greater);
    assert_eq!(order(never, never), Ordering::Equal);
}
