//! Own placements count as expected load when configured so: a burst spreads instead of piling onto the calmest node, through
//! the real search with its answers kept by class.

use mco_framework::conf;
use mco_framework::tie::TieBreak;
use mco_model::time::Time;
use mco_objects::{Options, read_objects};
use mco_registry::{CycleParameters, Registry, World, run_cycle};
use std::collections::BTreeMap;

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: '64', memory: 64Gi, pods: '110'}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: '64', memory: 64Gi, pods: '110'}}}
---
{apiVersion: v1, kind: Node, metadata: {name: dark}, status: {allocatable: {cpu: '64', memory: 64Gi, pods: '110'}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default}, spec: {weight: 1}}
---
apiVersion: mco.many-core.io/v1alpha1
kind: NodeInterferenceReport
metadata: {name: cluster}
status:
  lastUpdateTime: '2026-06-01T11:59:59Z'
  nodes:
    a: {status: ok, psiAvailable: true, interferenceLevel: 0.125, metrics: {}}
    b: {status: ok, psiAvailable: true, interferenceLevel: 0.375, metrics: {}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: t}, spec: {minMember: 10, queue: default}, status: {phase: Inqueue}}
";

fn burst(arguments: &str) -> BTreeMap<String, usize> {
    let mut manifests = CLUSTER.to_owned();
    for index in 0..10 {
        manifests += &format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: g-{index}, namespace: t, annotations: \
             {{scheduling.k8s.io/group-name: g}}}}, spec: {{schedulerName: volcano, containers: [{{name: c, resources: \
             {{requests: {{cpu: '1'}}}}}}]}}}}\n"
        );
    }
    let read = read_objects(manifests.as_bytes(), "burst", &Options::default());
    assert!(read.errors.is_empty(), "{:?}", read.errors);
    let mut world = World::new("default");
    read.events.into_iter().for_each(|event| world.apply(event));
    let text = format!(
        "actions: allocate\ntiers:\n- plugins: [{{name: gang}}, {{name: mco-plugin{arguments}}}, {{name: predicates}}]\n"
    );
    let conf = conf::read(text.as_bytes()).expect("the configuration is good");
    let parameters = CycleParameters {
        uid: "s".into(),
        now: Time::from_seconds(1_780_315_200),
        tie_break: TieBreak::LowestName,
        threads: 1,
    };
    let outcome = run_cycle(world.cluster_mut(), &conf, &Registry::new(), parameters);
    let mut placed = BTreeMap::new();
    for (_, node) in world.decided(&outcome).binds {
        *placed.entry(node.to_string()).or_default() += 1;
    }
    placed
}

fn counts(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs
        .iter()
        .map(|(node, count)| ((*node).to_owned(), *count))
        .collect()
}

#[test]
fn a_burst_piles_onto_the_calmest_node_by_default() {
    assert_eq!(burst(""), counts(&[("a", 10)]));
}

#[test]
fn a_burst_spreads_when_own_placements_count() {
    // With three on a and one on b all are at the neutral score; one more each by name, and dark is the best for good.
    let arguments = ", arguments: {mco-plugin: {expectedLoad: {levelPerTask: 0.125, seconds: 10}}}";
    assert_eq!(burst(arguments), counts(&[("a", 4), ("b", 2), ("dark", 4)]));
}
