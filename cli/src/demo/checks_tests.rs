//! Verdicts and the exit code, by what happened.

use super::super::candidates::Candidate;
use super::super::jobs::Pod;
use super::*;
use crate::reason::Refused;
use std::time::Duration;

const HOST: &str = "h";
const HEATED: Heated = Heated::After(Duration::from_secs(5));

fn job(act: Act, nodes: &[Option<&str>], message: &str) -> Job {
    let pods: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| Pod {
            name: format!("p{at}"),
            node: node.map(str::to_owned),
        })
        .collect();
    let placed = pods.iter().filter(|pod| pod.node.is_some()).count();
    Job {
        name: format!("demo/{}", act as u8),
        act: act as u8,
        min_member: nodes.len() as i64,
        phase: "Running",
        state: if placed == 0 {
            State::Waiting
        } else {
            State::Placed
        },
        pods,
        message: message.to_owned(),
        candidates: Vec::new(),
    }
}

fn refused(mut job: Job, code: &str) -> Job {
    let refused = Refused {
        source: "mco-plugin".into(),
        code: code.into(),
        text: "refused".into(),
        value: Some(30.0),
        threshold: Some(20.0),
        age_seconds: Some(0.5),
    };
    job.candidates = vec![Candidate {
        node: HOST.into(),
        score: None,
        refused: Some(refused),
    }];
    job
}

fn verdicts(jobs: &[Job], heated: &Heated, if_calm: &[(&str, &str)], once: bool) -> (Vec<Verdict>, u8) {
    let (in_part, calm) = (
        BTreeSet::new(),
        if_calm
            .iter()
            .map(|(pod, node)| (pod.to_string(), node.to_string()))
            .collect(),
    );
    let checks = judge(&Facts {
        host: HOST,
        jobs: jobs.iter().collect(),
        in_part: &in_part,
        heated,
        heat_detail: "detail".into(),
        if_calm: Some(&calm),
        once,
        cut_short: None,
    });
    assert!(checks.iter().all(|check| !check.detail.is_empty()), "{checks:?}");
    (
        checks.iter().map(|check| check.verdict).collect(),
        exit_code(&checks),
    )
}

#[test]
fn what_happened_decides() {
    use Verdict::{Failed, Held, NotAsked, NotShown};
    let first = || job(Act::Calm, &[Some(HOST), Some("a")], "");
    let away = || job(Act::Hot, &[Some("a"), Some("b")], "");
    let stuck = || job(Act::Last, &[None, None], "0/3 nodes are unavailable");
    let no = Heated::No("it stayed calm under the load");
    let rows = [
        (
            "all held",
            vec![first(), refused(away(), "psi_io_some"), stuck()],
            HEATED,
            [Held, Held, Held, Held, Held],
            0,
        ),
        (
            "not hot",
            vec![first(), away(), stuck()],
            no.clone(),
            [Held, NotShown, NotShown, Held, Held],
            3,
        ),
        (
            "went there",
            vec![first(), job(Act::Hot, &[Some(HOST), Some("b")], ""), stuck()],
            HEATED,
            [Held, Held, Failed, Held, Held],
            1,
        ),
        (
            "away for other reasons",
            vec![first(), refused(away(), "taint"), stuck()],
            HEATED,
            [Held, Held, NotShown, Held, Held],
            3,
        ),
        (
            "found no place",
            vec![first(), job(Act::Hot, &[None, None], "full"), stuck()],
            HEATED,
            [Held, Held, NotShown, Held, Held],
            3,
        ),
        (
            "first gang waits",
            vec![job(Act::Calm, &[None], "full")],
            no,
            [Failed, NotShown, NotShown, Held, NotAsked],
            1,
        ),
        (
            "waits without a reason",
            vec![
                first(),
                refused(away(), "psi_io_some"),
                job(Act::Last, &[None], ""),
            ],
            HEATED,
            [Held, Held, Held, Held, Failed],
            1,
        ),
        (
            "no load",
            vec![first(), away(), stuck()],
            Heated::NotTried,
            [Held, NotAsked, NotAsked, Held, Held],
            0,
        ),
        (
            "the last one fits",
            vec![first(), away(), job(Act::Last, &[Some("a")], "")],
            Heated::NotTried,
            [Held, NotAsked, NotAsked, Held, NotShown],
            3,
        ),
    ];
    for (name, jobs, heated, expected, code) in rows {
        assert_eq!(
            verdicts(&jobs, &heated, &[], false),
            (expected.to_vec(), code),
            "{name}"
        );
    }
}

#[test]
fn a_lower_score_counts_when_the_gang_would_have_come() {
    let jobs = [
        job(Act::Calm, &[Some(HOST)], ""),
        job(Act::Hot, &[Some("a"), Some("b")], ""),
    ];
    assert_eq!(
        verdicts(&jobs, &HEATED, &[("demo/p0", HOST)], false).0[2],
        Verdict::Held
    );
    assert_eq!(
        verdicts(&jobs, &HEATED, &[("demo/p0", "b")], false).0[2],
        Verdict::NotShown
    );
}

#[test]
fn once_asks_for_a_gang_placed_whole_and_no_more() {
    let (checks, code) = verdicts(&[job(Act::Calm, &[Some("a")], "")], &Heated::NotTried, &[], true);
    assert_eq!(
        checks.iter().filter(|verdict| **verdict == Verdict::Held).count(),
        2
    );
    assert_eq!(code, 0);
    assert_eq!(verdicts(&[], &Heated::NotTried, &[], true).1, 3, "nothing came");
}

#[test]
fn a_gang_in_part_fails_whatever_else_held() {
    let in_part = BTreeSet::from(["demo/1".to_owned()]);
    let first = job(Act::Calm, &[Some("a")], "");
    let checks = judge(&Facts {
        host: HOST,
        jobs: vec![&first],
        in_part: &in_part,
        heated: &Heated::NotTried,
        heat_detail: String::new(),
        if_calm: None,
        once: true,
        cut_short: None,
    });
    assert_eq!((checks[3].verdict, exit_code(&checks)), (Verdict::Failed, 1));
}

#[test]
fn a_story_cut_short_shows_less_than_was_asked_for() {
    let (in_part, heated) = (BTreeSet::new(), Heated::No("the time was over before"));
    let first = job(Act::Calm, &[Some("a")], "");
    let checks = judge(&Facts {
        host: HOST,
        jobs: vec![&first],
        in_part: &in_part,
        heated: &heated,
        heat_detail: String::new(),
        if_calm: None,
        once: false,
        cut_short: Some("the time was over before"),
    });
    use Verdict::{Held, NotShown};
    let verdicts: Vec<_> = checks.iter().map(|check| check.verdict).collect();
    assert_eq!(verdicts, [Held, NotShown, NotShown, Held, NotShown]);
    assert_eq!(exit_code(&checks), 3);
    assert_eq!(checks[4].detail, "skipped: the time was over before");
}
