//! The plugin `pdb`: no more pods go than PodDisruptionBudgets allow.

use crate::matching::Selector;
use mco_framework::{
    Evictable, Eviction, OpenContext, PluginError, PluginFactory, SessionPlugin, VictimTasks, View,
};
use mco_model::TaskId;
use mco_model::extra::DisruptionBudgetRecord;
use mco_model::spec::LabelSelector;
use mco_model::task::Task;

const NAME: &str = "pdb";

/// Makes the plugin `pdb`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct PdbFactory;

impl PluginFactory for PdbFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Pdb::open(context)))
    }
}

/// A budget made ready to be asked.
struct Budget {
    record: DisruptionBudgetRecord,
    selector: Selector,
}

struct Pdb {
    budgets: Vec<Budget>,
}

impl Pdb {
    /// A budget that selects no pod, or whose selector cannot be used, protects nobody. The latter is told.
    fn open(context: &mut OpenContext<'_>) -> Self {
        let mut budgets = Vec::new();
        for record in context.view.cluster().disruption_budgets() {
            if record.selector.as_ref().is_none_or(selects_all) {
                continue;
            }
            match Selector::of_pods(record.selector.as_ref()) {
                Ok(selector) => budgets.push(Budget {
                    record: record.clone(),
                    selector,
                }),
                Err(error) => context.warnings.push(format!(
                    "PodDisruptionBudget {}/{}: spec.selector: {error}; it protects no pod",
                    record.namespace, record.name
                )),
            }
        }
        Self { budgets }
    }

    /// Who of `tasks`, in their order, may go before budgets are used up. Who is refused counts all the same.
    fn allowed(&self, view: View<'_>, tasks: &[TaskId]) -> Vec<TaskId> {
        let mut left: Vec<i64> = self
            .budgets
            .iter()
            .map(|budget| i64::from(budget.record.allowed))
            .collect();
        let mut may_go = |id: &TaskId| {
            let task = view.task(*id);
            // Volcano leaves pods without labels where they are, although no budget can protect them.
            if task.labels.is_empty() {
                return false;
            }
            let mut within = true;
            for (budget, left) in self.budgets.iter().zip(&mut left) {
                if budget.counts(task) {
                    *left -= 1;
                    within &= *left >= 0;
                }
            }
            within
        };
        tasks.iter().copied().filter(|id| may_go(id)).collect()
    }
}

impl Budget {
    /// The pod is selected, and not yet counted by the API server as going.
    fn counts(&self, task: &Task) -> bool {
        self.record.namespace == task.namespace
            && self.selector.matches(&task.labels)
            && !self.record.disrupted.contains(&task.name)
    }
}

/// A selector without any rule; to a budget it selects nothing.
fn selects_all(selector: &LabelSelector) -> bool {
    selector.labels.is_empty() && selector.expressions.is_empty()
}

impl SessionPlugin for Pdb {
    fn name(&self) -> &'static str {
        NAME
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn victim_tasks(&self) -> Option<&dyn VictimTasks> {
        Some(self)
    }
}

impl Evictable for Pdb {
    fn victims(&self, view: View<'_>, _evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        Eviction::Victims(self.allowed(view, candidates))
    }
}

impl VictimTasks for Pdb {
    fn victims(&self, view: View<'_>, tasks: &[TaskId]) -> Vec<TaskId> {
        self.allowed(view, tasks)
    }
}

#[cfg(test)]
mod tests;
