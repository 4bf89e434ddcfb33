//! Who is asked at which point: indices built once when a session opens, so that nothing is looked up by name later.

use crate::conf::{SchedulerConf, Switch};
use crate::plugin::SessionPlugin;
use std::collections::HashMap;

/// The extension points that ask plugins by tier, named like the traits of `points`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    JobOrder,
    QueueOrder,
    TaskOrder,
    ClusterOrder,
    PrePredicate,
    Predicate,
    NodeOrder,
    BatchNodeOrder,
    NodeMapReduce,
    BestNode,
    Preemptable,
    Reclaimable,
    VictimTasks,
    Overused,
    Preemptive,
    Allocatable,
    JobValid,
    JobReady,
    JobPipelined,
    JobStarving,
    TargetJob,
    ReservedNodes,
    JobEnqueueable,
    JobEnqueued,
}

const POINTS: usize = Point::JobEnqueued as usize + 1;

impl Point {
    const ALL: [Point; POINTS] = [
        Self::JobOrder,
        Self::QueueOrder,
        Self::TaskOrder,
        Self::ClusterOrder,
        Self::PrePredicate,
        Self::Predicate,
        Self::NodeOrder,
        Self::BatchNodeOrder,
        Self::NodeMapReduce,
        Self::BestNode,
        Self::Preemptable,
        Self::Reclaimable,
        Self::VictimTasks,
        Self::Overused,
        Self::Preemptive,
        Self::Allocatable,
        Self::JobValid,
        Self::JobReady,
        Self::JobPipelined,
        Self::JobStarving,
        Self::TargetJob,
        Self::ReservedNodes,
        Self::JobEnqueueable,
        Self::JobEnqueued,
    ];

    /// The switch that guards the point; JobValid has none.
    fn switch(self) -> Option<Switch> {
        Some(match self {
            Self::JobOrder => Switch::JobOrder,
            Self::QueueOrder => Switch::QueueOrder,
            Self::TaskOrder => Switch::TaskOrder,
            Self::ClusterOrder => Switch::ClusterOrder,
            Self::PrePredicate | Self::Predicate => Switch::Predicate,
            Self::NodeOrder | Self::BatchNodeOrder | Self::NodeMapReduce => Switch::NodeOrder,
            Self::BestNode => Switch::BestNode,
            Self::Preemptable => Switch::Preemptable,
            Self::Reclaimable => Switch::Reclaimable,
            Self::VictimTasks => Switch::Victim,
            Self::Overused => Switch::Overused,
            Self::Preemptive => Switch::Preemptive,
            Self::Allocatable => Switch::Allocatable,
            Self::JobValid => return None,
            Self::JobReady => Switch::JobReady,
            Self::JobPipelined => Switch::JobPipelined,
            Self::JobStarving => Switch::JobStarving,
            Self::TargetJob => Switch::TargetJob,
            Self::ReservedNodes => Switch::ReservedNodes,
            Self::JobEnqueueable | Self::JobEnqueued => Switch::JobEnqueued,
        })
    }

    fn answered_by(self, plugin: &mut dyn SessionPlugin) -> bool {
        match self {
            Self::JobOrder => plugin.job_order().is_some(),
            Self::QueueOrder => plugin.queue_order().is_some(),
            Self::TaskOrder => plugin.task_order().is_some(),
            Self::ClusterOrder => plugin.cluster_order().is_some(),
            Self::PrePredicate => plugin.pre_predicate().is_some(),
            Self::Predicate => plugin.predicate().is_some(),
            Self::NodeOrder => plugin.node_order().is_some(),
            Self::BatchNodeOrder => plugin.batch_node_order().is_some(),
            Self::NodeMapReduce => plugin.node_map_reduce().is_some(),
            Self::BestNode => plugin.best_node().is_some(),
            Self::Preemptable => plugin.preemptable().is_some(),
            Self::Reclaimable => plugin.reclaimable().is_some(),
            Self::VictimTasks => plugin.victim_tasks().is_some(),
            Self::Overused => plugin.overused().is_some(),
            Self::Preemptive => plugin.preemptive().is_some(),
            Self::Allocatable => plugin.allocatable().is_some(),
            Self::JobValid => plugin.job_valid().is_some(),
            Self::JobReady => plugin.job_ready().is_some(),
            Self::JobPipelined => plugin.job_pipelined().is_some(),
            Self::JobStarving => plugin.job_starving().is_some(),
            Self::TargetJob => plugin.target_job().is_some(),
            Self::ReservedNodes => plugin.reserved_nodes().is_some(),
            Self::JobEnqueueable => plugin.job_enqueueable().is_some(),
            Self::JobEnqueued => plugin.job_enqueued().is_some(),
        }
    }
}

/// For each point, the plugins to ask, by tier; tiers that nobody answers in are left out.
#[derive(Clone, Debug, Default)]
pub struct Table {
    points: Vec<Vec<Vec<usize>>>,
}

impl Table {
    /// Builds the table. A plugin that is listed several times answers with its last instance wherever its name stands
    /// and is switched on, since Volcano keeps one function per name and point.
    pub(crate) fn build(conf: &SchedulerConf, plugins: &mut [Box<dyn SessionPlugin>]) -> Self {
        let points = Point::ALL
            .iter()
            .map(|point| {
                let mut last: HashMap<&str, usize> = HashMap::new();
                for (index, plugin) in plugins.iter_mut().enumerate() {
                    if point.answered_by(plugin.as_mut()) {
                        last.insert(plugin.name(), index);
                    }
                }
                conf.tiers
                    .iter()
                    .map(|tier| {
                        let on = |option: &&crate::conf::PluginOption| {
                            point.switch().is_none_or(|switch| option.enabled.is_on(switch))
                        };
                        let named = tier.plugins.iter().filter(on);
                        named
                            .filter_map(|option| last.get(option.name.as_str()).copied())
                            .collect::<Vec<_>>()
                    })
                    .filter(|tier| !tier.is_empty())
                    .collect()
            })
            .collect();
        Self { points }
    }

    /// Plugins by tier.
    pub(crate) fn tiers(&self, point: Point) -> &[Vec<usize>] {
        &self.points[point as usize]
    }

    /// Plugins in order, tiers joined.
    pub(crate) fn flat(&self, point: Point) -> impl Iterator<Item = usize> + '_ {
        self.points[point as usize].iter().flatten().copied()
    }
}
