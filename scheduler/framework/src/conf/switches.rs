//! The enable switches of a plugin entry: their spelling in the file, their defaults, and what they guard.

/// One enable switch of a plugin entry in the configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Switch {
    /// Guards the order of jobs within a queue.
    JobOrder,
    /// Turns on the hierarchical mode of drf; no extension point asks it.
    Hierarchy,
    /// Guards the question whether a job may be committed.
    JobReady,
    /// Guards the question whether a job is held as pipelined.
    JobPipelined,
    /// Guards the order of tasks within a job.
    TaskOrder,
    /// Guards the choice of victims within a queue.
    Preemptable,
    /// Guards the choice of victims of another queue.
    Reclaimable,
    /// Guards the question whether a queue may preempt for a task.
    Preemptive,
    /// Guards the order of queues.
    QueueOrder,
    /// Guards the order of clusters. Spelt with a capital E in the file.
    ClusterOrder,
    /// Guards the filters, both the one before and the one per node.
    Predicate,
    /// Guards the direct choice of one node.
    BestNode,
    /// Guards all scoring of nodes.
    NodeOrder,
    /// Guards the choice of a target job.
    TargetJob,
    /// Guards the reservation of nodes.
    ReservedNodes,
    /// Guards both the vote on enqueuing a job and the notice that it was enqueued.
    JobEnqueued,
    /// Guards the choice of victims by shuffle.
    Victim,
    /// Guards the question whether a job starves.
    JobStarving,
    /// Guards the question whether a queue is overused.
    Overused,
    /// Guards the question whether a queue has room for a task.
    Allocatable,
}

impl Switch {
    /// All switches, in the order in which summaries list them.
    pub const ALL: [Switch; 20] = [
        Switch::JobOrder,
        Switch::Hierarchy,
        Switch::JobReady,
        Switch::JobPipelined,
        Switch::TaskOrder,
        Switch::Preemptable,
        Switch::Reclaimable,
        Switch::Preemptive,
        Switch::QueueOrder,
        Switch::ClusterOrder,
        Switch::Predicate,
        Switch::BestNode,
        Switch::NodeOrder,
        Switch::TargetJob,
        Switch::ReservedNodes,
        Switch::JobEnqueued,
        Switch::Victim,
        Switch::JobStarving,
        Switch::Overused,
        Switch::Allocatable,
    ];

    /// The key of this switch, spelt as in the file. Case and the odd `d` count.
    pub const fn key(self) -> &'static str {
        match self {
            Switch::JobOrder => "enableJobOrder",
            Switch::Hierarchy => "enableHierarchy",
            Switch::JobReady => "enableJobReady",
            Switch::JobPipelined => "enableJobPipelined",
            Switch::TaskOrder => "enableTaskOrder",
            Switch::Preemptable => "enablePreemptable",
            Switch::Reclaimable => "enableReclaimable",
            Switch::Preemptive => "enablePreemptive",
            Switch::QueueOrder => "enableQueueOrder",
            Switch::ClusterOrder => "EnabledClusterOrder",
            Switch::Predicate => "enablePredicate",
            Switch::BestNode => "enableBestNode",
            Switch::NodeOrder => "enableNodeOrder",
            Switch::TargetJob => "enableTargetJob",
            Switch::ReservedNodes => "enableReservedNodes",
            Switch::JobEnqueued => "enableJobEnqueued",
            Switch::Victim => "enabledVictim",
            Switch::JobStarving => "enableJobStarving",
            Switch::Overused => "enabledOverused",
            Switch::Allocatable => "enabledAllocatable",
        }
    }

    /// The switch spelt exactly so, if any.
    pub fn from_key(key: &str) -> Option<Switch> {
        Switch::ALL.into_iter().find(|switch| switch.key() == key)
    }

    /// What holds when the file gives no value: on for all but two, which have no default and count as off.
    pub const fn default_value(self) -> Option<bool> {
        match self {
            Switch::Hierarchy | Switch::ClusterOrder => None,
            _ => Some(true),
        }
    }
}

/// The switches of one plugin entry, defaults already applied.
///
/// A switch is on, off, or has no value; without a value it counts as off, yet summaries tell the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Switches {
    values: [Option<bool>; Switch::ALL.len()],
}

impl Default for Switches {
    /// The switches of a plugin entry that mentions none.
    fn default() -> Self {
        Switches {
            values: Switch::ALL.map(Switch::default_value),
        }
    }
}

impl Switches {
    /// The value after defaults: `None` only for a switch without a default that the file does not set.
    pub const fn get(&self, switch: Switch) -> Option<bool> {
        self.values[switch as usize]
    }

    /// Whether the switch is on; without a value it is off.
    pub const fn is_on(&self, switch: Switch) -> bool {
        matches!(self.get(switch), Some(true))
    }

    /// Sets the switch; `None` returns it to its default.
    pub fn set(&mut self, switch: Switch, value: Option<bool>) {
        self.values[switch as usize] = value.or(switch.default_value());
    }

