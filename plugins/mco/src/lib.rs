//! The interference-aware plugin: keeps pods off nodes under pressure and prefers calm ones, by the report that the
//! analyzer writes. Without a fresh report it neither filters nor prefers.
//!
//! Arguments, under `arguments.mco-plugin` or directly under `arguments`; a dot stands for a mapping inside. A value that
//! cannot be used leaves the default and a warning that names the argument.
//!
//! | argument | unit | default | meaning |
//! |---|---|---|---|
//! | `crName` | name | `cluster` | the NodeInterferenceReport to go by |
//! | `crStatusTTLSeconds` | seconds | 30 | an older report does not count |
//! | `fallbackWhenCROutdated` | true, false | true | `false` has no effect: a report that is too old never counts |
//! | `hardConstraints.psiMemoryFullAvg10` | percent | 0 | nodes above it are filtered out |
//! | `hardConstraints.psiMemoryFullAvg10Release` | percent | the limit | a node that was above the limit comes back at or below this; at most the limit |
//! | `hardConstraints.psiIoSomeAvg10Threshold` | percent | 20 | nodes above it are filtered out |
//! | `hardConstraints.psiIoSomeAvg10Release` | percent | the limit | a node that was above the limit comes back at or below this; at most the limit |
//! | `hardConstraints.holdSeconds` | seconds | 0 | a node that was above a limit does not come back before that long after it was last seen there |
//! | `maxExcludedRatio` | 0 to 1 | 1 | when more than this part of the nodes that a pod could go to is filtered out by hard limits, they do not filter it and the session warns; 1 is never |
//! | `expectedLoad.levelPerTask` | 0 to 1 | 0 | by how much each pod placed of late raises its node's level for scoring, up to 1; 0 is not at all |
//! | `expectedLoad.seconds` | seconds, at most 3600 | 10 | how long a pod counts as placed of late, besides those of the session itself |
//!
//! With a release value and a hold time, a node comes back when it meets both. Only sessions with a fresh report whose
//! entry is `ok` and has pressure figures see a node over a limit, and only they filter it out. A node that leaves the
//! report is forgotten, and so are all when neither is set any more.
//!
//! Placed of late are the pods that the session has given a place, and those that earlier sessions bound; pods that wait
//! for others to leave bring no load yet. A node of unknown level keeps the neutral score whatever was placed there.

mod expected;
mod filter;
mod freshness;
mod limits;
mod memory;
mod nodes;
mod score;
mod section;
mod settings;
mod share;

pub use freshness::{Freshness, judge};
pub use settings::Settings;

use expected::Expected;
use mco_framework::close::CloseReport;
use mco_framework::{
    Ledger, NodeOrder, OpenContext, PluginError, PluginFactory, Predicate, SessionPlugin, View,
};
use mco_model::NodeId;
use memory::Memory;
use nodes::NodeStates;
use share::Shares;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The name as configurations spell it.
pub const NAME: &str = "mco-plugin";

/// The score of a node about which nothing is known.
pub const NEUTRAL_SCORE: f64 = 50.0;

/// Makes the plugin `mco-plugin`, and remembers between sessions what its arguments want remembered.
#[derive(Debug, Default)]
pub struct McoFactory {
    memory: Arc<Mutex<Memory>>,
}

fn locked<T>(memory: &Mutex<T>) -> MutexGuard<'_, T> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

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
        let mut memory = locked(&self.memory);
        let states = OnceLock::new();
        if settings.holds_on() {
            // What was over a limit in a session that places nothing counts in the next.
            memory.forget_absent(view.report());
            states.get_or_init(|| NodeStates::look_up(view, freshness, &settings, Some(&mut memory)));
        } else {
            memory.forget_limits();
        }
        let expected = if settings.expects_load() {
            Some(Expected::recall(view, &settings, &mut memory))
        } else {
            memory.forget_placed();
            None
        };
        Ok(Box::new(Mco {
            settings,
            freshness,
            states,
            expected,
            memory: Arc::clone(&self.memory),
            shares: Shares::default(),
            rejections: Mutex::default(),
        }))
    }
}

/// A factory of every plugin of this crate.
#[must_use]
pub fn factories() -> Vec<Box<dyn PluginFactory>> {
    vec![Box::new(McoFactory::default())]
}

/// One session sees one report, judged once.
struct Mco {
    settings: Settings,
    freshness: Freshness,
    /// Looked up when the first task looks for a node, as most sessions place nothing, unless earlier sessions count.
    states: OnceLock<NodeStates>,
    /// Only when it is to count.
    expected: Option<Expected>,
    memory: Arc<Mutex<Memory>>,
    shares: Shares,
    /// How often nodes were filtered out, by reason.
    rejections: Mutex<HashMap<(NodeId, &'static str), u64>>,
}

impl Mco {
    fn states(&self, view: View<'_>) -> &NodeStates {
        self.states
            .get_or_init(|| NodeStates::look_up(view, self.freshness, &self.settings, None))
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
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        let expected = self.expected.as_mut()?;
        Some(expected)
    }
    fn close(&mut self, view: View<'_>, report: &mut CloseReport) {
        if let Some(expected) = &self.expected {
            locked(&self.memory).remember_placed(view.now(), expected.bound(view));
        }
        let mut rejections: Vec<_> = locked(&self.rejections)
            .drain()
            .map(|((node, reason), count)| (node, reason, count))
            .collect();
        rejections.sort_unstable();
        report.figures.rejections = rejections;
        report.figures.report_fallback = match self.freshness {
            Freshness::Fresh(_) => None,
            Freshness::Expired => Some("expired"),
            Freshness::Missing => Some("missing"),
        };
        if let Some(warning) = self.shares.warning(self.settings.max_excluded_ratio) {
            report.warn(warning);
        }
    }
}

#[cfg(test)]
mod tests;
