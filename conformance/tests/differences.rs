//! The deliberate differences from Volcano 1.9 that are no crash of their own plugin, each by its name in ARCHITECTURE.md.

use mco_framework::close::SessionOutcome;
use mco_framework::tie::TieBreak;
use mco_framework::{Session, SessionParameters, conf};
use mco_model::status::TaskStatus;
use mco_objects::{Options, read_objects};
use mco_registry::{Decided, Registry, World, run_cycle};

const STOCK: &str = "actions: \"enqueue, allocate, backfill\"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}]
";

fn node(name: &str, cpu: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{cpu: {cpu:?}, memory: 64Gi, \
         pods: '110', nvidia.com/gpu: '8'}}}}\n"
    )
}

fn queue(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{weight: 1{spec}}}\n"
    )
}

fn group(name: &str, spec: &str, phase: &str) -> String {
    format!(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {{name: {name}, namespace: t}}\n\
         spec: {{queue: default, {spec}}}\nstatus: {{phase: {phase}}}\n"
    )
}

fn pod(name: &str, group: &str, role: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: t, annotations: \
         {{scheduling.k8s.io/group-name: {group}, volcano.sh/task-spec: {role:?}}}}}\nspec: {{schedulerName: volcano, {spec}}}\n"
    )
}

fn asks(cpu: &str) -> String {
    format!("containers: [{{name: c, resources: {{requests: {{cpu: {cpu:?}}}}}}}]")
}

fn world(manifests: &str) -> World {
    let read = read_objects(manifests.as_bytes(), "picture", &Options::default());
    assert!(read.errors.is_empty(), "{:?}", read.errors);
    let mut world = World::new("default");
    read.events.into_iter().for_each(|event| world.apply(event));
    world
}

fn parameters() -> SessionParameters {
    SessionParameters {
        uid: "s".into(),
        now: mco_model::time::Time::from_seconds(1_780_315_200),
        tie_break: TieBreak::LowestName,
        threads: 1,
    }
}

fn cycle(world: &mut World, text: &str) -> (SessionOutcome, Decided) {
    let conf = conf::read(text.as_bytes()).expect("the configuration is good");
    let outcome = run_cycle(world.cluster_mut(), &conf, &Registry::new(), parameters());
    let decided = world.decided(&outcome);
    (outcome, decided)
}

fn binds(decided: &Decided) -> Vec<String> {
    let mut binds: Vec<String> = decided
        .binds
        .iter()
        .map(|(pod, node)| format!("{pod} {node}"))
        .collect();
    binds.sort();
    binds
}

#[test]
fn all_nodes() {
    // Sampling would find at most 100 of these, and could miss the only one that is idle.
    let mut picture = queue("default", "");
    for index in 0..300 {
        picture += &node(&format!("n{index:03}"), "4");
        if index != 277 {
            let spec = format!("nodeName: n{index:03}, {}", asks("2"));
            picture += &pod(&format!("old-{index}"), "old", "", &spec)
                .replace("schedulerName: volcano", "schedulerName: other");
        }
    }
    picture += &(group("a", "minMember: 1", "Inqueue") + &pod("a-0", "a", "", &asks("1")));
    let spread = STOCK.replace(", {name: binpack}", "");
    assert_eq!(binds(&cycle(&mut world(&picture), &spread).1), ["t/a-0 n277"]);
}

#[test]
fn best_of_low_scores() {
    let picture = queue("default", "")
        + &node("n1", "4")
        + &node("n2", "8")
        + &group("a", "minMember: 1", "Inqueue")
        + &pod("a-0", "a", "", &asks("2"));
    let conf = "actions: allocate
tiers:
- plugins: [{name: gang}, {name: binpack, arguments: {binpack.weight: -10}}]
";
    // Half of n1 or a quarter of n2, both far below -1: the emptier one is the better.
    assert_eq!(binds(&cycle(&mut world(&picture), conf).1), ["t/a-0 n2"]);
}

#[test]
fn backfill_goes_on() {
    let nothing = "containers: [{name: c}]";
    let picture = queue("default", "")
        + &node("n1", "4")
        + &group("a", "minMember: 1", "Inqueue")
        + &pod("a-0", "a", "", &format!("nodeSelector: {{no: where}}, {nothing}"))
        + &group("b", "minMember: 1", "Inqueue")
        + &pod("b-0", "b", "", nothing);
    let (outcome, decided) = cycle(&mut world(&picture), STOCK);
    assert_eq!(binds(&decided), ["t/b-0 n1"]);
    let waiting = &outcome.waiting[0];
    assert!(
        waiting.message.contains("node affinity/selector"),
        "{}",
        waiting.message
    );
}