    /// The same switches with one changed; handy for building a configuration in code.
    #[must_use]
    pub fn with(mut self, switch: Switch, value: bool) -> Self {
        self.set(switch, Some(value));
        self
    }

    /// Whether the order of jobs is asked of this plugin.
    pub const fn job_order(&self) -> bool {
        self.is_on(Switch::JobOrder)
    }

    /// Whether drf works hierarchically.
    pub const fn hierarchy(&self) -> bool {
        self.is_on(Switch::Hierarchy)
    }

    /// Whether this plugin is asked if a job is ready.
    pub const fn job_ready(&self) -> bool {
        self.is_on(Switch::JobReady)
    }

    /// Whether this plugin is asked if a job is pipelined.
    pub const fn job_pipelined(&self) -> bool {
        self.is_on(Switch::JobPipelined)
    }

    /// Whether the order of tasks is asked of this plugin.
    pub const fn task_order(&self) -> bool {
        self.is_on(Switch::TaskOrder)
    }

    /// Whether this plugin takes part in choosing victims for preemption.
    pub const fn preemptable(&self) -> bool {
        self.is_on(Switch::Preemptable)
    }

    /// Whether this plugin takes part in choosing victims for reclaim.
    pub const fn reclaimable(&self) -> bool {
        self.is_on(Switch::Reclaimable)
    }

    /// Whether this plugin is asked if a queue may preempt.
    pub const fn preemptive(&self) -> bool {
        self.is_on(Switch::Preemptive)
    }

    /// Whether the order of queues is asked of this plugin.
    pub const fn queue_order(&self) -> bool {
        self.is_on(Switch::QueueOrder)
    }

    /// Whether the order of clusters is asked of this plugin; off unless the file says otherwise.
    pub const fn cluster_order(&self) -> bool {
        self.is_on(Switch::ClusterOrder)
    }

    /// Whether this plugin filters nodes, both before the loop over nodes and within it.
    pub const fn predicate(&self) -> bool {
        self.is_on(Switch::Predicate)
    }

    /// Whether this plugin may choose the node outright.
    pub const fn best_node(&self) -> bool {
        self.is_on(Switch::BestNode)
    }

    /// Whether this plugin scores nodes: one by one, in batch, and by map and reduce.
    pub const fn node_order(&self) -> bool {
        self.is_on(Switch::NodeOrder)
    }

    /// Whether this plugin may choose a target job.
    pub const fn target_job(&self) -> bool {
        self.is_on(Switch::TargetJob)
    }

    /// Whether this plugin may reserve nodes.
    pub const fn reserved_nodes(&self) -> bool {
        self.is_on(Switch::ReservedNodes)
    }

    /// Whether this plugin votes on enqueuing a job.
    pub const fn job_enqueueable(&self) -> bool {
        self.is_on(Switch::JobEnqueued)
    }

    /// Whether this plugin is told that a job was enqueued; the same switch as the vote.
    pub const fn job_enqueued(&self) -> bool {
        self.is_on(Switch::JobEnqueued)
    }

    /// Whether this plugin names victims for shuffle.
    pub const fn victim_tasks(&self) -> bool {
        self.is_on(Switch::Victim)
    }

    /// Whether this plugin is asked if a job starves.
    pub const fn job_starving(&self) -> bool {
        self.is_on(Switch::JobStarving)
    }

    /// Whether this plugin is asked if a queue is overused.
    pub const fn overused(&self) -> bool {
        self.is_on(Switch::Overused)
    }

    /// Whether this plugin is asked if a queue has room for a task.
    pub const fn allocatable(&self) -> bool {
        self.is_on(Switch::Allocatable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_switch_at_its_own_place() {
        for (place, switch) in Switch::ALL.into_iter().enumerate() {
            assert_eq!(switch as usize, place, "{}", switch.key());
            assert_eq!(Switch::from_key(switch.key()), Some(switch));
        }
    }

    #[test]
    fn near_misses_in_spelling_are_no_switches() {
        for key in [
            "enabledClusterOrder",
            "enableOverused",
            "enabledJobOrder",
            "enablejoborder",
            "",
        ] {
            assert_eq!(Switch::from_key(key), None, "{key}");
        }
    }

    #[test]
    fn an_entry_without_switches_has_all_on_but_two() {
        let switches = Switches::default();
        let off: Vec<_> = Switch::ALL.into_iter().filter(|s| !switches.is_on(*s)).collect();
        assert_eq!(off, [Switch::Hierarchy, Switch::ClusterOrder]);
        assert_eq!(switches.get(Switch::Hierarchy), None);
        assert!(switches.job_enqueueable() && switches.job_enqueued());
    }

    #[test]
    fn unsetting_a_switch_returns_it_to_its_default() {
        let mut switches = Switches::default()
            .with(Switch::JobOrder, false)
            .with(Switch::ClusterOrder, true);
        assert!(!switches.job_order() && switches.cluster_order());
        switches.set(Switch::JobOrder, None);
        switches.set(Switch::ClusterOrder, None);
        assert_eq!(switches, Switches::default());
    }
}
