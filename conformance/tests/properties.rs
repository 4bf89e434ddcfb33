//! What holds for every cluster, whatever is in it.

mod common;

use common::{NodeShape, Shape, conf, node_name, parameters, shape, world_of};
use mco_framework::Session;
use mco_framework::tie::TieBreak;
use mco_model::audit::{audit, picture};
use mco_model::event::{Event, PodRecord};
use mco_model::resource::Missing;
use mco_model::status::TaskStatus;
use mco_model::{Cluster, JobId, NodeId, TaskId};
use mco_registry::{Decided, Registry, World, run_cycle};
use proptest::prelude::*;
use std::collections::BTreeMap;

const LOWEST: TieBreak = TieBreak::LowestName;

/// One cycle, its decisions, and the phase of every group.
fn cycle(
    world: &mut World,
    number: usize,
    tie_break: TieBreak,
    threads: usize,
) -> (Decided, BTreeMap<String, String>) {
    let outcome = run_cycle(
        world.cluster_mut(),
        &conf(),
        &Registry::new(),
        parameters(number, tie_break, threads),
    );
    let decided = world.decided(&outcome);
    let phases = world.cluster().jobs().filter_map(|(_, job)| {
        let status = &job.group.as_ref()?.status;
        let conditions: Vec<_> = status
            .conditions
            .iter()
            .map(|condition| (&condition.kind, &condition.reason))
            .collect();
        Some((job.uid.to_string(), format!("{:?} {conditions:?}", status.phase)))
    });
    let phases = phases.collect();
    (decided, phases)
}

fn sorted(mut decided: Decided) -> Decided {
    decided.binds.sort();
    decided.evicts.sort();
    decided.pipelined.sort();
    decided
}

fn sound(cluster: &Cluster) -> Result<(), TestCaseError> {
    let faults = audit(cluster);
    prop_assert!(faults.is_empty(), "{faults:#?}");
    Ok(())
}

/// What plugins say about the session: orders, votes, refusals and scores. What they count shows in it.
fn opinions(session: &Session<'_>) -> Vec<String> {
    let cluster = session.view().cluster();
    let jobs: Vec<JobId> = cluster.session_jobs().map(|(id, _)| id).collect();
    let queues: Vec<_> = cluster.queues().map(|(id, _)| id).collect();
    let mut opinions = Vec::new();
    for left in &jobs {
        for right in &jobs {
            opinions.push(format!("{:?}", session.compare_jobs(*left, *right)));
        }
        let votes = (
            session.job_ready(*left),
            session.job_pipelined(*left),
            session.job_starving(*left),
        );
        opinions.push(format!("{votes:?}"));
    }
    for left in &queues {
        for right in &queues {
            opinions.push(format!("{:?}", session.compare_queues(*left, *right)));
        }
        opinions.push(format!("{:?}", session.overused(*left).map(|reason| reason.text)));
    }
    let mut search = mco_actions::select::Search::new(1);
    for job in &jobs {
        let Some(task) = cluster.job(*job).tasks(TaskStatus::Pending).iter().min().copied() else {
            continue;
        };
        let refusals = search.refusals(session, task, mco_actions::select::Room::Future);
        let fitting: Vec<NodeId> = refusals
            .iter()
            .filter(|(_, refusal)| refusal.is_none())
            .map(|(node, _)| *node)
            .collect();
        let scores = search.scores(session, task, &fitting);
        let texts: Vec<_> = refusals
            .iter()
            .map(|(node, refusal)| (node, refusal.as_ref().map(|r| &r.reason.text)))
            .collect();
        opinions.push(format!("{texts:?} {scores:?}"));
        if let Some(queue) = cluster.job(*job).queue {
            opinions.push(format!(
                "{:?}",
                session.allocatable(queue, task).err().map(|reason| reason.text)
            ));
        }
    }
    opinions
}

/// An operation on tasks and nodes chosen by number among those it can be done to.
#[derive(Clone, Debug)]
enum Step {
    Allocate(usize, usize),
    Pipeline(usize, usize),
    Evict(usize),
    Mark,
    BackToMark,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (any::<usize>(), any::<usize>()).prop_map(|(task, node)| Step::Allocate(task, node)),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(task, node)| Step::Pipeline(task, node)),
        2 => any::<usize>().prop_map(Step::Evict),
        1 => Just(Step::Mark),
        1 => Just(Step::BackToMark),
    ];
    prop::collection::vec(step, 1..25)
}

fn tasks_of(session: &Session<'_>, statuses: &[TaskStatus]) -> Vec<TaskId> {
    let cluster = session.view().cluster();
    let jobs = cluster.session_jobs();
    let mut tasks: Vec<TaskId> = jobs
        .flat_map(|(_, job)| {
            statuses
                .iter()
                .flat_map(|status| job.tasks(*status).to_vec())
                .collect::<Vec<_>>()
        })
        .collect();
    tasks.sort();
    tasks
}

