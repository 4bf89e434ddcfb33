//! Which CPUs a node's kubelet would take: whole sockets first, then whole cores, then what is left of others. Pure.

use mco_model::cpus::CpuSet;
use mco_model::extra::CpuPlace;
use std::collections::{BTreeMap, BTreeSet};

/// Where the CPUs of a node are.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    places: BTreeMap<u32, CpuPlace>,
    all: CpuSet,
    /// CPUs by NUMA node.
    numa: BTreeMap<u32, CpuSet>,
    per_socket: usize,
    per_core: usize,
}

impl Layout {
    /// The layout of these CPUs.
    #[must_use]
    pub fn of(places: &BTreeMap<u32, CpuPlace>) -> Self {
        let sockets: BTreeSet<u32> = places.values().map(|place| place.socket).collect();
        let cores: BTreeSet<(u32, u32)> = places.values().map(|place| (place.socket, place.core)).collect();
        let mut numa: BTreeMap<u32, CpuSet> = BTreeMap::new();
        for (cpu, place) in places {
            numa.entry(place.numa).or_default().insert(*cpu);
        }
        Self {
            all: places.keys().copied().collect(),
            numa,
            per_socket: places.len().checked_div(sockets.len()).unwrap_or(0),
            per_core: places.len().checked_div(cores.len()).unwrap_or(0),
            places: places.clone(),
        }
    }

    /// All CPUs.
    #[must_use]
    pub fn all(&self) -> &CpuSet {
        &self.all
    }

    /// NUMA nodes with their CPUs, ascending.
    pub fn numa_nodes(&self) -> impl Iterator<Item = (u32, &CpuSet)> {
        self.numa.iter().map(|(numa, cpus)| (*numa, cpus))
    }

    /// The NUMA node of a CPU; one that nobody placed is on the first.
    #[must_use]
    pub fn numa_of(&self, cpu: u32) -> u32 {
        self.places.get(&cpu).map_or(0, |place| place.numa)
    }

    /// Takes so many of the CPUs; `None` when there are too few.
    #[must_use]
    pub fn take(&self, available: &CpuSet, number: usize) -> Option<CpuSet> {
        let mut taking = Taking {
            layout: self,
            free: available.filtered(|cpu| self.places.contains_key(&cpu)),
            taken: CpuSet::default(),
            number,
        };
        if taking.is_done() {
            return Some(taking.taken);
        }
        if taking.free.len() < number {
            return None;
        }
        taking.sockets();
        taking.cores();
        taking.threads();
        taking.is_done().then_some(taking.taken)
    }

    fn socket(&self, cpu: u32) -> u32 {
        self.places[&cpu].socket
    }

    fn core(&self, cpu: u32) -> u32 {
        self.places[&cpu].core
    }
}

/// CPUs being taken.
struct Taking<'l> {
    layout: &'l Layout,
    free: CpuSet,
    taken: CpuSet,
    number: usize,
}

