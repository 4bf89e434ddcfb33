use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{PluginOption, Value};

fn pods(fixture: &mut Fixture, job: &str, tasks: &str) -> Vec<TaskId> {
    let pod = |(index, role): (usize, &str)| {
        fixture.pod(&format!("{job}-{role}-{index}"), job, "", "cpu=1", |pod| {
            pod.role = role.into()
        })
    };
    tasks.split(' ').enumerate().map(pod).collect()
}

/// Two nodes of 4 CPUs and a job whose tasks `p` and `w` belong together, `p` apart from each other.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.node("a", "cpu=4,pods=9");
    fixture.node("b", "cpu=2,pods=9");
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |group| {
        group.topology.affinity = Some("p,w".into());
        group.topology.anti_affinity = Some("p".into());
    });
    fixture
}

#[test]
fn tasks_come_bucket_by_bucket_and_others_last() {
    let mut fixture = fixture();
    let tasks = pods(&mut fixture, "j", "x p w w p");
    fixture.job("other", "q", |group| group.topology.affinity = Some("w".into()));
    let others = pods(&mut fixture, "other", "w x");
    fixture.job("plain", "q", |_| ());
    let plain = pods(&mut fixture, "plain", "w")[0];
    let plugin = fixture.open_plain(&TaskTopologyFactory);
    let order = |left, right| plugin.task_order().unwrap().compare(fixture.view(), left, right);
    let (x, p1, w2, w3, p4) = (tasks[0], tasks[1], tasks[2], tasks[3], tasks[4]);
    // Buckets: p1 with w2, then p4 with w3, which is drawn to the smaller of both.
    assert_eq!(order(p1, x), Ordering::Less, "in a bucket before in none");
    assert_eq!(
        order(p1, p4),
        Ordering::Less,
        "as many wait in both, the older bucket"
    );
    assert_eq!(order(p1, w2), Ordering::Less, "the role that more is said of");
    assert_eq!(order(w2, w3), Ordering::Less);
    assert_eq!(order(x, others[0]), Ordering::Greater, "across jobs too");
    assert_eq!(order(p1, others[0]), Ordering::Equal);
    assert_eq!(order(x, others[1]), Ordering::Equal);
    assert_eq!(
        order(p1, plain),
        Ordering::Equal,
        "nothing is said of the other job"
    );
}

/// The bucket has 3 tasks, so a score is points x weight x 100 / 3.
#[test]
fn nodes_are_scored_by_how_many_of_the_bucket_fit() {
    let mut fixture = fixture();
    let tasks = pods(&mut fixture, "j", "p w w");
    let mut option = PluginOption::named(NAME);
    option.arguments.set(WEIGHT, Value::Int(3));
    let mut plugin = fixture.open(&TaskTopologyFactory, &conf(option));
    assert_eq!(
        fixture.scores(&*plugin, tasks[0]),
        [300.0, 200.0],
        "3 fit on a, 2 on b"
    );
    let node = fixture.cluster.nodes.find("b").unwrap();
    let place = |fixture: &mut Fixture, status: TaskStatus| {
        fixture.cluster.set_status(tasks[0], status);
        fixture.cluster.count_on(tasks[0], node);
    };
    place(&mut fixture, TaskStatus::Allocated);
    plugin.ledger().unwrap().allocated(fixture.view(), tasks[0]);
    // On a both that wait fit; on b one is placed and one of the two that wait fits.
    assert_eq!(fixture.scores(&*plugin, tasks[1]), [200.0, 200.0]);
    fixture.cluster.set_status(tasks[0], TaskStatus::Pending);
    fixture.cluster.uncount(tasks[0]);
    plugin.ledger().unwrap().deallocated(fixture.view(), tasks[0]);
    assert_eq!(fixture.scores(&*plugin, tasks[1]), [300.0, 200.0], "as before");
}

#[test]
fn a_task_that_does_not_fit_or_is_in_no_bucket_scores_nothing() {
    let mut fixture = fixture();
    let tasks = pods(&mut fixture, "j", "x p");
    let large = fixture.pod("j-w-9", "j", "", "cpu=3", |pod| pod.role = "w".into());
    let plugin = fixture.open_plain(&TaskTopologyFactory);
    assert_eq!(fixture.scores(&*plugin, tasks[0]), [0.0, 0.0]);
    assert_eq!(fixture.scores(&*plugin, large)[1], 0.0);
    let dependence = |task| plugin.node_order().unwrap().dependence(fixture.view(), task);
    assert_eq!(dependence(large), Dependence::Task);
}

#[test]
fn wishes_that_cannot_be_used_are_told_and_leave_the_job_as_others() {
    let mut fixture = fixture();
    let tasks = pods(&mut fixture, "j", "w w");
    let warnings = fixture.warnings(&TaskTopologyFactory, &conf(PluginOption::named(NAME)));
    assert_eq!(
        warnings,
        [
            "PodGroup t/j: metadata.annotations[volcano.sh/task-topology-affinity]: the job has no task \"p\"; the job's \
          topology is not looked at"
        ]
    );
    let plugin = fixture.open_plain(&TaskTopologyFactory);
    assert_eq!(fixture.scores(&*plugin, tasks[0]), [0.0, 0.0]);
}

#[test]
fn roles_come_from_the_annotation_whatever_pods_are_called() {
    let mut fixture = fixture();
    let pod = |fixture: &mut Fixture, name: &str, role: &str| {
        fixture.pod(name, "j", "", "cpu=1", |pod| pod.role = role.into())
    };
    let (first, second) = (
        pod(&mut fixture, "nodash", "p"),
        pod(&mut fixture, "other-w-7", "w"),
    );
    let plugin = fixture.open_plain(&TaskTopologyFactory);
    assert_eq!(
        fixture.scores(&*plugin, first),
        [100.0, 100.0],
        "2 of 2 fit on both"
    );
    assert_eq!(fixture.scores(&*plugin, second), [100.0, 100.0]);
}

#[test]
fn a_weight_that_is_no_whole_number_is_told_and_stays_1() {
    let mut fixture = fixture();
    let tasks = pods(&mut fixture, "j", "p w w");
    let mut option = PluginOption::named(NAME);
    option.arguments.set(WEIGHT, Value::Float(2.5));
    let warnings = fixture.warnings(&TaskTopologyFactory, &conf(option.clone()));
    assert!(
        warnings.len() == 1 && warnings[0].contains("`task-topology.weight`"),
        "{warnings:?}"
    );
    let plugin = fixture.open(&TaskTopologyFactory, &conf(option));
    assert_eq!(fixture.scores(&*plugin, tasks[0])[0], 100.0);
}
