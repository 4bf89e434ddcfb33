//! What a plugin is: a factory that lives as long as the process, and an instance that lives for one session.

use crate::close::CloseReport;
use crate::conf::{Arguments, PluginOption, SchedulerConf};
use crate::points::*;
use crate::view::View;
use thiserror::Error;

/// Makes a plugin for each session. State that outlives sessions belongs here.
pub trait PluginFactory: Send + Sync {
    /// The name as configurations spell it.
    fn name(&self) -> &'static str;

    /// Makes the plugin for a session.
    ///
    /// # Errors
    /// Arguments that leave the plugin unusable. The session goes on without it.
    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError>;
}

/// What a plugin gets to see when a session opens.
pub struct OpenContext<'a> {
    /// The cluster at the opening.
    pub view: View<'a>,
    /// The plugin's entry in the configuration.
    pub option: &'a PluginOption,
    /// The whole configuration.
    pub conf: &'a SchedulerConf,
    /// What was odd about arguments; the plugin goes on with its defaults.
    pub warnings: Vec<String>,
}

impl<'a> OpenContext<'a> {
    /// The plugin's arguments.
    #[must_use]
    pub fn arguments(&self) -> &'a Arguments {
        &self.option.arguments
    }
}

/// A plugin cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("plugin {plugin}: {why}")]
pub struct PluginError {
    /// Name of the plugin.
    pub plugin: String,
    /// What is wrong and how to mend it.
    pub why: String,
}

/// A plugin in one session. It answers at the points it has an accessor for.
#[expect(missing_docs, reason = "one accessor for each trait of `points`")]
pub trait SessionPlugin: Send + Sync {
    /// The name as configurations spell it.
    fn name(&self) -> &'static str;

    fn job_order(&self) -> Option<&dyn JobOrder> {
        None
    }
    fn queue_order(&self) -> Option<&dyn QueueOrder> {
        None
    }
    fn task_order(&self) -> Option<&dyn TaskOrder> {
        None
    }
    fn cluster_order(&self) -> Option<&dyn ClusterOrder> {
        None
    }
    fn pre_predicate(&self) -> Option<&dyn PrePredicate> {
        None
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        None
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        None
    }
    fn batch_node_order(&self) -> Option<&dyn BatchNodeOrder> {
        None
    }
    fn node_map_reduce(&self) -> Option<&dyn NodeMapReduce> {
        None
    }
    fn best_node(&self) -> Option<&dyn BestNode> {
        None
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        None
    }
    fn reclaimable(&self) -> Option<&dyn Evictable> {
        None
    }
    fn victim_tasks(&self) -> Option<&dyn VictimTasks> {
        None
    }
    fn overused(&self) -> Option<&dyn Overused> {
        None
    }
    fn preemptive(&self) -> Option<&dyn Preemptive> {
        None
    }
    fn allocatable(&self) -> Option<&dyn Allocatable> {
        None
    }
    fn job_valid(&self) -> Option<&dyn JobValid> {
        None
    }
    fn job_ready(&self) -> Option<&dyn JobReady> {
        None
    }
    fn job_pipelined(&self) -> Option<&dyn JobPipelined> {
        None
    }
    fn job_starving(&self) -> Option<&dyn JobStarving> {
        None
    }
    fn target_job(&self) -> Option<&dyn TargetJob> {
        None
    }
    fn reserved_nodes(&self) -> Option<&dyn ReservedNodes> {
        None
    }
    fn job_enqueueable(&mut self) -> Option<&mut dyn JobEnqueueable> {
        None
    }
    fn job_enqueued(&mut self) -> Option<&mut dyn JobEnqueued> {
        None
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        None
    }

    /// Filters and scores see the pods that this session placed or evicted only when a plugin keeps the books for
    /// them. Volcano's `predicates` does; without it they go on seeing the nodes as they were at the opening.
    fn keeps_pods_in_sight(&self) -> bool {
        false
    }

    /// The session ends; what the plugin has to say about jobs goes into the report.
    fn close(&mut self, view: View<'_>, report: &mut CloseReport) {
        let _ = (view, report);
    }
}
