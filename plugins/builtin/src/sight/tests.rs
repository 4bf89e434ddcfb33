//! Counts kept up to date are those that counting anew gives.

use super::*;
use crate::fixture::Fixture;
use mco_model::event::NodeRecord;
use mco_model::spec::{LabelSelector, PodAffinityTerm, Text};
use mco_model::status::TaskStatus;
use mco_model::{Event, NodeId};
use proptest::prelude::*;

const NODES: usize = 4;
const PODS: usize = 6;

/// Nodes in two zones, the last one in none; pods that count, of which every second holds terms.
fn cluster(placed: &[Option<usize>]) -> (Fixture, Vec<TaskId>) {
    let mut fixture = Fixture::new();
    fixture.queue("default", |_| {});
    fixture.job("g", "default", |_| {});
    for index in 0..NODES {
        let mut node = NodeRecord {
            name: format!("n{index}").into(),
            ready: true,
            ..NodeRecord::default()
        };
        if index + 1 < NODES {
            node.labels
                .insert("zone".into(), format!("z{}", index % 2).into());
        }
        fixture.cluster.apply(Event::NodeSet(Box::new(node)));
    }
    let pods = placed.iter().enumerate().map(|(index, place)| {
        let node = place.map_or_else(String::new, |node| format!("n{node}"));
        fixture.pod(&format!("p{index}"), "g", &node, "cpu=1", |pod| {
            let app = if index == 3 { "db" } else { "web" };
            pod.labels.insert("app".into(), app.into());
            if index % 2 == 0 {
                pod.spec.pod_anti_affinity.required.push(term("web"));
                pod.spec
                    .pod_affinity
                    .preferred
                    .push((1 + index as i32, term("web")));
            }
        })
    });
    let pods = pods.collect();
    fixture.cluster.refresh();
    (fixture, pods)
}

fn term(app: &str) -> PodAffinityTerm {
    let labels = [(Text::from("app"), Text::from(app))].into();
    PodAffinityTerm {
        selector: Some(LabelSelector {
            labels,
            expressions: vec![],
        }),
        topology_key: "zone".into(),
        ..PodAffinityTerm::default()
    }
}

/// Pods by domain and by node, and what is held against the task.
fn look(sight: &mut Sight, cluster: &Cluster, task: TaskId, among: Among) -> String {
    // Looking for others first must not hide anything.
    count(sight, cluster, task, "db", "other");
    let by_domain = count(sight, cluster, task, "web", "t");
    let held = sight.held_against(cluster, task, among);
    let mut held: Vec<(i64, Vec<u32>)> = held.into_iter().map(|held| (held.weight, held.counts)).collect();
    held.sort();
    format!("{by_domain}, held {held:?}")
}

fn count(sight: &mut Sight, cluster: &Cluster, task: TaskId, app: &str, key: &str) -> String {
    let key = TallyKey::Required(cluster.task(task).class, key.into());
    let tally = sight.tally(cluster, key, |topologies| {
        let ready = PodTerm::of(&term(app), &"t".into()).unwrap();
        let sum = DomainSum::new(0, topologies.get(cluster, &ready.topology_key));
        (vec![PodTest::All(vec![ready])], vec![sum])
    });
    let by_node: Vec<u32> = cluster
        .nodes
        .ready()
        .iter()
        .map(|node| tally.on_node(*node, 0))
        .collect();
    let sum = &tally.sums()[0];
    format!("{:?} of {} over {by_node:?}", sum.counts(), sum.total())
}

fn toggle(cluster: &mut Cluster, pod: TaskId, node: NodeId) {
    match cluster.task(pod).node {
        Some(node) => {
            cluster.vacate(pod, node);
            cluster.set_status(pod, TaskStatus::Pending);
            cluster.uncount(pod);
        }
        None => {
            cluster.set_status(pod, TaskStatus::Allocated);
            cluster.count_on(pod, node);
            cluster.occupy(pod, node);
        }
    }
}

proptest! {
    #[test]
    fn counts_follow_what_is_placed_and_taken_back(
        placed in prop::collection::vec(prop::option::of(0..NODES), PODS),
        moves in prop::collection::vec((0..PODS, 0..NODES, any::<bool>()), 0..20),
    ) {
        let (mut fixture, pods) = cluster(&placed);
        let mut sight = Sight::open(&fixture.cluster, HeldKind::Preferred);
        for (pod, node, asks) in moves {
            let node = fixture.cluster.nodes.ready()[node];
            toggle(&mut fixture.cluster, pods[pod], node);
            if asks {
                let anew = &mut Sight::open(&fixture.cluster, HeldKind::Preferred);
                let kept = look(&mut sight, &fixture.cluster, pods[1], Among::All);
                prop_assert_eq!(kept, look(anew, &fixture.cluster, pods[1], Among::All));
            }
        }
    }

    #[test]
    fn a_pod_moved_and_moved_back_leaves_no_trace(
        placed in prop::collection::vec(prop::option::of(0..NODES), PODS),
        pod in 0..PODS,
        node in 0..NODES,
    ) {
        let (mut fixture, pods) = cluster(&placed);
        let mut sight = Sight::open(&fixture.cluster, HeldKind::RequiredAnti);
        let before = look(&mut sight, &fixture.cluster, pods[1], Among::Listed);
        let place = fixture.cluster.task(pods[pod]).node;
        let node = place.unwrap_or(fixture.cluster.nodes.ready()[node]);
        toggle(&mut fixture.cluster, pods[pod], node);
        look(&mut sight, &fixture.cluster, pods[1], Among::Listed);
        toggle(&mut fixture.cluster, pods[pod], node);
        prop_assert_eq!(before, look(&mut sight, &fixture.cluster, pods[1], Among::Listed));
    }
}

#[test]
fn more_tallies_than_are_kept_come_out_right() {
    let (fixture, pods) = cluster(&[Some(0), Some(1), Some(3)]);
    let mut sight = Sight::open(&fixture.cluster, HeldKind::RequiredAnti);
    let first = look(&mut sight, &fixture.cluster, pods[1], Among::Listed);
    assert!(first.starts_with("[1, 1] of 2 over [1, 1, 0, 1]"), "{first}");
    for index in 0..2 * TALLIES {
        let namespace: Text = format!("other-{index}").into();
        let key = TallyKey::Preferred(fixture.cluster.task(pods[0]).class, namespace);
        sight.tally(&fixture.cluster, key, |_| (Vec::new(), Vec::new()));
    }
    assert_eq!(look(&mut sight, &fixture.cluster, pods[1], Among::Listed), first);
}
