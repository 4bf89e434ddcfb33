//! Events: the only way in. Each carries one object as the scheduler sees it, by names; ids are given on arrival.

use crate::extra::{
    DisruptionBudgetRecord, JobBudget, NodeCards, NodeGroups, NodeUsageRecord, NumaRecord, PodExtra,
    QuotaRecord, TopologyWishes,
};
use crate::interference::InterferenceReport;
use crate::span::Span;
use crate::spec::{LabelSelector, Labels, PodSpec, Taint, Text};
use crate::time::Time;
use std::collections::BTreeMap;

/// Amounts by name, in the units of [`crate::resource::Resource`]: CPU in milli, memory in bytes, `pods` whole, every other
/// scalar in milli.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amounts {
    /// CPU in milli.
    pub milli_cpu: f64,
    /// Memory in bytes.
    pub memory: f64,
    /// Scalars by name, sorted; a name at zero is present.
    pub scalars: Vec<(Text, f64)>,
    /// The list had at least one name. An empty `capability` differs from none.
    pub given: bool,
}

/// One change of the cluster.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each variant names its object")]
pub enum Event {
    NodeSet(Box<NodeRecord>),
    NodeRemoved {
        name: Text,
    },
    PodSet(Box<PodRecord>),
    PodRemoved {
        namespace: Text,
        name: Text,
    },
    PodGroupSet(Box<PodGroupRecord>),
    PodGroupRemoved {
        namespace: Text,
        name: Text,
    },
    QueueSet(Box<QueueRecord>),
    QueueRemoved {
        name: Text,
    },
    PriorityClassSet(PriorityClassRecord),
    PriorityClassRemoved {
        name: Text,
    },
    NamespaceSet {
        name: Text,
        labels: Labels,
    },
    NamespaceRemoved {
        name: Text,
    },
    /// A Service or workload whose selector makes pods belong together for default topology spreading.
    WorkloadSet(WorkloadRecord),
    WorkloadRemoved {
        kind: WorkloadKind,
        namespace: Text,
        name: Text,
    },
    QuotaSet(Box<QuotaRecord>),
    QuotaRemoved {
        namespace: Text,
        name: Text,
    },
    DisruptionBudgetSet(Box<DisruptionBudgetRecord>),
    DisruptionBudgetRemoved {
        namespace: Text,
        name: Text,
    },
    NumatopologySet(Box<NumaRecord>),
    NumatopologyRemoved {
        name: Text,
    },
    /// The load of a node was measured. A node that is gone loses its figures by itself.
    NodeUsageSet(Box<NodeUsageRecord>),
    /// The process that drives the core started then; long ago until it is told.
    ProcessStarted {
        at: Time,
    },
    /// How far local time is ahead of UTC; UTC until it is told.
    UtcOffsetSet {
        seconds: i32,
    },
    /// The interference report was seen at start, or changed.
    ReportSet(Box<InterferenceReport>),
    ReportRemoved,
    /// The API server took the binding.
    Bound {
        uid: Text,
    },
    /// The binding failed: the task is free again.
    BindFailed {
        uid: Text,
        message: Text,
    },
    /// The eviction failed: the task goes on running.
    EvictFailed {
        uid: Text,
        message: Text,
    },
}

/// A Node.
#[derive(Clone, Debug, Default)]
pub struct NodeRecord {
    /// `metadata.name`.
    pub name: Text,
    /// Labels.
    pub labels: Labels,
    /// `status.allocatable`, without oversubscription.
    pub allocatable: Amounts,
    /// `status.capacity`, without oversubscription.
    pub capacity: Amounts,
    /// Extra CPU in milli and memory in bytes by the oversubscription annotations.
    pub oversubscription: (f64, f64),
    /// `status.allocatable.pods` as a whole number: the pod limit.
    pub max_pods: i64,
    /// The Ready condition is absent or True.
    pub ready: bool,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// Image name (each of its names) to size in bytes, `status.images`.
    pub images: Vec<(Text, i64)>,
    /// Label `volcano.sh/revocable-zone`.
    pub revocable_zone: Text,
    /// Cards that pods share; `None` when there are none.
    pub cards: Option<Box<NodeCards>>,
}

/// `status.phase` of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "Kubernetes' own names")]
pub enum PodPhase {
    #[default]
    Unknown,
    Pending,
    Running,
    Succeeded,
    Failed,
}

