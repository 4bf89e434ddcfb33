//! The plugin `numa-aware`: pods with CPUs of their own go where the node's kubelet will align them on NUMA nodes.

pub mod assign;
pub mod cpus;
pub mod hints;
mod memory;

use assign::{Answer, Mismatch, NumaNode};
use mco_framework::close::CloseReport;
use mco_framework::{
    BatchNodeOrder, Dependence, Ledger, NodeCheck, OpenContext, PluginError, PluginFactory, Predicate,
    Reason, Refusal, ScoreError, SessionPlugin, Verdicts, View,
};
use mco_model::cpus::CpuSet;
use mco_model::extra::CpuNeeds;
use mco_model::status::TaskStatus;
use mco_model::{NodeId, TaskId};
use memory::Memory;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const NAME: &str = "numa-aware";

/// The argument: how much scores weigh.
const WEIGHT: &str = "weight";

/// Makes the plugin `numa-aware`, and remembers which CPUs were given out of late.
#[derive(Clone, Debug, Default)]
pub struct NumaAwareFactory {
    memory: Arc<Mutex<Memory>>,
}

impl PluginFactory for NumaAwareFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let mut reader = context.arguments().reader(NAME);
        let weight = reader.int(WEIGHT).unwrap_or(1);
        let warnings = reader.into_warnings();
        context.warnings.extend(warnings.iter().map(ToString::to_string));
        Ok(Box::new(NumaAware {
            weight,
            nodes: known_nodes(context.view, &mut locked(&self.memory)),
            given: HashMap::new(),
            memory: self.memory.clone(),
        }))
    }
}

fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

fn known_nodes(view: View<'_>, memory: &mut Memory) -> HashMap<NodeId, NumaNode> {
    memory.keep_only(|node| view.numatopology(node).is_some());
    memory.review(view);
    let mut nodes = HashMap::new();
    for node in view.cluster().nodes.ready() {
        let name = &view.nodes.row(*node).name;
        if let Some(topology) = view.numatopology(name) {
            let free = memory.free(name, topology);
            nodes.insert(*node, NumaNode::of(&topology.record, free));
        }
    }
    nodes
}

struct NumaAware {
    weight: i64,
    /// Nodes whose CPUs are known, with those that are free.
    nodes: HashMap<NodeId, NumaNode>,
    /// CPUs given in this session.
    given: HashMap<TaskId, (NodeId, CpuSet)>,
    memory: Arc<Mutex<Memory>>,
}

impl NumaAware {
    fn answer(&self, needs: &CpuNeeds, node: NodeId) -> Answer {
        match self.nodes.get(&node) {
            Some(known) => known.answer(needs),
            None if assign::has_policy(needs) => Answer::Mismatch(Mismatch::Unknown),
            None => Answer::NotConcerned,
        }
    }
}

impl SessionPlugin for NumaAware {
    fn name(&self) -> &'static str {
        NAME
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }
    fn batch_node_order(&self) -> Option<&dyn BatchNodeOrder> {
        Some(self)
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        Some(self)
    }

    /// Pods that were bound keep their CPUs; what was given to others ends with the session.
    fn close(&mut self, view: View<'_>, _report: &mut CloseReport) {
        let mut memory = locked(&self.memory);
        for (task, (node, cpus)) in self.given.drain() {
            let row = view.task(task);
            if row.status == TaskStatus::Binding {
                memory.give(&view.nodes.row(node).name, &row.uid, cpus);
            }
        }
    }
}

impl Predicate for NumaAware {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        Box::new(Check {
            plugin: self,
            needs: view.cluster().spec(task).cpus.as_deref(),
        })
    }
}

struct Check<'v> {
    plugin: &'v NumaAware,
    /// `None` for a pod that cannot have CPUs of its own.
    needs: Option<&'v CpuNeeds>,
}

impl NodeCheck for Check<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        let Some(needs) = self.needs else { return };
        verdicts.each(nodes, |node| match self.plugin.answer(needs, node) {
            Answer::NotConcerned | Answer::Assigned(_) => None,
            Answer::Mismatch(mismatch) => Some(Refusal::unresolvable(Reason::fixed(
                NAME,
                "mismatch",
                words(mismatch),
            ))),
            Answer::Refused(container) => {
                let text = format!("CPUs of container {container} cannot be aligned on NUMA nodes");
                Some(Refusal::unresolvable(Reason::about(NAME, "not_aligned", text)))
            }
        });
    }
}

const fn words(mismatch: Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Unknown => "numa info is empty",
        Mismatch::NotStatic => "cpu manager policy isn't static",
        Mismatch::OtherPolicy => "task topology policy is different with node",
        Mismatch::NoneFree => "cpu allocatable map is empty",
        Mismatch::TooManyNumaNodes => "node has too many NUMA nodes to align CPUs on them",
    }
}

impl BatchNodeOrder for NumaAware {
    /// The fewer NUMA nodes a pod's CPUs are on the better, measured by the worst of the candidates.
    fn score(
        &self,
        view: View<'_>,
        task: TaskId,
        nodes: &[NodeId],
        scores: &mut [f64],
    ) -> Result<(), ScoreError> {
        let needs = view.cluster().spec(task).cpus.as_deref();
        let Some(needs) = needs.filter(|needs| assign::has_policy(needs)) else {
            return Ok(());
        };
        let counts: Vec<i64> = nodes
            .iter()
            .map(|node| match (self.answer(needs, *node), self.nodes.get(node)) {
                (Answer::Assigned(cpus), Some(known)) => known.numa_count(&cpus) as i64,
                _ => 0,
            })
            .collect();
        for (score, points) in scores.iter_mut().zip(points(&counts)) {
            *score += (points * self.weight) as f64;
        }
        Ok(())
    }
}

/// 100 for a count of nothing down to 0 for the largest.
fn points(counts: &[i64]) -> Vec<i64> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let points = |count: &i64| if most == 0 { 100 } else { 100 - 100 * count / most };
    counts.iter().map(points).collect()
}

impl Ledger for NumaAware {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        let row = view.task(task);
        let (Some(node), Some(needs)) = (row.node, view.cluster().spec(task).cpus.as_deref()) else {
            return;
        };
        if !matches!(row.status, TaskStatus::Allocated | TaskStatus::Pipelined) {
            return;
        }
        if let Answer::Assigned(cpus) = self.answer(needs, node)
            && let Some(known) = self.nodes.get_mut(&node)
        {
            known.take(&cpus);
            self.given.insert(task, (node, cpus));
        }
    }

    fn deallocated(&mut self, _view: View<'_>, task: TaskId) {
        if let Some((node, cpus)) = self.given.remove(&task)
            && let Some(known) = self.nodes.get_mut(&node)
        {
            known.give_back(&cpus);
        }
    }
}

#[cfg(test)]
mod tests;
