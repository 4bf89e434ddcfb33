//! What placement rules look at in a pod, a node or a selector, freed of everything a scheduler does not read.

use crate::extra::{CardNeeds, CpuNeeds, Quality};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A shared text: names, label keys and values.
pub type Text = Arc<str>;

/// Labels or annotations, sorted by key.
pub type Labels = BTreeMap<Text, Text>;

/// The parts of a pod's spec that filters and scores read. Pods with equal values share a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodSpec {
    /// `spec.nodeSelector`: every pair must be on the node.
    pub node_selector: Labels,
    /// `spec.affinity.nodeAffinity`.
    pub node_affinity: NodeAffinity,
    /// `spec.affinity.podAffinity`.
    pub pod_affinity: PodAffinity,
    /// `spec.affinity.podAntiAffinity`.
    pub pod_anti_affinity: PodAffinity,
    /// `spec.tolerations`.
    pub tolerations: Vec<Toleration>,
    /// `spec.topologySpreadConstraints`.
    pub topology_spread: Vec<TopologySpreadConstraint>,
    /// Host ports of containers; entries without a host port are left out. Ports of init containers do not count, not
    /// even those of restartable ones.
    pub host_ports: Vec<HostPort>,
    /// Image of each container, as written, in order.
    pub images: Vec<Text>,
    /// `spec.runtimeClassName`.
    pub runtime_class: Option<Text>,
    /// `spec.priorityClassName`, as protection of system pods reads it.
    pub priority_class: Option<Text>,
    /// `spec.schedulingGates[].name`.
    pub scheduling_gates: Vec<Text>,
    /// Names of the claims that volumes refer to; generated names (`<pod>-<volume>`) for ephemeral ones.
    pub claims: Vec<Claim>,
    /// The queue that the pod itself names: label `volcano.sh/queue-name`, annotation of that name, or annotation
    /// `scheduling.volcano.sh/queue-name`; empty when it names none.
    pub named_queue: Text,
    /// The pod may use nodes that are taken away at times.
    pub revocable: bool,
    /// How much its containers are bound to what they ask for.
    pub quality: Quality,
    /// What a pod that may have CPUs of its own wants; `None` for any other.
    pub cpus: Option<Box<CpuNeeds>>,
    /// What the pod asks for of cards that are shared; `None` for nothing.
    pub cards: Option<Box<CardNeeds>>,
    /// CPU asked for in milli with 100 for each container that asks for none, as Kubernetes' least and most
    /// allocated scores count it.
    pub non_zero_milli_cpu: i64,
    /// Memory asked for in bytes with 200 MiB for each container that asks for none.
    pub non_zero_memory: i64,
}

/// A volume that needs a PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// An existing claim of the pod's namespace.
    Persistent(Text),
    /// A claim made for this pod alone; the name is the volume's.
    Ephemeral(Text),
}

/// A port on the host that a pod occupies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// Host address; `0.0.0.0` when the pod gives none.
    pub ip: Text,
    /// `TCP` when the pod gives none.
    pub protocol: Text,
    /// The port number as given.
    pub port: i64,
}

/// Node affinity of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeAffinity {
    /// `requiredDuringSchedulingIgnoredDuringExecution`: one term must match; `None` when absent, while an empty
    /// list matches nothing.
    pub required: Option<Vec<NodeSelectorTerm>>,
    /// `preferredDuringSchedulingIgnoredDuringExecution`: weight and term.
    pub preferred: Vec<(i32, NodeSelectorTerm)>,
}

/// All requirements must hold; a term without any matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeSelectorTerm {
    /// `matchExpressions`, on labels.
    pub expressions: Vec<Requirement>,
    /// `matchFields`, on `metadata.name`.
    pub fields: Vec<Requirement>,
}

/// One requirement on a label or field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// Label key or field path.
    pub key: Text,
    /// The operator as written, so that an unknown one can be refused by name.
    pub operator: Operator,
    /// Values, in their order.
    pub values: Vec<Text>,
}

/// Operators of node selectors and label selectors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The value is among those listed.
    In,
    /// The value is absent or not among those listed.
    NotIn,
    /// The key is there.
    Exists,
    /// The key is not there.
    DoesNotExist,
    /// The value is an integer greater than the one listed.
    Gt,
    /// The value is an integer less than the one listed.
    Lt,
    /// Anything else, as written.
    Other(Text),
}

/// A label selector: `matchLabels` and `matchExpressions`, all of which must hold. Empty selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelSelector {
    /// `matchLabels`.
    pub labels: Labels,
    /// `matchExpressions`.
    pub expressions: Vec<Requirement>,
}

/// Affinity or anti-affinity between pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodAffinity {
    /// Terms that must hold.
    pub required: Vec<PodAffinityTerm>,
    /// Weight and term of those that should hold.
    pub preferred: Vec<(i32, PodAffinityTerm)>,
}

/// One term of pod affinity or anti-affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodAffinityTerm {
    /// Pods selected; `None` selects no pod.
    pub selector: Option<LabelSelector>,
    /// Namespaces by name.
    pub namespaces: Vec<Text>,
    /// Namespaces by their labels; empty selects all. Without names and selector: the pod's own namespace.
    pub namespace_selector: Option<LabelSelector>,
    /// Node label whose value makes the domain.
    pub topology_key: Text,
    /// `matchLabelKeys`: keys whose value on the incoming pod is added to the selector.
    pub match_label_keys: Vec<Text>,
    /// `mismatchLabelKeys`.
    pub mismatch_label_keys: Vec<Text>,
}

/// One topology spread constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopologySpreadConstraint {
    /// Greatest allowed difference.
    pub max_skew: i32,
    /// Node label whose value makes the domain.
    pub topology_key: Text,
    /// True for `DoNotSchedule`, false for `ScheduleAnyway`.
    pub hard: bool,
    /// Pods counted; `None` selects no pod.
    pub selector: Option<LabelSelector>,
    /// `minDomains`.
    pub min_domains: Option<i32>,
    /// `nodeAffinityPolicy` is `Honor` (the default).
    pub honor_node_affinity: bool,
    /// `nodeTaintsPolicy` is `Honor` (default is to ignore taints).
    pub honor_node_taints: bool,
    /// `matchLabelKeys`.
    pub match_label_keys: Vec<Text>,
}

/// A toleration of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Toleration {
    /// Taint key; empty with `Exists` tolerates every key.
    pub key: Text,
    /// `Equal` (also when empty), `Exists`, or anything else as written.
    pub operator: Text,
    /// Taint value.
    pub value: Text,
    /// Taint effect; empty tolerates every effect.
    pub effect: Text,
}

/// A taint of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// Key.
    pub key: Text,
    /// Value.
    pub value: Text,
    /// `NoSchedule`, `PreferNoSchedule`, `NoExecute`, or anything else as written.
    pub effect: Text,
}