/// A Pod.
#[derive(Clone, Debug, Default)]
pub struct PodRecord {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`; `namespace/name` when absent.
    pub uid: Text,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// `spec.schedulerName` is one of ours.
    pub ours: bool,
    /// `spec.nodeName`; empty when not bound.
    pub node: Text,
    /// `status.phase`.
    pub phase: PodPhase,
    /// Annotation `scheduling.k8s.io/group-name`; empty when in no group.
    pub group: Text,
    /// Annotation `volcano.sh/task-spec`; may be empty.
    pub role: Text,
    /// Annotation `volcano.sh/template-uid`; may be empty.
    pub template_uid: Text,
    /// Task priority: 1, `spec.priority`, or annotation `volcano.sh/task-priority`.
    pub priority: i32,
    /// Annotation or label `volcano.sh/preemptable`; true when absent.
    pub preemptable: bool,
    /// Labels.
    pub labels: Labels,
    /// What the pod asks for, `pods` = 1 included.
    pub request: Amounts,
    /// What the pod asks for is nothing but `pods`.
    pub best_effort: bool,
    /// The controlling owner, when it is a kind that selects pods.
    pub controller: Option<(WorkloadKind, Text)>,
    /// What placement rules read.
    pub spec: PodSpec,
    /// What only some plugins read.
    pub extra: PodExtra,
    /// The pod's current `PodScheduled` condition: status is True, reason, message.
    pub scheduled_condition: Option<(bool, Text, Text)>,
}

/// A PodGroup.
#[derive(Clone, Debug, Default)]
pub struct PodGroupRecord {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Text,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// `spec.minMember`.
    pub min_member: i32,
    /// `spec.minTaskMember`, by role.
    pub min_task_member: BTreeMap<Text, i32>,
    /// `spec.queue`; empty means the default queue.
    pub queue: Text,
    /// `spec.priorityClassName`.
    pub priority_class: Text,
    /// `spec.minResources`.
    pub min_resources: Option<Amounts>,
    /// `spec.minResources` in whole units by name, as some 1.9.0 formulas take them.
    pub min_resources_whole: Vec<(Text, f64)>,
    /// `spec.minResources` with every name it has, in billionths.
    pub min_resources_named: BTreeMap<Text, i128>,
    /// Annotation or label `volcano.sh/preemptable`; false when absent.
    pub preemptable: bool,
    /// Annotation `volcano.sh/sla-waiting-time` or `sla-waiting-time`; above zero.
    pub waiting_time: Option<Span>,
    /// How many tasks may be taken away at a time.
    pub budget: Option<JobBudget>,
    /// Which roles belong together.
    pub topology: TopologyWishes,
    /// Status as last written.
    pub status: PodGroupStatus,
}

/// `status` of a PodGroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodGroupStatus {
    /// Phase.
    pub phase: PodGroupPhase,
    /// Conditions in their order.
    pub conditions: Vec<PodGroupCondition>,
    /// Running tasks.
    pub running: i32,
    /// Succeeded tasks.
    pub succeeded: i32,
    /// Failed tasks.
    pub failed: i32,
}

/// Phase of a PodGroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Volcano's own names; New is the empty text")]
pub enum PodGroupPhase {
    #[default]
    New,
    Pending,
    Inqueue,
    Running,
    Unknown,
    Completed,
}

impl PodGroupPhase {
    /// The phase as the API spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Pending => "Pending",
            Self::Inqueue => "Inqueue",
            Self::Running => "Running",
            Self::Unknown => "Unknown",
            Self::Completed => "Completed",
        }
    }
}

/// A condition of a PodGroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodGroupCondition {
    /// `type`.
    pub kind: Text,
    /// `status` is True.
    pub status: bool,
    /// Session that wrote it.
    pub transition_id: Text,
    /// When it was written.
    pub last_transition: Option<Time>,
    /// Reason.
    pub reason: Text,
    /// Message.
    pub message: Text,
}

/// A Queue.
#[derive(Clone, Debug, Default)]
pub struct QueueRecord {
    /// `metadata.name`; also its UID.
    pub name: Text,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// `spec.weight`.
    pub weight: i32,
    /// `spec.capability`.
    pub capability: Amounts,
    /// `spec.deserved`.
    pub deserved: Amounts,
    /// `spec.guarantee.resource`.
    pub guarantee: Amounts,
    /// `spec.reclaimable`; true when absent.
    pub reclaimable: bool,
    /// Annotation `volcano.sh/hierarchy`.
    pub hierarchy: Text,
    /// Annotation `volcano.sh/hierarchy-weights`.
    pub hierarchy_weights: Text,
    /// `spec.affinity`; `None` when it is empty.
    pub node_groups: Option<Box<NodeGroups>>,
    /// `status.state`, as written.
    pub state: Text,
    /// PodGroups by phase, as the queue controller counted them.
    pub counted: QueueCounts,
}

/// `status` of a Queue, as far as it counts PodGroups by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "Volcano's own names")]
pub struct QueueCounts {
    pub inqueue: i32,
    pub pending: i32,
    pub running: i32,
    pub unknown: i32,
}

/// A PriorityClass.
#[derive(Clone, Debug, Default)]
pub struct PriorityClassRecord {
    /// `metadata.name`.
    pub name: Text,
    /// `value`.
    pub value: i32,
    /// `globalDefault`.
    pub global_default: bool,
}

/// Kinds whose selectors group pods for default spreading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "Kubernetes' own names")]
pub enum WorkloadKind {
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
}

/// A Service or workload, as far as it selects pods.
#[derive(Clone, Debug)]
pub struct WorkloadRecord {
    /// Which kind.
    pub kind: WorkloadKind,
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// Pods selected; `None` selects none.
    pub selector: Option<LabelSelector>,
}
