//! The plugin `conformance`: what Kubernetes itself needs is never evicted.

use mco_framework::{Evictable, Eviction, OpenContext, PluginError, PluginFactory, SessionPlugin, View};
use mco_model::TaskId;

const CRITICAL_CLASSES: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
const SYSTEM_NAMESPACE: &str = "kube-system";

/// Makes the plugin `conformance`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConformanceFactory;

impl PluginFactory for ConformanceFactory {
    fn name(&self) -> &'static str {
        "conformance"
    }

    fn open(&self, _context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Conformance))
    }
}

struct Conformance;

impl SessionPlugin for Conformance {
    fn name(&self) -> &'static str {
        "conformance"
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
}

impl Evictable for Conformance {
    fn victims(&self, view: View<'_>, _evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let may_go = |id: &TaskId| {
            let critical = view.spec(*id).priority_class.as_deref();
            !critical.is_some_and(|class| CRITICAL_CLASSES.contains(&class))
                && &*view.task(*id).namespace != SYSTEM_NAMESPACE
        };
        Eviction::Victims(candidates.iter().copied().filter(may_go).collect())
    }
}

#[cfg(test)]
mod tests;
