//! The one list of plugins and actions by configured name, and the cycle that runs them.

mod cycle;
mod world;

pub use cycle::{CycleParameters, Phase, run_cycle, run_cycle_with};
pub use world::{Decided, PodName, World};

use mco_actions::{Action, Allocate, Backfill, Enqueue};
use mco_framework::{PluginFactory, Plugins};

/// Every plugin and action of this build.
pub struct Registry {
    plugins: Vec<Box<dyn PluginFactory>>,
    actions: Vec<Box<dyn Action>>,
}

impl Registry {
    /// All that exist.
    #[must_use]
    pub fn new() -> Self {
        let mut plugins = mco_plugins_builtin::factories();
        plugins.extend(mco_plugin::factories());
        Self {
            plugins,
            actions: vec![Box::new(Enqueue), Box::new(Allocate), Box::new(Backfill)],
        }
    }

    /// The action of that name. The configuration may name actions that come with a later version; they are told of and
    /// passed over.
    #[must_use]
    pub fn action(&self, name: &str) -> Option<&dyn Action> {
        self.actions
            .iter()
            .find(|action| action.name() == name)
            .map(AsRef::as_ref)
    }

    /// Names of all plugins.
    pub fn plugin_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.plugins.iter().map(|plugin| plugin.name())
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Plugins for Registry {
    fn find(&self, name: &str) -> Option<&dyn PluginFactory> {
        self.plugins
            .iter()
            .find(|plugin| plugin.name() == name)
            .map(AsRef::as_ref)
    }
}
