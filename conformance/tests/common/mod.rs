//! Small clusters for property tests: described by numbers, told to the core as events.

use mco_framework::conf::SchedulerConf;
use mco_framework::tie::TieBreak;
use mco_model::event::{
    Amounts, Event, NodeRecord, PodGroupPhase, PodGroupRecord, PodGroupStatus, PodPhase, PodRecord,
    PriorityClassRecord, QueueRecord,
};
use mco_model::spec::{HostPort, Labels, PodAffinityTerm, PodSpec, Text};
use mco_model::spec::{LabelSelector, Taint, Toleration};
use mco_model::time::Time;
use mco_registry::{CycleParameters, World};
use proptest::prelude::*;

/// The moment of all sessions.
pub const NOW: Time = Time::from_seconds(1_780_315_200);

/// A node.
#[derive(Clone, Debug)]
pub struct NodeShape {
    pub cpu: i32,
    pub memory: i32,
    pub gpu: Option<i32>,
    pub pods: i32,
    pub ready: bool,
    pub cordoned: bool,
    pub tainted: bool,
    pub zone: u8,
}

/// A pod of a group.
#[derive(Clone, Debug)]
pub struct PodShape {
    pub cpu: i32,
    pub memory: i32,
    pub gpu: Option<i32>,
    /// Runs on the node of that number.
    pub on: Option<usize>,
    pub deleting: bool,
    pub role: u8,
    pub priority: i32,
    pub zone: Option<u8>,
    pub tolerates: bool,
    pub port: Option<u8>,
    pub alone_on_its_node: bool,
}

/// A PodGroup with its pods.
#[derive(Clone, Debug)]
pub struct GroupShape {
    pub min: i32,
    pub queue: u8,
    pub priority: u8,
    pub phase: PodGroupPhase,
    pub min_cpu: Option<i32>,
    pub created: i64,
    pub pods: Vec<PodShape>,
}

/// A cluster.
#[derive(Clone, Debug)]
pub struct Shape {
    pub nodes: Vec<NodeShape>,
    pub weights: Vec<i32>,
    pub capability: Option<i32>,
    pub groups: Vec<GroupShape>,
}

fn node() -> impl Strategy<Value = NodeShape> {
    (
        prop_oneof![8 => 1..9_i32, 1 => Just(0)],
        prop_oneof![8 => 1..17_i32, 1 => Just(0)],
        prop::option::weighted(0.3, 0..5_i32),
        prop_oneof![6 => 5..20_i32, 1 => 0..3_i32],
        prop::bool::weighted(0.95),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.15),
        0..3_u8,
    )
        .prop_map(
            |(cpu, memory, gpu, pods, ready, cordoned, tainted, zone)| NodeShape {
                cpu,
                memory,
                gpu,
                pods,
                ready,
                cordoned,
                tainted,
                zone,
            },
        )
}

fn pod(nodes: usize) -> impl Strategy<Value = PodShape> {
    (
        (
            prop_oneof![10 => 1..4_i32, 2 => Just(0), 1 => Just(-1)],
            prop_oneof![8 => 1..5_i32, 2 => Just(0)],
        ),
        (
            prop::option::weighted(0.15, 0..3_i32),
            prop::option::weighted(0.3, 0..nodes),
        ),
        (
            prop::bool::weighted(0.05),
            0..2_u8,
            prop_oneof![1 => Just(1), 1 => -5..5_i32],
        ),
        (prop::option::weighted(0.1, 0..3_u8), prop::bool::weighted(0.3)),
        (prop::option::weighted(0.08, 0..2_u8), prop::bool::weighted(0.08)),
    )
        .prop_map(
            |((cpu, memory), (gpu, on), (deleting, role, priority), (zone, tolerates), (port, alone))| {
                PodShape {
                    cpu,
                    memory,
                    gpu,
                    on,
                    deleting,
                    role,
                    priority,
                    zone,
                    tolerates,
                    port,
                    alone_on_its_node: alone,
                }
            },
        )
}

