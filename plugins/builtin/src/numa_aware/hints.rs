//! On which NUMA nodes a container's CPUs should be, by the rules of kubelet's topology manager. Pure.

use super::cpus::Layout;
use mco_model::cpus::CpuSet;

/// No kubelet aligns on nodes with more NUMA nodes; their combinations could not be gone through.
pub const MOST_NUMA_NODES: usize = 16;

/// What a node does about alignment: its kubelet's topology manager policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It aligns nothing. Any text that is none of the others means this.
    None,
    /// It aligns where it can.
    BestEffort,
    /// It refuses who cannot be aligned.
    Restricted,
    /// It refuses who does not fit on one NUMA node.
    SingleNumaNode,
}

impl Policy {
    /// The policy of that name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "best-effort" => Self::BestEffort,
            "restricted" => Self::Restricted,
            "single-numa-node" => Self::SingleNumaNode,
            _ => Self::None,
        }
    }
}

/// Where a container should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Anywhere.
    Free,
    /// On these NUMA nodes.
    On(Vec<u32>),
    /// The node's kubelet would refuse it.
    Refused,
}

/// What a container wants of CPUs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It has no say: it asks for no CPU, or for a part of one, or nothing is known of the node's CPUs.
    NoPreference,
    /// So many whole CPUs.
    Cpus(usize),
}

/// Where a container with that wish should be on a node with these free CPUs.
#[must_use]
pub fn align(policy: Policy, layout: &Layout, free: &CpuSet, wish: Wish) -> Alignment {
    if policy == Policy::None {
        return Alignment::Free;
    }
    let all: Vec<u32> = layout.numa_nodes().map(|(numa, _)| numa).collect();
    let best = match wish {
        // On a node without NUMA nodes there is nothing to prefer.
        Wish::NoPreference => Hint {
            nodes: all.clone(),
            preferred: !all.is_empty(),
        },
        Wish::Cpus(number) => best_hint(policy, layout, free, number).unwrap_or(Hint {
            nodes: all,
            preferred: false,
        }),
    };
    if best.preferred || policy == Policy::BestEffort {
        Alignment::On(best.nodes)
    } else {
        Alignment::Refused
    }
}

/// NUMA nodes that have enough free CPUs together.
struct Hint {
    nodes: Vec<u32>,
    /// As few as would do if all their CPUs were free.
    preferred: bool,
}

/// The best combination of NUMA nodes with enough free CPUs: a preferred one, of few nodes, of nodes with low numbers.
/// `None` when there is none.
fn best_hint(policy: Policy, layout: &Layout, free: &CpuSet, number: usize) -> Option<Hint> {
    let numa: Vec<(u32, usize)> = layout
        .numa_nodes()
        .map(|(numa, cpus)| (numa, cpus.len()))
        .collect();
    let free_on: Vec<usize> = numa
        .iter()
        .map(|(node, _)| free.iter().filter(|cpu| layout.numa_of(*cpu) == *node).count())
        .collect();
    let fewest = fewest_nodes(&numa, number);
    let enough = |mask: &u32| bits(*mask).map(|bit| free_on[bit]).sum::<usize>() >= number;
    let nodes_in = |mask: u32| bits(mask).map(|bit| numa[bit].0).collect();
    let most = if policy == Policy::SingleNumaNode {
        1
    } else {
        numa.len()
    };
    let masks = |size: usize| (1..1_u32 << numa.len()).filter(move |mask| mask.count_ones() as usize == size);
    if fewest <= most
        && let Some(mask) = masks(fewest).find(enough)
    {
        return Some(Hint {
            nodes: nodes_in(mask),
            preferred: true,
        });
    }
    if policy == Policy::SingleNumaNode {
        return None;
    }
    let mask = (1..=numa.len()).find_map(|size| masks(size).find(enough))?;
    Some(Hint {
        nodes: nodes_in(mask),
        preferred: false,
    })
}

