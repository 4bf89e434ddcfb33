//! What only some plugins read of objects: budgets, quotas, cards, CPUs, measured load.

use crate::cpus::CpuSet;
use crate::span::Span;
use crate::spec::{LabelSelector, Text};
use crate::time::Time;
use std::collections::BTreeMap;

/// A whole number, or a part of all in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Number(i64),
    /// So many of a hundred.
    Percent(i64),
}

impl Count {
    /// How many that is of `all`; parts are rounded up.
    #[must_use]
    pub fn of(self, all: usize) -> i64 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => {
                let hundredfold = i128::from(percent) * all as i128;
                let up = hundredfold.div_euclid(100) + i128::from(hundredfold.rem_euclid(100) != 0);
                up.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
        }
    }
}

/// How many tasks of a job may be taken away at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobBudget {
    /// Annotation `volcano.sh/jdb-min-available`: at least so many go on running.
    MinAvailable(Count),
    /// Annotation `volcano.sh/jdb-max-unavailable`: at most so many do not run.
    MaxUnavailable(Count),
}

/// What a PodGroup says about which of its roles belong together, as written in its annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyWishes {
    /// `volcano.sh/task-topology-affinity`.
    pub affinity: Option<Text>,
    /// `volcano.sh/task-topology-anti-affinity`.
    pub anti_affinity: Option<Text>,
    /// `volcano.sh/task-topology-task-order`.
    pub order: Option<Text>,
}

impl TopologyWishes {
    /// Nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.affinity.is_none() && self.anti_affinity.is_none() && self.order.is_none()
    }
}

/// Node groups that a queue wants and avoids: `spec.affinity`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGroups {
    /// `nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution`.
    pub required: Vec<Text>,
    /// `nodeGroupAffinity.preferredDuringSchedulingIgnoredDuringExecution`.
    pub preferred: Vec<Text>,
    /// `nodeGroupAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution`.
    pub refused: Vec<Text>,
    /// `nodeGroupAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution`.
    pub avoided: Vec<Text>,
}

/// The cards of a node that pods share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeCards {
    /// Cards alike that are shared by memory or given whole: `volcano.sh/gpu-number` and `volcano.sh/gpu-memory` of the
    /// node's capacity; `None` when one of them is missing or there is no card.
    pub plain: Option<PlainCards>,
    /// Cards that the node's agent registered: annotation `volcano.sh/node-vgpu-register`.
    pub registered: Vec<RegisteredCard>,
    /// Annotation `volcano.sh/node-vgpu-handshake`.
    pub handshake: Handshake,
}

/// Cards alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainCards {
    /// Memory of each.
    pub memory: u64,
    /// Their numbers, without those of annotation `volcano.sh/gpu-unhealthy-ids`.
    pub numbers: Vec<u32>,
}

/// A card that the node's agent registered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegisteredCard {
    /// Its id.
    pub uuid: Text,
    /// How many may share it.
    pub shares: u64,
    /// Its memory.
    pub memory: u64,
    /// What it is, such as `NVIDIA-A100`.
    pub kind: Text,
}

/// How the agent of a node and the scheduler stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// Nothing is said: the cards do not count.
    #[default]
    Absent,
    /// The agent is there.
    Reported,
    /// The agent was asked to report, then; `None` when that is no time.
    Requested(Option<Time>),
    /// The agent is gone.
    Deleted,
}

/// What a container asks for of the cards that a node's agent registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardShare {
    /// Of how many cards.
    pub number: i64,
    /// Memory of each card; 0 when not given.
    pub memory: i64,
    /// Part of each card's memory in percent; `None` when not given.
    pub percent: Option<i64>,
    /// Part of each card's cores in percent.
    pub cores: i64,
}

/// What a pod asks for of cards that are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardNeeds {
    /// `volcano.sh/gpu-memory` of one card.
    pub memory: u64,
    /// `volcano.sh/gpu-number` of whole cards.
    pub number: i64,
    /// Shares of registered cards, for each container that asks for some.
    pub shares: Vec<CardShare>,
    /// Annotation `nvidia.com/use-gputype`.
    pub use_kinds: Option<Text>,
    /// Annotation `nvidia.com/nouse-gputype`.
    pub avoid_kinds: Option<Text>,
}

