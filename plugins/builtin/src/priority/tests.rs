use super::*;
use crate::fixture::Fixture;
use mco_framework::SessionPlugin;
use mco_model::event::PriorityClassRecord;
use mco_model::{Event, TaskId};

struct Scene {
    fixture: Fixture,
    high: TaskId,
    high_weak: TaskId,
    low: TaskId,
}

fn scene() -> Scene {
    let mut fixture = Fixture::new();
    for (name, value) in [("high", 10), ("low", 1)] {
        fixture
            .cluster
            .apply(Event::PriorityClassSet(PriorityClassRecord {
                name: name.into(),
                value,
                global_default: false,
            }));
    }
    fixture.node("n", "cpu=8,memory=100,pods=110");
    fixture.queue("q", |_| ());
    fixture.job("high", "q", |group| group.priority_class = "high".into());
    fixture.job("low", "q", |group| group.priority_class = "low".into());
    let high = fixture.pod("high-0", "high", "", "cpu=1", |pod| pod.priority = 5);
    let high_weak = fixture.pod("high-1", "high", "n", "cpu=1", |pod| pod.priority = 4);
    let low = fixture.pod("low-0", "low", "n", "cpu=1", |pod| pod.priority = 9);
    fixture.cluster.refresh();
    Scene {
        fixture,
        high,
        high_weak,
        low,
    }
}

fn job(scene: &Scene, task: TaskId) -> JobId {
    scene.fixture.cluster.task(task).job.unwrap()
}

#[test]
fn the_more_important_comes_first() {
    let scene = scene();
    let view = scene.fixture.view();
    let tasks = Priority.task_order().unwrap();
    assert_eq!(tasks.compare(view, scene.high, scene.high_weak), Ordering::Less);
    assert_eq!(
        tasks.compare(view, scene.high_weak, scene.high),
        Ordering::Greater
    );
    let jobs = Priority.job_order().unwrap();
    let (high, low) = (job(&scene, scene.high), job(&scene, scene.low));
    assert_eq!(jobs.compare(view, high, low), Ordering::Less);
    assert_eq!(jobs.compare(view, low, high), Ordering::Greater);
    assert_eq!(jobs.compare(view, low, low), Ordering::Equal);
}

#[test]
fn only_the_less_important_gives_way() {
    let scene = scene();
    let rows = [
        (
            "job against job, and task against task",
            scene.high,
            vec![scene.high_weak, scene.low],
        ),
        ("a low job takes nothing", scene.low, vec![]),
        ("an equal task stays", scene.high_weak, vec![scene.low]),
    ];
    for (name, evictor, expected) in rows {
        let candidates = [scene.high_weak, scene.low];
        let victims = Priority.victims(scene.fixture.view(), evictor, &candidates);
        assert_eq!(victims, Eviction::Victims(expected), "{name}");
    }
}

#[test]
fn a_job_starves_while_a_task_has_no_place() {
    let scene = scene();
    let view = scene.fixture.view();
    assert!(Priority.starving(view, job(&scene, scene.high)));
    assert!(!Priority.starving(view, job(&scene, scene.low)));
}