fn take(
    statement: &mut mco_framework::Statement<'_, '_>,
    step: &Step,
    marks: &mut Vec<mco_framework::statement::Savepoint>,
) {
    let session = statement.session();
    let nodes = session.view().cluster().nodes.ready().to_vec();
    let pick = |tasks: Vec<TaskId>, at: usize| (!tasks.is_empty()).then(|| tasks[at % tasks.len()]);
    match step {
        Step::Allocate(task, node) | Step::Pipeline(task, node) if !nodes.is_empty() => {
            let Some(task) = pick(tasks_of(session, &[TaskStatus::Pending]), *task) else {
                return;
            };
            let node = nodes[node % nodes.len()];
            if matches!(step, Step::Allocate(..)) {
                statement.allocate(task, node);
            } else {
                statement.pipeline(task, node);
            }
        }
        Step::Evict(task) => {
            if let Some(task) = pick(
                tasks_of(session, &[TaskStatus::Running, TaskStatus::Bound]),
                *task,
            ) {
                statement.evict(task, "preempt");
            }
        }
        Step::Mark => marks.push(statement.savepoint()),
        Step::BackToMark => {
            if let Some(mark) = marks.pop() {
                statement.rollback_to(mark);
            }
        }
        _ => {}
    }
}

/// Kinds of which more is used on a node than it has, with how much.
fn overcommitted(cluster: &Cluster) -> BTreeMap<String, f64> {
    let nodes = &cluster.nodes;
    let mut over = BTreeMap::new();
    for (id, row) in nodes.iter() {
        let (used, allocatable) = (nodes.used.row(id), nodes.allocatable.row(id));
        for dimension in used.less_equal_failing(&allocatable, Missing::Zero) {
            over.insert(
                format!("{} of {}", dimension.name(&cluster.scalars), row.name),
                used.get(dimension),
            );
        }
    }
    over
}

