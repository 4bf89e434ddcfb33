//! What a configuration file says, after reading: actions, tiers of plugins, settings of actions, metrics source.

use indexmap::IndexMap;

use super::arguments::Arguments;
use super::switches::Switches;

/// The names of actions that a file may use. Case counts.
pub const ACTION_NAMES: [&str; 6] = ["enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"];

/// A configuration in force: which actions run, in which order, and which plugins they ask.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchedulerConf {
    /// Names of the actions in the order of running; a name may occur repeatedly. Each is one of the names that the
    /// reader was given, [`ACTION_NAMES`] unless told otherwise.
    pub actions: Vec<String>,
    /// Tiers of plugins, the first one first.
    pub tiers: Vec<Tier>,
    /// Settings of actions.
    pub configurations: Vec<Configuration>,
    /// The source of metrics, as texts; `None` if the file gives none.
    pub metrics: Option<IndexMap<String, String>>,
}

/// One tier: plugins that are asked together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tier {
    /// The plugins in the order of the file. A name may occur repeatedly, and may be unknown to the registry.
    pub plugins: Vec<PluginOption>,
}

/// One plugin entry of a tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PluginOption {
    /// The plugin's name, exactly as in the file; empty if the file gives none.
    pub name: String,
    /// The switches, defaults applied.
    pub enabled: Switches,
    /// The plugin's arguments.
    pub arguments: Arguments,
}

impl PluginOption {
    /// An entry with the default switches and no arguments, as from a file that gives only the name.
    pub fn named(name: impl Into<String>) -> Self {
        PluginOption {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// Settings of one action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Configuration {
    /// The action's name; empty if the file gives none.
    pub name: String,
    /// The action's arguments.
    pub arguments: Arguments,
}

impl SchedulerConf {
    /// The configuration that holds as long as no file could be read: actions enqueue, allocate and backfill; a tier
    /// of priority, gang and conformance, and one of overcommit, drf, predicates, proportion and nodeorder.
    pub fn built_in() -> Self {
        let tier = |names: &[&str]| Tier {
            plugins: names.iter().copied().map(PluginOption::named).collect(),
        };
        SchedulerConf {
            actions: ["enqueue", "allocate", "backfill"].map(String::from).to_vec(),
            tiers: vec![
                tier(&["priority", "gang", "conformance"]),
                tier(&["overcommit", "drf", "predicates", "proportion", "nodeorder"]),
            ],
            configurations: Vec::new(),
            metrics: None,
        }
    }

    /// The arguments of the first entry of `configurations` for this action, if there is one.
    pub fn action_arguments(&self, action: &str) -> Option<&Arguments> {
        self.configurations
            .iter()
            .find(|entry| entry.name == action)
            .map(|entry| &entry.arguments)
    }

    /// All plugin entries, tier by tier.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginOption> {
        self.tiers.iter().flat_map(|tier| &tier.plugins)
    }
}
