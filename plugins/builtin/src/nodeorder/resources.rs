//! Scores of how full a node is: least requested, most requested, balanced. All in whole numbers up to 100.

use super::MOST;
use mco_framework::View;
use mco_model::NodeId;
use mco_model::resource::{Resource, ScalarId};
use mco_model::spec::PodSpec;

/// The scarce resource that the balance looks at besides CPU and memory.
const GPU: &str = "nvidia.com/gpu";

/// Asked for and there, of one resource.
type Use = (i64, i64);

/// What a task asks for, as these scores see it.
pub(super) struct Demand<'v> {
    view: View<'v>,
    request: &'v Resource,
    spec: &'v PodSpec,
    /// The GPU resource and how many the task asks for; `None` when it asks for none.
    gpu: Option<(ScalarId, i64)>,
}

impl<'v> Demand<'v> {
    pub(super) fn of(view: View<'v>, request: &'v Resource, spec: &'v PodSpec) -> Self {
        let gpu = view.cluster().scalars.get(GPU).and_then(|id| {
            let units = whole(request.scalar(id)?);
            (units != 0).then_some((id, units))
        });
        Self {
            view,
            request,
            spec,
            gpu,
        }
    }

    /// High where little is asked for.
    pub(super) fn least_requested(&self, node: NodeId) -> i64 {
        average(self.with_stand_ins(node), |(asked, there)| {
            if asked > there {
                0
            } else {
                percent(there - asked, there)
            }
        })
    }

    /// High where much is asked for.
    pub(super) fn most_requested(&self, node: NodeId) -> i64 {
        average(self.with_stand_ins(node), |(asked, there)| {
            percent(asked.min(there), there)
        })
    }

    /// High where all resources are used to the same part.
    pub(super) fn balanced(&self, node: NodeId) -> i64 {
        let nodes = &self.view.cluster().nodes;
        let (requested, there) = (nodes.requested(), &nodes.row(node).allocatable_plain);
        let gpu = self.gpu.and_then(|(id, units)| {
            let asked = whole(requested.scalar(node, id).unwrap_or(0.0)) + units;
            Some((asked, whole(there.scalar(id)?)))
        });
        let uses = [
            Some((
                (requested.milli_cpu(node) + self.request.milli_cpu) as i64,
                there.milli_cpu as i64,
            )),
            Some((
                (requested.memory(node) + self.request.memory) as i64,
                there.memory as i64,
            )),
            gpu,
        ];
        balance(uses.into_iter().flatten().filter(|(_, there)| *there != 0))
    }

    /// CPU and memory of all pods and this one, with the stand-ins for containers that ask for nothing.
    fn with_stand_ins(&self, node: NodeId) -> [Use; 2] {
        let nodes = &self.view.cluster().nodes;
        let (cpu, memory) = nodes.non_zero_requested(node);
        let there = &nodes.row(node).allocatable_plain;
        [
            (cpu + self.spec.non_zero_milli_cpu, there.milli_cpu as i64),
            (memory + self.spec.non_zero_memory, there.memory as i64),
        ]
    }
}

/// Thousandths in whole units, rounded up as Kubernetes does.
fn whole(thousandths: f64) -> i64 {
    (thousandths / 1000.0).ceil() as i64
}

/// Beyond 92 petabytes the product wraps around, as it does in Volcano: such nodes get odd scores there too.
fn percent(part: i64, of: i64) -> i64 {
    part.wrapping_mul(MOST).wrapping_div(of)
}

/// Resources that the node does not have are left out.
fn average(uses: [Use; 2], score: impl Fn(Use) -> i64) -> i64 {
    let known = uses.into_iter().filter(|(_, there)| *there != 0);
    let (sum, count) = known.fold((0, 0), |(sum, count), part| (sum + score(part), count + 1));
    if count == 0 { 0 } else { sum / count }
}

fn balance(uses: impl Iterator<Item = Use>) -> i64 {
    let mut parts = [0.0; 3];
    let mut count = 0;
    for (asked, there) in uses {
        parts[count] = (asked as f64 / there as f64).min(1.0);
        count += 1;
    }
    let deviation = match &parts[..count] {
        [one, other] => ((one - other) / 2.0).abs(),
        parts @ [_, _, _] => {
            let mean = parts.iter().sum::<f64>() / 3.0;
            (parts
                .iter()
                .map(|part| (part - mean) * (part - mean))
                .sum::<f64>()
                / 3.0)
                .sqrt()
        }
        _ => 0.0,
    };
    ((1.0 - deviation) * MOST as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_of_whole_percents_and_rounded_down() {
        let least = |(asked, there): Use| {
            if asked > there {
                0
            } else {
                percent(there - asked, there)
            }
        };
        // 66 and 33 percent are free, each rounded down before they are added.
        assert_eq!(average([(1, 3), (2, 3)], least), 49);
        assert_eq!(average([(5, 3), (0, 3)], least), 50);
        assert_eq!(average([(1, 4), (1, 0)], least), 75);
        assert_eq!(average([(1, 0), (1, 0)], least), 0);
    }

    #[test]
    fn balance_falls_with_the_distance_of_the_parts() {
        let cases = [
            (vec![(1, 2), (1, 2)], 100),
            (vec![(1, 1), (0, 1)], 50),
            (vec![(9, 1), (1, 1)], 100),
            (vec![(1, 4)], 100),
            (vec![], 100),
            (vec![(0, 1), (1, 2), (1, 1)], 59),
        ];
        for (uses, expected) in cases {
            assert_eq!(balance(uses.iter().copied()), expected, "{uses:?}");
        }
    }

    #[test]
    fn huge_memories_wrap_around() {
        assert_eq!(percent(3 << 30, 4 << 30), 75);
        assert_eq!(percent(90 << 50, 100 << 50), -73);
        assert_eq!(whole(1500.0), 2);
    }
}