/// The same events in another order.
fn reordered(mut events: Vec<Event>, keys: &[u32]) -> Vec<Event> {
    let mut keyed: Vec<(u32, Event)> = events
        .drain(..)
        .enumerate()
        .map(|(index, event)| (keys[index % keys.len()].wrapping_mul(index as u32 + 7), event))
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, event)| event).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_operations_then_rollback_leave_everything_as_it_was(shape in shape(), steps in steps()) {
        let mut world = shape.world();
        let (conf, registry) = (conf(), Registry::new());
        let mut session = Session::open(world.cluster_mut(), &conf, &registry, parameters(1, LOWEST, 1));
        let before = (picture(session.view().cluster()), opinions(&session));
        let mut statement = session.begin();
        let mut marks = Vec::new();
        for step in &steps {
            take(&mut statement, step, &mut marks);
            let faults = audit_amounts(statement.session().view().cluster());
            prop_assert!(faults.is_empty(), "{step:?}: {faults:#?}");
        }
        statement.discard();
        prop_assert_eq!(&picture(session.view().cluster()), &before.0);
        prop_assert_eq!(opinions(&session), before.1);
        let mut dropped = session.begin();
        for step in &steps {
            take(&mut dropped, step, &mut Vec::new());
        }
        drop(dropped);
        prop_assert_eq!(&picture(session.view().cluster()), &before.0);
    }

    #[test]
    fn no_node_is_over_its_allocatable_after_a_cycle(shape in shape()) {
        let mut world = shape.world();
        let before = overcommitted(world.cluster());
        for number in 1..4 {
            let (decided, _) = cycle(&mut world, number, TieBreak::Seeded(number as u64), 1);
            for (what, used) in overcommitted(world.cluster()) {
                let allowed = before.get(&what).copied();
                prop_assert!(allowed.is_some_and(|before| used <= before), "{what}: {used} by {decided:?}");
            }
            world.settle(&decided);
        }
    }

    #[test]
    fn a_gang_is_bound_whole_or_not_at_all(shape in shape()) {
        let mut world = shape.world();
        let (decided, _) = cycle(&mut world, 1, LOWEST, 1);
        let cluster = world.cluster();
        for (pod, _) in &decided.binds {
            let task = cluster.find_task(&pod.namespace, &pod.name).expect("a bound pod is known");
            let job = cluster.job(cluster.task(task).job.expect("a bound pod is in a job"));
            prop_assert!(job.is_ready(), "{pod} is bound, of {} only {} are", job.min_available(), job.ready_count());
        }
        let half_placed = cluster.tasks().filter(|(_, task)| {
            matches!(task.status, TaskStatus::Allocated | TaskStatus::Pipelined)
        });
        prop_assert_eq!(half_placed.count(), 0, "reservations last for one session");
    }

    #[test]
    fn the_order_in_which_objects_arrive_does_not_matter(
        shape in shape(),
        keys in prop::collection::vec(any::<u32>(), 5..40),
    ) {
        let (mut one, mut other) = (shape.world(), world_of(reordered(shape.events(), &keys)));
        for number in 1..3 {
            let (decided, phases) = cycle(&mut one, number, LOWEST, 1);
            let (decided_other, phases_other) = cycle(&mut other, number, LOWEST, 1);
            one.settle(&decided);
            other.settle(&decided_other);
            prop_assert_eq!(sorted(decided), sorted(decided_other));
            prop_assert_eq!(phases, phases_other);
        }
    }

    #[test]
    fn what_is_kept_twice_agrees_after_any_events_and_cycles(
        shape in shape(),
        again in shape(),
        removed in prop::collection::vec((0..4_u8, 0..8_usize), 0..6),
    ) {
        let mut world = shape.world();
        sound(world.cluster())?;
        for number in 1..4 {
            let (decided, _) = cycle(&mut world, number, LOWEST, 1);
            sound(world.cluster())?;
            if number == 2 {
                // Objects of another cluster replace those of the same name.
                for event in again.events() {
                    world.apply(event);
                    sound(world.cluster())?;
                }
            } else {
                world.settle(&decided);
            }
            sound(world.cluster())?;
            for (kind, index) in &removed {
                let name = format!("g{index}");
                world.apply(match kind {
                    0 => Event::NodeRemoved { name: node_name(*index) },
                    1 => Event::PodGroupRemoved { namespace: "ns".into(), name: name.as_str().into() },
                    2 => Event::QueueRemoved { name: "q1".into() },
                    _ => Event::PodRemoved { namespace: "ns".into(), name: format!("{name}-w0-{number}").as_str().into() },
                });
                sound(world.cluster())?;
            }
        }
    }

    #[test]
    fn answers_that_are_late_or_stale_or_come_twice_keep_the_books_right(
        shape in shape(),
        answers in prop::collection::vec((0..6_u8, 0..24_usize), 1..40),
    ) {
        let mut world = shape.world();
        let (decided, _) = cycle(&mut world, 1, LOWEST, 1);
        let original = shape.events();
        for (kind, index) in answers {
            let Some((pod, node)) = (!decided.binds.is_empty()).then(|| &decided.binds[index % decided.binds.len()])
            else {
                break;
            };
            let before = original.iter().find_map(|event| match event {
                Event::PodSet(record) if record.name == pod.name && record.namespace == pod.namespace => {
                    Some(record.as_ref().clone())
                }
                _ => None,
            });
            let before = before.expect("what was bound was there");
            let uid = before.uid.clone();
            world.apply(match kind {
                0 => Event::Bound { uid },
                1 => Event::BindFailed { uid, message: "no".into() },
                2 => Event::EvictFailed { uid, message: "no".into() },
                // The pod as it was before it was bound, and as the API server has it since.
                3 => Event::PodSet(Box::new(before)),
                4 => Event::PodSet(Box::new(PodRecord { node: node.clone(), ..before })),
                _ => Event::PodRemoved { namespace: pod.namespace.clone(), name: pod.name.clone() },
            });
            sound(world.cluster())?;
        }
        cycle(&mut world, 2, LOWEST, 1);
        sound(world.cluster())?;
    }

    #[test]
    fn a_failed_bind_frees_what_it_had_taken(shape in shape()) {
        let mut world = shape.world();
        let before = picture_of_nodes(world.cluster());
        let (decided, _) = cycle(&mut world, 1, LOWEST, 1);
        for (pod, _) in &decided.binds {
            let cluster = world.cluster();
            let task = cluster.find_task(&pod.namespace, &pod.name).expect("a bound pod is known");
            let uid = cluster.task(task).uid.clone();
            world.apply(Event::BindFailed { uid, message: "no".into() });
        }
        sound(world.cluster())?;
        prop_assert_eq!(picture_of_nodes(world.cluster()), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn the_number_of_threads_changes_no_decision(shape in shape(), seed in any::<u64>()) {
        let shape = many_nodes(shape, 1300);
        let (mut one, mut two) = (shape.world(), shape.world());
        for number in 1..3 {
            let (decided, phases) = cycle(&mut one, number, TieBreak::Seeded(seed), 1);
            let (decided_two, phases_two) = cycle(&mut two, number, TieBreak::Seeded(seed), 2);
            one.settle(&decided);
            two.settle(&decided_two);
            prop_assert_eq!(decided, decided_two);
            prop_assert_eq!(phases, phases_two);
        }
    }
}

/// Enough nodes that threads have something to share: those of the shape, over and over.
fn many_nodes(mut shape: Shape, count: usize) -> Shape {
    let few: Vec<NodeShape> = shape.nodes.clone();
    shape.nodes = few.into_iter().cycle().take(count).collect();
    shape
}

/// Amounts in the middle of a statement: sums over jobs and nodes wait for the next refresh.
fn audit_amounts(cluster: &Cluster) -> Vec<String> {
    audit(cluster)
        .into_iter()
        .filter(|fault| !fault.starts_with("queue "))
        .collect()
}

fn picture_of_nodes(cluster: &Cluster) -> BTreeMap<String, String> {
    picture(cluster)
        .into_iter()
        .filter(|(key, _)| key.starts_with("node ") || key.starts_with("task "))
        .collect()
}