impl Taking<'_> {
    fn is_done(&self) -> bool {
        self.taken.len() >= self.number
    }

    /// So many are still wanted.
    fn wants(&self, number: usize) -> bool {
        self.taken.len() + number <= self.number
    }

    fn take(&mut self, cpus: &CpuSet) {
        self.taken.add(cpus);
        self.free.take(cpus);
    }

    fn sockets(&mut self) {
        for socket in self.whole_sockets() {
            if self.is_done() || !self.wants(self.layout.per_socket) {
                return;
            }
            let cpus = self.free.filtered(|cpu| self.layout.socket(cpu) == socket);
            self.take(&cpus);
        }
    }

    fn cores(&mut self) {
        for core in self.whole_cores() {
            if self.is_done() || !self.wants(self.layout.per_core) {
                return;
            }
            let cpus = self.free_in_core(core);
            self.take(&cpus);
        }
    }

    fn threads(&mut self) {
        for cpu in self.single_cpus() {
            if self.is_done() {
                return;
            }
            self.take(&CpuSet::from_iter([cpu]));
        }
    }

    /// Sockets that have a free CPU and whose number a free CPU has: that is how Volcano looks for them.
    fn whole_sockets(&self) -> Vec<u32> {
        let sockets = self.sockets_with_free();
        sockets
            .into_iter()
            .filter(|socket| self.free.contains(*socket))
            .collect()
    }

    fn sockets_with_free(&self) -> BTreeSet<u32> {
        self.free.iter().map(|cpu| self.layout.socket(cpu)).collect()
    }

    /// Cores that have a free CPU and whose number a free CPU has, those of sockets with few of them first.
    fn whole_cores(&self) -> Vec<u32> {
        let cores_in = |socket: &u32| -> BTreeSet<u32> {
            let cpus = self.free.iter().filter(|cpu| self.layout.socket(*cpu) == *socket);
            let cores = cpus.map(|cpu| self.layout.core(cpu));
            cores.filter(|core| self.free.contains(*core)).collect()
        };
        let mut sockets: Vec<(u32, BTreeSet<u32>)> = self
            .sockets_with_free()
            .into_iter()
            .map(|socket| (socket, cores_in(&socket)))
            .collect();
        insertion_sort(&mut sockets, |(left, left_cores), (right, right_cores)| {
            left_cores.len() < right_cores.len() || left < right
        });
        sockets.into_iter().flat_map(|(_, cores)| cores).collect()
    }

    fn free_in_core(&self, core: u32) -> CpuSet {
        self.free.filtered(|cpu| self.layout.core(cpu) == core)
    }

    /// Single CPUs: of sockets that have been taken from, of sockets and cores with few free ones, by number.
    fn single_cpus(&self) -> Vec<u32> {
        struct Core {
            core: u32,
            socket: u32,
            taken_in_socket: usize,
            free_in_socket: usize,
            free: CpuSet,
        }
        let ids: BTreeSet<u32> = self.free.iter().map(|cpu| self.layout.core(cpu)).collect();
        let mut cores = Vec::with_capacity(ids.len());
        for core in ids {
            let first = self.layout.all.iter().find(|cpu| self.layout.core(*cpu) == core);
            let socket = first.map_or(0, |cpu| self.layout.socket(cpu));
            let in_socket = |set: &CpuSet| {
                set.iter()
                    .filter(|cpu| self.layout.socket(*cpu) == socket)
                    .count()
            };
            cores.push(Core {
                core,
                socket,
                taken_in_socket: in_socket(&self.taken),
                free_in_socket: in_socket(&self.free),
                free: self.free_in_core(core),
            });
        }
        // Not an order in the strict sense; which one comes out depends on how it is sorted.
        insertion_sort(&mut cores, |left, right| {
            left.taken_in_socket > right.taken_in_socket
                || left.free_in_socket < right.free_in_socket
                || left.free.len() < right.free.len()
                || left.socket < right.socket
                || left.core < right.core
        });
        cores
            .iter()
            .flat_map(|core| core.free.iter().collect::<Vec<_>>())
            .collect()
    }
}

/// What Go's sort does with up to twelve items.
fn insertion_sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && less(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> CpuSet {
        CpuSet::parse(text).unwrap()
    }

    /// Two sockets, each a NUMA node, with two cores of two threads: core 0 has CPUs 0 and 1, core 1 has 2 and 3, and so on.
    fn threads() -> Layout {
        let place = |cpu: u32| CpuPlace {
            numa: cpu / 4,
            socket: cpu / 4,
            core: cpu / 2,
        };
        Layout::of(&(0..8).map(|cpu| (cpu, place(cpu))).collect())
    }

    #[test]
    fn whole_sockets_then_whole_cores_then_what_is_left() {
        let rows = [
            ("nothing", "0-7", 0, Some("")),
            ("a socket", "0-7", 4, Some("0-3")),
            ("all", "0-7", 8, Some("0-7")),
            ("a socket and a core", "0-7", 6, Some("0-3,4-5")),
            ("a core", "0-7", 2, Some("0-1")),
            ("too many", "0-2", 4, None),
            ("CPUs that are not there do not count", "0,1,9", 3, None),
            // Of core 0 one thread is free and of core 1 both: no core needs to be broken.
            ("a broken core first", "1-3", 1, Some("1")),
        ];
        for (name, available, number, taken) in rows {
            let found = threads().take(&set(available), number);
            assert_eq!(found, taken.map(set), "{name}");
        }
    }

    #[test]
    fn numa_nodes_have_their_cpus() {
        let layout = threads();
        let nodes: Vec<(u32, CpuSet)> = layout
            .numa_nodes()
            .map(|(numa, cpus)| (numa, cpus.clone()))
            .collect();
        assert_eq!(nodes, [(0, set("0-3")), (1, set("4-7"))]);
        assert_eq!((layout.numa_of(5), layout.numa_of(99)), (1, 0));
        assert_eq!(Layout::default().take(&set("0-3"), 1), None);
    }
}