fn group(nodes: usize) -> impl Strategy<Value = GroupShape> {
    let phase = prop_oneof![
        1 => Just(PodGroupPhase::New),
        1 => Just(PodGroupPhase::Pending),
        3 => Just(PodGroupPhase::Inqueue),
        1 => Just(PodGroupPhase::Running),
        1 => Just(PodGroupPhase::Unknown),
    ];
    (
        prop_oneof![8 => 0..5_i32, 1 => Just(-3), 1 => Just(50)],
        0..4_u8,
        0..3_u8,
        phase,
        prop::option::weighted(0.4, -1..12_i32),
        0..3_i64,
        prop::collection::vec(pod(nodes), 0..6),
    )
        .prop_map(
            |(min, queue, priority, phase, min_cpu, created, pods)| GroupShape {
                min,
                queue,
                priority,
                phase,
                min_cpu,
                created,
                pods,
            },
        )
}

/// Clusters of up to eight nodes and eight groups, with odd values among them.
pub fn shape() -> impl Strategy<Value = Shape> {
    prop::collection::vec(node(), 1..8).prop_flat_map(|nodes| {
        let groups = prop::collection::vec(group(nodes.len()), 0..8);
        let weights = prop::collection::vec(prop_oneof![5 => 1..5_i32, 1 => Just(0)], 1..3);
        (
            Just(nodes),
            weights,
            prop::option::weighted(0.3, 0..20_i32),
            groups,
        )
            .prop_map(|(nodes, weights, capability, groups)| Shape {
                nodes,
                weights,
                capability,
                groups,
            })
    })
}

fn amounts(cpu: i32, memory: i32, gpu: Option<i32>, pods: Option<i32>) -> Amounts {
    let scalar = |name: &str, amount: f64| (Text::from(name), amount);
    let gpu = gpu.map(|gpu| scalar("nvidia.com/gpu", f64::from(gpu) * 1000.0));
    let pods = pods.map(|pods| scalar("pods", f64::from(pods)));
    Amounts {
        milli_cpu: f64::from(cpu) * 500.0,
        memory: f64::from(memory) * 268_435_456.0,
        scalars: gpu.into_iter().chain(pods).collect(),
        given: true,
    }
}

fn one_label(key: &str, value: &str) -> Labels {
    Labels::from([(key.into(), value.into())])
}

/// The name of the node of that number.
pub fn node_name(index: usize) -> Text {
    format!("n{index}").as_str().into()
}

impl Shape {
    /// The events that make the cluster: queues, priorities, nodes, groups, pods.
    pub fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self
            .weights
            .iter()
            .enumerate()
            .map(|(index, weight)| self.queue(index, *weight))
            .collect();
        for (name, value) in [("low", 10), ("high", 1000)] {
            let record = PriorityClassRecord {
                name: name.into(),
                value,
                global_default: false,
            };
            events.push(Event::PriorityClassSet(record));
        }
        events.extend(
            self.nodes
                .iter()
                .enumerate()
                .map(|(index, node)| node.event(index)),
        );
        for (index, group) in self.groups.iter().enumerate() {
            events.push(group.event(index));
            events.extend(
                group
                    .pods
                    .iter()
                    .enumerate()
                    .map(|(pod, shape)| shape.event(index, pod)),
            );
        }
        events
    }

    fn queue(&self, index: usize, weight: i32) -> Event {
        let capability = self
            .capability
            .filter(|_| index == 1)
            .map(|cpu| amounts(cpu, 1000, None, None));
        Event::QueueSet(Box::new(QueueRecord {
            name: if index == 0 {
                "default".into()
            } else {
                format!("q{index}").as_str().into()
            },
            created: Some(Time::from_seconds(index as i64)),
            weight,
            capability: capability.unwrap_or_default(),
            reclaimable: true,
            state: "Open".into(),
            ..QueueRecord::default()
        }))
    }

    /// The world the events make.
    pub fn world(&self) -> World {
        world_of(self.events())
    }
}

/// The world that events make.
pub fn world_of(events: Vec<Event>) -> World {
    let mut world = World::new("default");
    events.into_iter().for_each(|event| world.apply(event));
    world
}

