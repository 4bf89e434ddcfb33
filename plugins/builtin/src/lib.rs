//! Volcano's plugins, one folder each.

use mco_framework::PluginFactory;

/// A factory of every plugin of this crate.
#[must_use]
pub fn factories() -> Vec<Box<dyn PluginFactory>> {
    Vec::new()
}