/// A share of a registered card that a pod has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldShare {
    /// The card's id.
    pub uuid: Text,
    /// Memory.
    pub memory: i64,
    /// Cores in percent.
    pub cores: i64,
}

/// The cards that a pod has, as annotations of the pod say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldCards {
    /// Numbers of plain cards: annotation `volcano.sh/gpu-index`.
    pub numbers: Vec<u32>,
    /// Shares of registered cards: annotation `volcano.sh/vgpu-ids-new`.
    pub shares: Vec<HeldShare>,
}

impl HeldCards {
    /// It has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.shares.is_empty()
    }
}

/// How much a pod's containers are bound to what they ask for; the least comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quality {
    /// They ask for nothing.
    #[default]
    BestEffort,
    /// Anything else.
    Burstable,
    /// Their limits are what they ask for.
    Guaranteed,
}

/// What a pod that may have CPUs of its own wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuNeeds {
    /// Annotation `volcano.sh/numa-topology-policy`; empty when absent.
    pub policy: Text,
    /// Whole CPUs of each container; 0 when it asks for a part of one, `None` when for none.
    pub containers: Vec<Option<u32>>,
}

/// A ResourceQuota's status. Names are as written, amounts in billionths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaRecord {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `status.hard`.
    pub hard: BTreeMap<Text, i128>,
    /// `status.used`.
    pub used: BTreeMap<Text, i128>,
}

/// A PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisruptionBudgetRecord {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `spec.selector`.
    pub selector: Option<LabelSelector>,
    /// `status.disruptionsAllowed`.
    pub allowed: i32,
    /// Names of the pods in `status.disruptedPods`.
    pub disrupted: Vec<Text>,
}

/// A Numatopology: where the CPUs of a node are, and which are free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumaRecord {
    /// The node's name.
    pub node: Text,
    /// `spec.policies.CPUManagerPolicy`.
    pub cpu_policy: Text,
    /// `spec.policies.TopologyManagerPolicy`.
    pub topology_policy: Text,
    /// CPUs that the node keeps for itself, in milli: `spec.resReserved.cpu`.
    pub reserved_milli_cpu: Option<i64>,
    /// Free units by resource: `spec.numares.*.allocatable`.
    pub free: BTreeMap<Text, CpuSet>,
    /// Where each CPU is, by its number: `spec.cpuDetail`.
    pub cpus: BTreeMap<u32, CpuPlace>,
}

/// Where a CPU is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPlace {
    /// NUMA node.
    pub numa: u32,
    /// Socket.
    pub socket: u32,
    /// Core; unique inside its socket only.
    pub core: u32,
}

/// A Numatopology as it stands, with how it came about.
#[derive(Clone, Debug, Default)]
pub struct Numatopology {
    /// As last seen.
    pub record: NumaRecord,
    /// Grows with every change of any of them.
    pub epoch: u64,
    /// At the last change some resource had at least as many free units as before, or it was the first.
    pub grown: bool,
}

/// The load of a node as measured, in percent by period (such as `10m`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeUsageRecord {
    /// The node's name.
    pub node: Text,
    /// When it was measured.
    pub at: Time,
    /// CPU.
    pub cpu: BTreeMap<Text, f64>,
    /// Memory.
    pub memory: BTreeMap<Text, f64>,
}

/// What of a pod only some plugins read, beside its [`PodSpec`](crate::spec::PodSpec).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodExtra {
    /// Label or annotation `volcano.sh/cooldown-time`.
    pub cooldown: Option<Span>,
    /// When the condition `PodScheduled` became True.
    pub scheduled_at: Option<Time>,
    /// `spec.priority`, which may differ from the priority among the tasks of its job.
    pub given_priority: Option<i32>,
    /// Cards that the pod has; `None` when it has none.
    pub cards: Option<Box<HeldCards>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_rounded_up() {
        let rows = [
            (Count::Number(3), 10, 3),
            (Count::Number(-3), 10, -3),
            (Count::Percent(50), 4, 2),
            (Count::Percent(50), 5, 3),
            (Count::Percent(0), 5, 0),
            (Count::Percent(1), 1000, 10),
            (Count::Percent(1), 1001, 11),
            (Count::Percent(-50), 5, -2),
            (Count::Percent(i64::MAX), usize::MAX, i64::MAX),
        ];
        for (count, all, expected) in rows {
            assert_eq!(count.of(all), expected, "{count:?} of {all}");
        }
    }
}