impl NodeShape {
    /// The node of that number.
    pub fn event(&self, index: usize) -> Event {
        let name = node_name(index);
        let allocatable = amounts(self.cpu, self.memory, self.gpu, Some(self.pods));
        let taint = Taint {
            key: "kept".into(),
            value: "yes".into(),
            effect: "NoSchedule".into(),
        };
        Event::NodeSet(Box::new(NodeRecord {
            labels: Labels::from([
                ("kubernetes.io/hostname".into(), name.clone()),
                ("zone".into(), format!("z{}", self.zone).as_str().into()),
            ]),
            name,
            capacity: allocatable.clone(),
            allocatable,
            max_pods: i64::from(self.pods),
            ready: self.ready,
            unschedulable: self.cordoned,
            taints: self.tainted.then_some(taint).into_iter().collect(),
            images: vec![("busybox".into(), 50_000_000)],
            ..NodeRecord::default()
        }))
    }
}

impl GroupShape {
    /// The group of that number. The last queue number names a queue that does not exist.
    pub fn event(&self, index: usize) -> Event {
        Event::PodGroupSet(Box::new(PodGroupRecord {
            namespace: "ns".into(),
            name: format!("g{index}").as_str().into(),
            uid: format!("g{index}").as_str().into(),
            created: Some(Time::from_seconds(1_700_000_000 + self.created)),
            min_member: self.min,
            queue: ["", "default", "q1", "nowhere"][usize::from(self.queue)].into(),
            priority_class: ["", "low", "high"][usize::from(self.priority)].into(),
            min_resources: self.min_cpu.map(|cpu| amounts(cpu, 1, None, None)),
            status: PodGroupStatus {
                phase: self.phase,
                ..PodGroupStatus::default()
            },
            ..PodGroupRecord::default()
        }))
    }
}

impl PodShape {
    /// The pod of that number in the group of that number.
    pub fn event(&self, group: usize, index: usize) -> Event {
        let node = self.on.map(node_name);
        let app = format!("g{group}");
        let pods = self.alone_on_its_node.then(|| PodAffinityTerm {
            selector: Some(LabelSelector {
                labels: one_label("app", &app),
                expressions: Vec::new(),
            }),
            topology_key: "kubernetes.io/hostname".into(),
            ..PodAffinityTerm::default()
        });
        let mut spec = PodSpec {
            node_selector: self
                .zone
                .map(|zone| one_label("zone", &format!("z{zone}")))
                .unwrap_or_default(),
            images: vec!["busybox".into()],
            non_zero_milli_cpu: if self.cpu == 0 {
                100
            } else {
                i64::from(self.cpu) * 500
            },
            non_zero_memory: if self.memory == 0 {
                209_715_200
            } else {
                i64::from(self.memory) * 268_435_456
            },
            ..PodSpec::default()
        };
        spec.pod_anti_affinity.required.extend(pods);
        spec.tolerations.extend(self.tolerates.then(|| Toleration {
            operator: "Exists".into(),
            ..Toleration::default()
        }));
        spec.host_ports.extend(self.port.map(|port| HostPort {
            ip: "0.0.0.0".into(),
            protocol: "TCP".into(),
            port: 8000 + i64::from(port),
        }));
        let request = amounts(self.cpu, self.memory, self.gpu, Some(1));
        Event::PodSet(Box::new(PodRecord {
            namespace: "ns".into(),
            name: format!("g{group}-w{}-{index}", self.role).as_str().into(),
            uid: format!("uid-{group}-{index}").as_str().into(),
            created: Some(Time::from_seconds(1_700_000_100)),
            deleting: self.deleting,
            ours: true,
            phase: if node.is_some() {
                PodPhase::Running
            } else {
                PodPhase::Pending
            },
            node: node.unwrap_or_default(),
            group: app.as_str().into(),
            role: format!("w{}", self.role).as_str().into(),
            priority: self.priority,
            preemptable: true,
            labels: one_label("app", &app),
            best_effort: request.is_empty(),
            request,
            spec,
            ..PodRecord::default()
        }))
    }
}

/// Every plugin and action that places pods, image locality off.
pub fn conf() -> SchedulerConf {
    let text = r#"
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: mco-plugin}]
- plugins:
  - {name: overcommit}
  - {name: drf}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder, arguments: {imagelocality.weight: 0}}
  - {name: binpack}
"#;
    mco_framework::conf::read(text.as_bytes()).expect("the configuration is sound")
}

/// Parameters of the session of that number.
pub fn parameters(number: usize, tie_break: TieBreak, threads: usize) -> CycleParameters {
    CycleParameters {
        uid: format!("s{number}").as_str().into(),
        now: NOW,
        tie_break,
        threads,
    }
}