#[test]
fn gated_pods_wait() {
    let gate = "schedulingGates: [{name: example.com/wait}], ";
    let mut world = world(
        &[
            node("n1", "4"),
            queue("default", ""),
            group("g", "minMember: 1", "Inqueue"),
            pod("gated", "g", "", &format!("{gate}{}", asks("1"))),
            pod(
                "gated-best-effort",
                "g",
                "",
                &format!("{gate}containers: [{{name: c}}]"),
            ),
            pod("open", "g", "", &asks("1")),
        ]
        .concat(),
    );
    let (_, decided) = cycle(&mut world, STOCK);
    assert_eq!(binds(&decided), ["t/open n1"]);
}

#[test]
fn role_minimums_follow() {
    let before = group("a", "minMember: 1, minTaskMember: {gone: 1}", "Inqueue");
    let after = group("a", "minMember: 1", "Inqueue");
    let rest = queue("default", "") + &node("n1", "4") + &pod("a-0", "a", "worker", &asks("1"));
    let (_, decided) = cycle(&mut world(&format!("{before}{rest}")), STOCK);
    assert_eq!(binds(&decided), [] as [&str; 0], "a role is below its minimum");
    let (_, decided) = cycle(&mut world(&format!("{before}{rest}{after}")), STOCK);
    assert_eq!(binds(&decided), ["t/a-0 n1"], "the role is asked for no longer");
}

#[test]
fn evictions_undone_exactly() {
    let bound = pod("a-0", "a", "", &format!("nodeName: n1, {}", asks("1"))) + "status: {phase: Pending}\n";
    let picture = queue("default", "") + &node("n1", "4") + &group("a", "minMember: 1", "Running") + &bound;
    let mut world = world(&picture);
    let conf = conf::read(STOCK.as_bytes()).expect("good");
    let registry = Registry::new();
    let task = world.cluster().find_task("t", "a-0").expect("it is there");
    let mut session = Session::open(world.cluster_mut(), &conf, &registry, parameters());
    let mut statement = session.begin();
    statement.evict(task, "preempt");
    assert_eq!(
        statement.session().view().task(task).status,
        TaskStatus::Releasing
    );
    statement.discard();
    assert_eq!(session.view().task(task).status, TaskStatus::Bound);
}

#[test]
fn devices_promised_to_nobody() {
    let empty = group(
        "empty",
        "minMember: 1, minResources: {cpu: '1', nvidia.com/gpu: '80'}",
        "Inqueue",
    );
    let picture = queue("default", "")
        + &node("n1", "4")
        + &empty
        + &group("a", "minMember: 1, minResources: {cpu: '1'}", "Pending")
        + &pod("a-0", "a", "", &asks("1"));
    assert_eq!(binds(&cycle(&mut world(&picture), STOCK).1), ["t/a-0 n1"]);
}

#[test]
fn guarantees_above_the_cluster() {
    let picture = queue("default", "")
        + &queue("big", ", guarantee: {resource: {cpu: '100'}}")
        + &node("n1", "4")
        + &group("a", "minMember: 1", "Inqueue").replace("queue: default", "queue: big")
        + &pod("a-0", "a", "", &asks("1"));
    assert_eq!(binds(&cycle(&mut world(&picture), STOCK).1), ["t/a-0 n1"]);
}

#[test]
fn elastic_below_minimum() {
    // More memory than the minimum, less CPU: Volcano takes the difference and fails its own assertion.
    let running = "nodeName: n1, containers: [{name: c, resources: {requests: {cpu: '2', memory: 1Gi, nvidia.com/gpu: '1'}}}]";
    let picture = queue("default", "")
        + &node("n1", "8")
        + &group(
            "a",
            "minMember: 1, minResources: {cpu: '1', memory: 512Mi, nvidia.com/gpu: '4'}",
            "Running",
        )
        + &(pod("a-0", "a", "", running) + "status: {phase: Running}\n")
        + &group("b", "minMember: 1, minResources: {cpu: '1'}", "Pending")
        + &pod("b-0", "b", "", &asks("1"));
    assert_eq!(binds(&cycle(&mut world(&picture), STOCK).1), ["t/b-0 n1"]);
}
