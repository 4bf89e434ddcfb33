//! Which CPUs a pod would get on a node, container by container. Pure.

use super::cpus::Layout;
use super::hints::{self, Alignment, Policy, Wish};
use mco_model::cpus::CpuSet;
use mco_model::extra::{CpuNeeds, NumaRecord};
use mco_model::spec::Text;

/// A node whose CPUs are known.
#[derive(Clone, Debug)]
pub struct NumaNode {
    /// The kubelet's CPU manager gives out whole CPUs.
    gives_cpus: bool,
    /// The kubelet's topology manager policy, as written.
    policy: Text,
    layout: Layout,
    /// CPUs that the node keeps for itself.
    reserved: CpuSet,
    /// Free CPUs; `None` when nothing is said of CPUs.
    free: Option<CpuSet>,
}

/// Why a pod with a policy of its own does not go to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Nothing is known of the node's CPUs.
    Unknown,
    /// The node gives out no whole CPUs.
    NotStatic,
    /// The node has another policy.
    OtherPolicy,
    /// No CPU is free.
    NoneFree,
    /// The node has more NUMA nodes than can be gone through.
    TooManyNumaNodes,
}

/// What would become of a pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The pod's CPUs are not looked at here.
    NotConcerned,
    /// It does not go there.
    Mismatch(Mismatch),
    /// The kubelet would refuse the container at this place.
    Refused(usize),
    /// It gets these CPUs.
    Assigned(CpuSet),
}

impl NumaNode {
    /// A node as its exporter sees it, with these free CPUs.
    #[must_use]
    pub fn of(record: &NumaRecord, free: Option<CpuSet>) -> Self {
        let layout = Layout::of(&record.cpus);
        let reserved = record.reserved_milli_cpu.and_then(|milli| {
            let whole = usize::try_from(milli).unwrap_or(0).div_ceil(1000);
            layout.take(layout.all(), whole)
        });
        Self {
            gives_cpus: &*record.cpu_policy == "static",
            policy: record.topology_policy.clone(),
            layout,
            reserved: reserved.unwrap_or_default(),
            free,
        }
    }

    /// Takes CPUs that were given to a pod.
    pub fn take(&mut self, cpus: &CpuSet) {
        if let Some(free) = &mut self.free {
            free.take(cpus);
        }
    }

    /// Gives CPUs back that were taken.
    pub fn give_back(&mut self, cpus: &CpuSet) {
        if let Some(free) = &mut self.free {
            free.add(cpus);
        }
    }

    /// On how many NUMA nodes these CPUs are.
    #[must_use]
    pub fn numa_count(&self, cpus: &CpuSet) -> usize {
        let nodes: std::collections::BTreeSet<u32> =
            cpus.iter().map(|cpu| self.layout.numa_of(cpu)).collect();
        nodes.len()
    }

    /// What would become of a pod with these needs here.
    #[must_use]
    pub fn answer(&self, needs: &CpuNeeds) -> Answer {
        match self.mismatch(has_policy(needs), &needs.policy) {
            Some(Some(mismatch)) => return Answer::Mismatch(mismatch),
            Some(None) => return Answer::NotConcerned,
            None => {}
        }
        let policy = Policy::named(&self.policy);
        let mut free = self.free.clone();
        let mut assigned = CpuSet::default();
        for (index, number) in needs.containers.iter().enumerate() {
            let open = free.as_ref().map(|free| free.without(&self.reserved));
            let wish = match (&open, number) {
                (Some(_), Some(number)) if *number > 0 => Wish::Cpus(*number as usize),
                _ => Wish::NoPreference,
            };
            let open = open.unwrap_or_default();
            let taken = match hints::align(policy, &self.layout, &open, wish) {
                Alignment::Refused => return Answer::Refused(index),
                Alignment::Free => self.take_from(&open, number.unwrap_or(0), None),
                Alignment::On(nodes) => self.take_from(&open, number.unwrap_or(0), Some(&nodes)),
            };
            assigned.add(&taken);
            if let Some(free) = &mut free {
                free.take(&taken);
            }
        }
        Answer::Assigned(assigned)
    }

    /// CPUs of the NUMA nodes as far as they go, then others; none at all when there are too few.
    fn take_from(&self, open: &CpuSet, number: u32, nodes: Option<&[u32]>) -> CpuSet {
        let number = number as usize;
        let mut taken = CpuSet::default();
        if let Some(nodes) = nodes {
            let aligned = open
                .filtered(|cpu| self.layout.all().contains(cpu) && nodes.contains(&self.layout.numa_of(cpu)));
            let most = number.min(aligned.len());
            match self.layout.take(&aligned, most) {
                Some(cpus) => taken = cpus,
                None => return CpuSet::default(),
            }
        }
        let missing = number.saturating_sub(taken.len());
        match self.layout.take(&open.without(&taken), missing) {
            Some(cpus) => {
                taken.add(&cpus);
                taken
            }
            None => CpuSet::default(),
        }
    }

    /// `None` when the node's CPUs are to be looked at for the pod, else why not, where the pod cares.
    fn mismatch(&self, cares: bool, policy: &str) -> Option<Option<Mismatch>> {
        let found = if !self.gives_cpus {
            Mismatch::NotStatic
        } else if cares && *policy != *self.policy {
            Mismatch::OtherPolicy
        } else if cares && self.free.as_ref().is_none_or(CpuSet::is_empty) {
            Mismatch::NoneFree
        } else if !cares && matches!(&*self.policy, "" | "none") {
            Mismatch::OtherPolicy
        } else if self.layout.numa_nodes().count() > hints::MOST_NUMA_NODES {
            return Some(Some(Mismatch::TooManyNumaNodes));
        } else {
            return None;
        };
        Some(cares.then_some(found))
    }
}

