//! The interference-aware plugin: keeps pods off nodes under pressure and prefers calm ones, by the report that the
//! analyzer writes. Without a fresh report it neither filters nor prefers.

mod filter;
mod freshness;
mod nodes;
mod score;
mod settings;
mod share;

pub use freshness::{Freshness, judge};
pub use settings::Settings;

use mco_framework::close::CloseReport;
use mco_framework::{NodeOrder, OpenContext, PluginError, PluginFactory, Predicate, SessionPlugin, View};
use nodes::NodeStates;
use share::Shares;
use std::sync::OnceLock;

/// The name as configurations spell it.
pub const NAME: &str = "mco-plugin";

/// The score of a node about which nothing is known.
pub const NEUTRAL_SCORE: f64 = 50.0;

/// Makes the plugin `mco-plugin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct McoFactory;

impl PluginFactory for McoFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (settings, warnings) = Settings::from_arguments(context.arguments());
        context.warnings.extend(warnings);
        let view = context.view;
        let freshness = judge(view.report(), view.now(), settings.ttl_seconds);
        let clock = view
            .report()
            .and_then(|report| freshness::clock_warning(report, view.now(), settings.ttl_seconds));
        context.warnings.extend(clock);
        Ok(Box::new(Mco {
            settings,
            freshness,
            states: OnceLock::new(),
            shares: Shares::default(),
        }))
    }
}

/// A factory of every plugin of this crate.
#[must_use]
pub fn factories() -> Vec<Box<dyn PluginFactory>> {
    vec![Box::new(McoFactory)]
}

/// One session sees one report, judged once.
struct Mco {
    settings: Settings,
    freshness: Freshness,
    /// Looked up when the first task looks for a node: most sessions place nothing.
    states: OnceLock<NodeStates>,
    shares: Shares,
}

impl Mco {
    fn states(&self, view: View<'_>) -> &NodeStates {
        self.states
            .get_or_init(|| NodeStates::look_up(view, self.freshness, &self.settings))
    }
}

impl SessionPlugin for Mco {
    fn name(&self) -> &'static str {
        NAME
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        Some(self)
    }
    fn close(&mut self, _view: View<'_>, report: &mut CloseReport) {
        if let Some(warning) = self.shares.warning(self.settings.max_excluded_ratio) {
            report.warn(warning);
        }
    }
}

#[cfg(test)]
mod tests;
