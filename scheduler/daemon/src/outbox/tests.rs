use super::*;
use crate::picture::{add_group, add_node, add_pod, cluster, cycle};

/// A command in short.
fn short(command: &Command) -> String {
    match command {
        Command::Bind { pod, node, .. } => format!("bind {} ({}) to {node}", pod.name, pod.uid),
        Command::Evict { pod, reason, .. } => format!("evict {} for {reason}", pod.name),
        Command::GroupStatus { group, status } => {
            format!(
                "group {} ({}) is {}",
                group.name,
                group.uid,
                status.phase.as_str()
            )
        }
        Command::PodCondition { pod, reason, message } => format!("pod {}: {reason}: {message}", pod.name),
        Command::QueueAllocated { queue, allocated } => {
            format!("queue {queue} holds {}", allocated.milli_cpu)
        }
        Command::Tell {
            about,
            reason,
            message,
            ..
        } => {
            let name = match about {
                About::Pod(pod) => &pod.name,
                About::PodGroup(group) => &group.name,
                About::Lease { name, .. } => name,
            };
            format!("tell {name}: {reason}: {message}")
        }
    }
}

fn say(outbox: &mut Outbox, cluster: &mut Cluster) -> Vec<String> {
    let outcome = cycle(cluster);
    outbox.commands(cluster, &outcome).iter().map(short).collect()
}

#[test]
fn a_gang_that_fits_is_bound_by_names_and_told() {
    let mut cluster = cluster();
    add_node(&mut cluster, "n1", 4.0);
    add_group(&mut cluster, "g", 2, "");
    add_pod(&mut cluster, "g-0", "g", 1.0, "");
    add_pod(&mut cluster, "g-1", "g", 1.0, "");
    let said = say(&mut Outbox::default(), &mut cluster);
    assert_eq!(
        said,
        [
            "bind g-0 (uid-g-0) to n1",
            "bind g-1 (uid-g-1) to n1",
            "group g (uid-g) is Running",
            "tell g: Scheduled: pod group is ready",
            "queue default holds 0",
        ]
    );
}

#[test]
fn what_did_not_change_is_not_said_again() {
    let mut cluster = cluster();
    add_node(&mut cluster, "n1", 2.0);
    add_node(&mut cluster, "n2", 2.0);
    add_group(&mut cluster, "g", 1, "");
    add_pod(&mut cluster, "g-0", "g", 3.0, "");
    let mut outbox = Outbox::default();
    let first = say(&mut outbox, &mut cluster);
    assert!(
        first.contains(&"pod g-0: Unschedulable: 0/2 nodes are unavailable: 2 Insufficient cpu.".to_owned()),
        "{first:?}"
    );
    let again = say(&mut outbox, &mut cluster);
    let written: Vec<&String> = again.iter().filter(|said| !said.starts_with("tell")).collect();
    assert!(written.is_empty(), "{written:?}");
}

#[test]
fn a_queue_is_said_to_hold_what_runs_when_that_changes() {
    let mut cluster = cluster();
    add_node(&mut cluster, "n1", 4.0);
    add_group(&mut cluster, "g", 1, "");
    let mut outbox = Outbox::default();
    let holds = |said: Vec<String>| -> Vec<String> {
        said.into_iter()
            .filter(|said| said.starts_with("queue"))
            .collect()
    };
    assert_eq!(holds(say(&mut outbox, &mut cluster)), ["queue default holds 0"]);
    add_pod(&mut cluster, "g-0", "g", 2.0, "n1");
    assert_eq!(
        holds(say(&mut outbox, &mut cluster)),
        ["queue default holds 2000"]
    );
    assert_eq!(holds(say(&mut outbox, &mut cluster)), Vec::<String>::new());
}

#[test]
fn pods_that_no_session_looks_at_are_told_after_a_while() {
    let mut cluster = cluster();
    add_pod(&mut cluster, "orphan", "nobody", 1.0, "");
    add_group(&mut cluster, "lost", 1, "nowhere");
    add_pod(&mut cluster, "lost-0", "lost", 1.0, "");
    let mut outbox = Outbox::default();
    let mut at = |seconds| -> Vec<String> {
        let mut said: Vec<String> = outbox
            .outside(&cluster, Time::from_seconds(seconds))
            .iter()
            .map(short)
            .collect();
        said.sort();
        said
    };
    assert_eq!(at(100), Vec::<String>::new(), "its PodGroup may be on its way");
    assert_eq!(at(102), Vec::<String>::new());
    assert_eq!(
        at(106),
        [
            "tell lost-0: FailedScheduling: queue \"nowhere\" of PodGroup t/lost does not exist",
            "tell orphan: FailedScheduling: PodGroup t/nobody does not exist",
        ]
    );
}

#[test]
fn a_warning_is_news_when_it_comes_and_when_it_comes_back() {
    let mut outbox = Outbox::default();
    let outcome = |warnings: &[&str]| SessionOutcome {
        warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
        ..SessionOutcome::default()
    };
    let rows: [(&[&str], &[&str]); 6] = [
        (&["3 of 10 nodes"], &["3 of 10 nodes"]),
        (&["4 of 12 nodes"], &[]),
        (&["a", "a", "b"], &["a", "b"]),
        (&["a"], &[]),
        (&["b"], &["b"]),
        (&[], &[]),
    ];
    for (warnings, news) in rows {
        assert_eq!(outbox.news(&outcome(warnings)), news, "{warnings:?}");
    }
}
