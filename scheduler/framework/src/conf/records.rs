//! Which fields a configuration file has, and of what type each must be.

use indexmap::IndexMap;

use super::decode::{Decoder, Result};
use super::error::Place;
use super::model::{Configuration, PluginOption, Tier};
use super::switches::Switch;
use super::yaml::NodeId;

/// The file as it stands, before names of actions are looked up.
#[derive(Debug, Default)]
pub(super) struct RawConf {
    pub(super) actions: String,
    /// Where the actions stand.
    pub(super) actions_at: Option<Place>,
    pub(super) tiers: Vec<Tier>,
    /// Where each tier stands.
    pub(super) tiers_at: Vec<Place>,
    pub(super) configurations: Vec<Configuration>,
    pub(super) metrics: Option<IndexMap<String, String>>,
}

/// Something with named fields: the file, a tier, a plugin entry, settings of an action.
pub(super) trait Record: Default {
    /// What is wanted where such a thing must stand.
    const WANTED: &'static str;

    /// Decodes the field of this name at `id`, if there is such a field; unknown ones are not looked at.
    fn field(&mut self, name: &str, id: NodeId, decoder: &mut Decoder<'_>) -> Result<()>;
}

impl Record for RawConf {
    const WANTED: &'static str = "a mapping with `actions` and `tiers`";

    fn field(&mut self, name: &str, id: NodeId, decoder: &mut Decoder<'_>) -> Result<()> {
        let place = decoder.tree.node(id).place;
        match name {
            "actions" => {
                self.actions_at = Some(place);
                if let Some(text) = decoder.text(id, "one text with the actions, parted by commas")? {
                    self.actions = text;
                }
            }
            "tiers" => {
                if let Some((tiers, places)) = decoder.records(id, "a list of tiers")? {
                    (self.tiers, self.tiers_at) = (tiers, places);
                }
            }
            "configurations" => {
                if let Some((configurations, _)) = decoder.records(id, "a list of settings of actions")? {
                    self.configurations = configurations;
                }
            }
            "metrics" => decoder.metrics(id, &mut self.metrics)?,
            _ => {}
        }
        Ok(())
    }
}

impl Record for Tier {
    const WANTED: &'static str = "a mapping with `plugins`";

    fn field(&mut self, name: &str, id: NodeId, decoder: &mut Decoder<'_>) -> Result<()> {
        if name == "plugins"
            && let Some((plugins, _)) = decoder.records(id, "a list of plugins")?
        {
            self.plugins = plugins;
        }
        Ok(())
    }
}

impl Record for PluginOption {
    const WANTED: &'static str = "a mapping with `name`";

    fn field(&mut self, name: &str, id: NodeId, decoder: &mut Decoder<'_>) -> Result<()> {
        match name {
            "name" => {
                if let Some(text) = decoder.text(id, "the name of a plugin")? {
                    self.name = text;
                }
            }
            "arguments" => decoder.arguments(id, &mut self.arguments)?,
            _ => {
                if let Some(switch) = Switch::from_key(name) {
                    let value = decoder.switch(id)?;
                    self.enabled.set(switch, value);
                }
            }
        }
        Ok(())
    }
}

impl Record for Configuration {
    const WANTED: &'static str = "a mapping with `name` and `arguments`";

    fn field(&mut self, name: &str, id: NodeId, decoder: &mut Decoder<'_>) -> Result<()> {
        match name {
            "name" => {
                if let Some(text) = decoder.text(id, "the name of an action")? {
                    self.name = text;
                }
            }
            "arguments" => decoder.arguments(id, &mut self.arguments)?,
            _ => {}
        }
        Ok(())
    }
}
