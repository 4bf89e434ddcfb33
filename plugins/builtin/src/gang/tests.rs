use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::PluginOption;
use mco_framework::tie::TieBreak;
use mco_framework::{Plugins, Session, SessionParameters};
use mco_model::event::PodPhase;

struct Only(GangFactory);

impl Plugins for Only {
    fn find(&self, name: &str) -> Option<&dyn PluginFactory> {
        (name == "gang").then_some(&self.0)
    }
}

/// A job with tasks that run, wait, and failed.
fn job(fixture: &mut Fixture, name: &str, min: i32, running: usize, pending: usize, failed: usize) -> JobId {
    let id = fixture.job(name, "q", |group| group.min_member = min);
    for index in 0..running + pending + failed {
        let on_node = index < running || index >= running + pending;
        let node = if on_node { "n" } else { "" };
        fixture.pod(&format!("{name}-{index}"), name, node, "cpu=1", |pod| {
            if index >= running + pending {
                pod.phase = PodPhase::Failed;
            }
        });
    }
    id
}

fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=8,memory=100,pods=110");
    fixture.queue("q", |_| ());
    fixture
}

#[test]
fn a_job_is_served_or_kept_by_its_minimum() {
    let rows = [
        // name, min, running, pending, failed; valid, ready, starving
        ("all run", 2, 2, 0, 0, true, true, false),
        ("enough run", 2, 2, 3, 0, true, true, false),
        ("some wait", 3, 2, 1, 0, true, false, true),
        ("too few are left", 3, 1, 1, 1, false, false, true),
        ("no minimum", 0, 0, 0, 0, true, true, false),
    ];
    for (name, min, running, pending, failed, valid, ready, starving) in rows {
        let mut fixture = fixture();
        let id = job(&mut fixture, "j", min, running, pending, failed);
        let view = fixture.view();
        assert_eq!(Gang.valid(view, id).is_ok(), valid, "valid: {name}");
        assert_eq!(Gang.ready(view, id), ready, "ready: {name}");
        assert_eq!(
            Gang.pipelined(view, id) == Vote::Permit,
            ready,
            "pipelined: {name}"
        );
        assert_eq!(Gang.starving(view, id), starving, "starving: {name}");
    }
}

#[test]
fn an_invalid_job_is_told_why() {
    let mut fixture = fixture();
    let few = job(&mut fixture, "few", 3, 1, 0, 1);
    let reason = Gang.valid(fixture.view(), few).unwrap_err();
    assert_eq!(reason.code, "NotEnoughTasks");
    assert_eq!(
        reason.text,
        "Not enough valid tasks for gang-scheduling, valid: 1, min: 3"
    );
    let roles = fixture.job("roles", "q", |group| {
        group.min_member = 2;
        group.min_task_member = [("master".into(), 1), ("worker".into(), 1)].into();
    });
    for index in 0..2 {
        fixture.pod(&format!("roles-{index}"), "roles", "", "cpu=1", |pod| {
            pod.role = "worker".into()
        });
    }
    let reason = Gang.valid(fixture.view(), roles).unwrap_err();
    assert_eq!(reason.code, "NotEnoughPodsOfTask");
}

#[test]
fn only_what_is_above_the_minimum_may_go() {
    let mut fixture = fixture();
    let evictor = job(&mut fixture, "evictor", 1, 0, 1, 0);
    let evictor = fixture.cluster.job(evictor).all_tasks().next().unwrap();
    let rows = [("spare", 1, 3, 2), ("exact", 2, 2, 0), ("below", 3, 2, 0)];
    for (name, min, running, expected) in rows {
        let id = job(&mut fixture, name, min, running, 0, 0);
        let tasks: Vec<TaskId> = fixture.cluster.job(id).all_tasks().collect();
        let victims = Gang.victims(fixture.view(), evictor, &tasks);
        assert_eq!(victims, Eviction::Victims(tasks[..expected].to_vec()), "{name}");
    }
}

#[test]
fn jobs_that_lack_tasks_come_first() {
    let mut fixture = fixture();
    let ready = job(&mut fixture, "ready", 1, 1, 0, 0);
    let waiting = job(&mut fixture, "waiting", 2, 1, 1, 0);
    let view = fixture.view();
    assert_eq!(Gang.compare(view, waiting, ready), Ordering::Less);
    assert_eq!(Gang.compare(view, ready, waiting), Ordering::Greater);
    assert_eq!(Gang.compare(view, ready, ready), Ordering::Equal);
}

#[test]
fn the_end_of_a_session_tells_every_job_where_it_stands() {
    let mut fixture = fixture();
    job(&mut fixture, "ready", 1, 1, 0, 0);
    let short = job(&mut fixture, "short", 3, 1, 1, 0);
    let placed = fixture.pod("short-placed", "short", "", "cpu=1", |_| ());
    let node = fixture.cluster.nodes.find("n").unwrap();
    let parameters = SessionParameters {
        uid: "s".into(),
        now: Default::default(),
        tie_break: TieBreak::LowestName,
        threads: 1,
    };
    let conf = conf(PluginOption::named("gang"));
    let mut session = Session::open(&mut fixture.cluster, &conf, &Only(GangFactory), parameters);
    let mut statement = session.begin();
    statement.allocate(placed, node);
    statement.keep();
    let outcome = session.close();
    let conditions: Vec<_> = outcome
        .jobs
        .iter()
        .flat_map(|job| &job.status.conditions)
        .map(|condition| (&*condition.kind, &*condition.reason, &*condition.message))
        .collect();
    let message = "1/3 tasks in gang unschedulable: pod group is not ready, 1 Allocated, 1 Pending, 1 Running, \
                   3 minAvailable; Pending: 1 Unschedulable";
    assert_eq!(
        conditions,
        [
            ("Scheduled", "tasks in gang are ready to be scheduled", ""),
            ("Unschedulable", "NotEnoughResources", message),
        ]
    );
    assert_eq!(outcome.jobs[1].job, short);
    let told: Vec<_> = outcome.waiting.iter().map(|task| &*task.message).collect();
    assert!(
        told.contains(&message),
        "tasks repeat what their job is told: {told:?}"
    );
}
