//! Which pods to move from nodes under load to idle ones. Pure arithmetic.

/// Load in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Of CPU.
    pub cpu: f64,
    /// Of memory.
    pub memory: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            cpu: 100.0,
            memory: 100.0,
        }
    }
}

/// A node with its load.
#[derive(Clone, Debug)]
pub struct Node<P> {
    /// Measured load of CPU in percent; 0 when unknown.
    pub cpu: f64,
    /// Measured load of memory in percent; 0 when unknown.
    pub memory: f64,
    /// It takes new pods.
    pub schedulable: bool,
    /// CPU in milli and memory in bytes that pods may use.
    pub allocatable: (f64, f64),
    /// CPU in milli and memory in bytes that there is.
    pub capacity: (f64, f64),
    /// Its pods, those to go first first.
    pub pods: Vec<Pod<P>>,
}

/// A pod with what it asks for.
#[derive(Clone, Debug)]
pub struct Pod<P> {
    /// Which one; `None` for one that must stay.
    pub id: Option<P>,
    /// CPU in milli and memory in bytes.
    pub request: (f64, f64),
}

impl<P> Node<P> {
    /// It has room: it takes pods, and all its loads are below.
    fn is_low(&self, low: Thresholds) -> bool {
        self.schedulable && self.cpu < low.cpu && self.memory < low.memory
    }

    /// Some load is above.
    fn is_high(&self, high: Thresholds) -> bool {
        self.cpu > high.cpu || self.memory > high.memory
    }

    /// Some load is at or above.
    fn is_still_high(&self, high: Thresholds) -> bool {
        self.cpu >= high.cpu || self.memory >= high.memory
    }
}

/// The pods to move: from the nodes with the highest load, as long as it is too high and the idle nodes have room for more.
/// Nothing is moved when there is no idle node, no node under load, or all are idle.
#[must_use]
pub fn plan<P>(nodes: Vec<Node<P>>, low: Thresholds, high: Thresholds) -> Vec<P> {
    let all = nodes.len();
    let (idle, others): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|node| node.is_low(low));
    let mut under_load: Vec<Node<P>> = others.into_iter().filter(|node| node.is_high(high)).collect();
    if idle.is_empty() || idle.len() == all || under_load.is_empty() {
        return Vec::new();
    }
    let mut room = Room::of(&idle, high);
    under_load.sort_by(|left, right| (right.cpu + right.memory).total_cmp(&(left.cpu + left.memory)));
    let mut moved = Vec::new();
    for mut node in under_load {
        for pod in std::mem::take(&mut node.pods) {
            if !node.is_still_high(high) || room.is_used_up() {
                break;
            }
            if let Some(id) = pod.id {
                room.take(pod.request);
                node.cpu -= pod.request.0 / 1000.0 * 100.0 / (node.capacity.0 / 1000.0);
                node.memory -= pod.request.1 * 100.0 / node.capacity.1;
                moved.push(id);
            }
        }
    }
    moved
}

/// What idle nodes may still take before their load is too high.
struct Room {
    milli_cpu: i64,
    memory: i64,
}

impl Room {
    fn of<P>(idle: &[Node<P>], high: Thresholds) -> Self {
        let part = |percent: f64, amount: f64| (percent * amount * 0.01) as i64;
        let sum = |of: &dyn Fn(&Node<P>) -> i64| idle.iter().map(of).fold(0, i64::saturating_add);
        Self {
            milli_cpu: sum(&|node| part(high.cpu, node.allocatable.0) - part(node.cpu, node.allocatable.0)),
            memory: sum(&|node| {
                part(high.memory, node.allocatable.1) - part(node.memory, node.allocatable.1)
            }),
        }
    }

    /// As in Volcano 1.9, room below nothing is not used up.
    fn is_used_up(&self) -> bool {
        self.milli_cpu == 0 || self.memory == 0
    }