/// Of how many NUMA nodes all CPUs together are enough, at the least; all of them when they never are.
fn fewest_nodes(numa: &[(u32, usize)], number: usize) -> usize {
    let mut sizes: Vec<usize> = numa.iter().map(|(_, cpus)| *cpus).collect();
    sizes.sort_unstable_by(|left, right| right.cmp(left));
    let mut sum = 0;
    let enough = sizes.iter().position(|size| {
        sum += size;
        sum >= number
    });
    enough.map_or(numa.len(), |index| index + 1)
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| mask & (1 << bit) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::extra::CpuPlace;

    /// NUMA nodes of 4 CPUs each: 0-3, 4-7, 8-11.
    fn layout(nodes: u32) -> Layout {
        let place = |cpu: u32| CpuPlace {
            numa: cpu / 4,
            socket: cpu / 4,
            core: cpu,
        };
        Layout::of(&(0..nodes * 4).map(|cpu| (cpu, place(cpu))).collect())
    }

    #[test]
    fn containers_are_aligned_or_refused_by_the_policy_of_the_node() {
        use Alignment::{Free, On, Refused};
        let on = |nodes: &[u32]| On(nodes.to_vec());
        let cpus = Wish::Cpus;
        let rows = [
            // free CPUs, wish; best-effort, restricted, single-numa-node
            ("fits on the first", "0-11", cpus(2), on(&[0]), on(&[0]), on(&[0])),
            (
                "fits on the second only",
                "0,4-7",
                cpus(3),
                on(&[1]),
                on(&[1]),
                on(&[1]),
            ),
            (
                "two would do for 3 + 1, but one might",
                "0-2,4-6",
                cpus(4),
                on(&[0, 1]),
                Refused,
                Refused,
            ),
            ("needs two", "0-11", cpus(6), on(&[0, 1]), on(&[0, 1]), Refused),
            (
                "needs two, the first is taken",
                "4-11",
                cpus(6),
                on(&[1, 2]),
                on(&[1, 2]),
                Refused,
            ),
            (
                "needs two and gets three",
                "0-1,4-5,8-9",
                cpus(5),
                on(&[0, 1, 2]),
                Refused,
                Refused,
            ),
            (
                "too few anywhere",
                "0-1",
                cpus(3),
                on(&[0, 1, 2]),
                Refused,
                Refused,
            ),
            (
                "no preference",
                "0-11",
                Wish::NoPreference,
                on(&[0, 1, 2]),
                on(&[0, 1, 2]),
                on(&[0, 1, 2]),
            ),
        ];
        for (name, free, wish, best_effort, restricted, single) in rows {
            let free = CpuSet::parse(free).unwrap();
            let found = |policy| align(policy, &layout(3), &free, wish);
            assert_eq!(found(Policy::BestEffort), best_effort, "best-effort: {name}");
            assert_eq!(found(Policy::Restricted), restricted, "restricted: {name}");
            assert_eq!(found(Policy::SingleNumaNode), single, "single-numa-node: {name}");
            assert_eq!(found(Policy::None), Free, "none: {name}");
        }
    }

    #[test]
    fn low_numbers_go_before_others_of_the_same_count() {
        // 5 CPUs need two of four NUMA nodes: 0 with 3 (binary 1001) comes after 1 with 2 (0110).
        let free = CpuSet::parse("0-1,4-6,8-10,12-14").unwrap();
        let found = align(Policy::Restricted, &layout(4), &free, Wish::Cpus(6));
        assert_eq!(found, Alignment::On(vec![1, 2]));
    }

    #[test]
    fn a_node_without_numa_nodes_has_nothing_to_prefer() {
        let none = |policy, wish| align(policy, &Layout::default(), &CpuSet::default(), wish);
        for wish in [Wish::NoPreference, Wish::Cpus(1)] {
            assert_eq!(none(Policy::Restricted, wish), Alignment::Refused);
            assert_eq!(none(Policy::BestEffort, wish), Alignment::On(vec![]));
        }
    }
}