/// The pod has a policy of its own that asks for something.
#[must_use]
pub fn has_policy(needs: &CpuNeeds) -> bool {
    !matches!(&*needs.policy, "" | "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::extra::CpuPlace;

    /// Two NUMA nodes of 4 CPUs each.
    fn node(policy: &str, free: &str) -> NumaNode {
        let place = |cpu: u32| CpuPlace {
            numa: cpu / 4,
            socket: cpu / 4,
            core: cpu,
        };
        let record = NumaRecord {
            cpu_policy: "static".into(),
            topology_policy: policy.into(),
            cpus: (0..8).map(|cpu| (cpu, place(cpu))).collect(),
            ..NumaRecord::default()
        };
        NumaNode::of(&record, Some(CpuSet::parse(free).unwrap()))
    }

    fn needs(policy: &str, containers: &[Option<u32>]) -> CpuNeeds {
        CpuNeeds {
            policy: policy.into(),
            containers: containers.to_vec(),
        }
    }

    fn assigned(text: &str) -> Answer {
        Answer::Assigned(CpuSet::parse(text).unwrap())
    }

    #[test]
    fn who_is_concerned() {
        use Mismatch::{NoneFree, NotStatic, OtherPolicy};
        let loose = |policy: &str| NumaNode {
            gives_cpus: false,
            ..node(policy, "0-7")
        };
        let cpu = &[Some(1)];
        let rows = [
            (
                "same policy",
                node("restricted", "0-7"),
                "restricted",
                assigned("0"),
            ),
            (
                "another policy",
                node("restricted", "0-7"),
                "best-effort",
                Answer::Mismatch(OtherPolicy),
            ),
            (
                "not static",
                loose("restricted"),
                "restricted",
                Answer::Mismatch(NotStatic),
            ),
            (
                "none free",
                node("restricted", ""),
                "restricted",
                Answer::Mismatch(NoneFree),
            ),
            (
                "no policy of its own",
                node("restricted", "0-7"),
                "",
                assigned("0"),
            ),
            ("none by name", node("restricted", "0-7"), "none", assigned("0")),
            ("nobody has one", node("none", "0-7"), "", Answer::NotConcerned),
            (
                "not static, and no policy of its own",
                loose("restricted"),
                "none",
                Answer::NotConcerned,
            ),
            (
                "a policy nobody knows",
                node("sideways", "0-7"),
                "sideways",
                assigned("0"),
            ),
        ];
        for (name, node, policy, answer) in rows {
            assert_eq!(node.answer(&needs(policy, cpu)), answer, "{name}");
        }
    }

    #[test]
    fn containers_get_their_cpus_one_after_the_other() {
        let rows = [
            ("one", "0-7", vec![Some(3)], assigned("0-2")),
            (
                "each on one NUMA node",
                "0-7",
                vec![Some(3), Some(3)],
                assigned("0-2,4-6"),
            ),
            (
                "who asks for none takes none",
                "0-7",
                vec![None, Some(0), Some(2)],
                assigned("0,1"),
            ),
            (
                "the second does not fit",
                "0-5",
                vec![Some(4), Some(3)],
                Answer::Refused(1),
            ),
            (
                "the first does not fit",
                "0-2,4-6",
                vec![Some(4)],
                Answer::Refused(0),
            ),
            (
                "more than a NUMA node has",
                "0-7",
                vec![Some(5)],
                Answer::Refused(0),
            ),
            ("nothing to give", "0-7", vec![], assigned("")),
        ];
        for (name, free, containers, answer) in rows {
            let found = node("single-numa-node", free).answer(&needs("single-numa-node", &containers));
            assert_eq!(found, answer, "{name}");
        }
    }

    #[test]
    fn who_is_aligned_as_far_as_it_goes_may_spill_over() {
        let node = node("best-effort", "2-3,4-6");
        assert_eq!(node.answer(&needs("best-effort", &[Some(5)])), assigned("2-6"));
        assert_eq!(
            node.answer(&needs("best-effort", &[Some(6)])),
            assigned(""),
            "too few: none at all"
        );
    }

    /// 1500 milli CPUs are 2 whole ones, the first of all.
    #[test]
    fn reserved_cpus_are_not_given_out() {
        let record = NumaRecord {
            cpu_policy: "static".into(),
            topology_policy: "best-effort".into(),
            reserved_milli_cpu: Some(1500),
            cpus: (0..4)
                .map(|cpu| {
                    (
                        cpu,
                        CpuPlace {
                            core: cpu,
                            ..CpuPlace::default()
                        },
                    )
                })
                .collect(),
            ..NumaRecord::default()
        };
        let mut node = NumaNode::of(&record, Some(CpuSet::parse("0-3").unwrap()));
        assert_eq!(node.answer(&needs("", &[Some(1)])), assigned("2"));
        node.take(&CpuSet::parse("2").unwrap());
        assert_eq!(node.answer(&needs("", &[Some(1)])), assigned("3"));
        node.give_back(&CpuSet::parse("2").unwrap());
        assert_eq!(node.answer(&needs("", &[Some(1)])), assigned("2"));
    }
}