    fn take(&mut self, request: (f64, f64)) {
        self.milli_cpu = self.milli_cpu.saturating_sub(request.0 as i64);
        self.memory = self.memory.saturating_sub(request.1 as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node of 10 CPUs and 1000 bytes with these loads and pods, each of which asks for that many CPUs and 100 bytes.
    fn node(cpu: f64, memory: f64, pods: &[(&'static str, f64)]) -> Node<&'static str> {
        let pod = |(name, cpus): &(&'static str, f64)| Pod {
            id: Some(*name),
            request: (cpus * 1000.0, 100.0),
        };
        Node {
            cpu,
            memory,
            schedulable: true,
            allocatable: (10_000.0, 1000.0),
            capacity: (10_000.0, 1000.0),
            pods: pods.iter().map(pod).collect(),
        }
    }

    const LOW: Thresholds = Thresholds {
        cpu: 30.0,
        memory: 30.0,
    };
    const HIGH: Thresholds = Thresholds {
        cpu: 60.0,
        memory: 70.0,
    };

    #[test]
    fn pods_move_until_the_load_is_no_longer_too_high() {
        let idle = || node(10.0, 10.0, &[]);
        let cordoned = Node {
            schedulable: false,
            ..idle()
        };
        let stays = Node {
            pods: vec![
                Pod {
                    id: None,
                    request: (9000.0, 900.0),
                },
                Pod {
                    id: Some("b"),
                    request: (1000.0, 100.0),
                },
            ],
            ..node(90.0, 20.0, &[])
        };
        type Row<'a> = (&'a str, Vec<Node<&'static str>>, &'a [&'a str]);
        let rows: [Row<'_>; 11] = [
            // 90 - 20 = 70, 70 - 20 = 50 % of CPU.
            (
                "two are enough",
                vec![idle(), node(90.0, 20.0, &[("a", 2.0), ("b", 2.0), ("c", 2.0)])],
                &["a", "b"],
            ),
            // At 60 % it still counts as high: 90, 60, 30.
            (
                "at the threshold goes on",
                vec![idle(), node(90.0, 20.0, &[("a", 3.0), ("b", 3.0), ("c", 1.0)])],
                &["a", "b"],
            ),
            (
                "by memory alone",
                vec![idle(), node(20.0, 75.0, &[("a", 0.1), ("b", 0.1)])],
                &["a"],
            ),
            (
                "the highest load first",
                vec![
                    idle(),
                    node(70.0, 20.0, &[("a", 9.0)]),
                    node(80.0, 20.0, &[("b", 9.0)]),
                ],
                &["b", "a"],
            ),
            (
                "no idle node",
                vec![node(40.0, 20.0, &[]), node(90.0, 20.0, &[("a", 2.0)])],
                &[],
            ),
            ("all idle", vec![idle(), idle()], &[]),
            (
                "none under load",
                vec![idle(), node(60.0, 70.0, &[("a", 2.0)])],
                &[],
            ),
            (
                "a cordoned node is not idle",
                vec![cordoned, node(90.0, 20.0, &[("a", 2.0)])],
                &[],
            ),
            ("who must stay does not count", vec![idle(), stays], &["b"]),
            // Room for (60 - 10) % of 10 CPUs: exactly what a asks for.
            (
                "room is used up",
                vec![idle(), node(190.0, 20.0, &[("a", 5.0), ("b", 1.0)])],
                &["a"],
            ),
            // After a there is less than nothing left, which does not stop it: 190, 130, 70, 10.
            (
                "room goes below nothing",
                vec![idle(), node(190.0, 20.0, &[("a", 6.0), ("b", 6.0), ("c", 6.0)])],
                &["a", "b", "c"],
            ),
        ];
        for (name, nodes, moved) in rows {
            assert_eq!(plan(nodes, LOW, HIGH), moved, "{name}");
        }
    }

    #[test]
    fn a_node_without_capacity_ends_after_one() {
        let nothing = Node {
            capacity: (0.0, 0.0),
            ..node(90.0, 20.0, &[("a", 1.0), ("b", 1.0)])
        };
        assert_eq!(plan(vec![node(10.0, 10.0, &[]), nothing], LOW, HIGH), ["a"]);
    }
}
