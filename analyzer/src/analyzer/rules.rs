//! The rules in force: taking updates of them, and the condition that tells of the last one.

use std::sync::Arc;

use mco_crds::Condition;
use mco_crds::decode::format_time_micros;
use tracing::{info, warn};

use super::{Analyzer, lock};
use crate::rules::{Rules, RulesKeeper, RulesUpdate, RulesVerdict};

pub(super) struct RulesInForce {
    pub(super) keeper: RulesKeeper,
    /// When `accepted` last changed.
    pub(super) transition_micros: i64,
}

impl Analyzer {
    /// Takes an update of the rules; they hold from the next evaluation on.
    pub fn apply_rules(&self, update: &RulesUpdate) -> RulesVerdict {
        let mut rules = lock(&self.rules);
        let before = rules.keeper.verdict().clone();
        let verdict = rules.keeper.apply(update).clone();
        if before.accepted != verdict.accepted {
            rules.transition_micros = self.clock.wall_micros();
        }
        self.metrics
            .rules_generation()
            .set(i64::try_from(rules.keeper.generation()).unwrap_or(i64::MAX));
        drop(rules);
        if verdict != before {
            let reason = verdict.reason.as_str();
            if verdict.accepted {
                info!(
                    reason,
                    hash = verdict.effective_hash,
                    "rules: {}",
                    verdict.message
                );
            } else {
                warn!(
                    reason,
                    hash = verdict.effective_hash,
                    "rules: {}",
                    verdict.message
                );
            }
        }
        verdict
    }

    /// The rules in force.
    pub fn rules(&self) -> Arc<Rules> {
        lock(&self.rules).keeper.rules()
    }

    /// What became of the last update of the rules.
    pub fn rules_verdict(&self) -> RulesVerdict {
        lock(&self.rules).keeper.verdict().clone()
    }
}

impl RulesInForce {
    pub(super) fn condition(&self) -> Condition {
        let verdict = self.keeper.verdict();
        Condition {
            kind: "RulesAccepted".to_owned(),
            status: if verdict.accepted { "True" } else { "False" }.to_owned(),
            reason: verdict.reason.as_str().to_owned(),
            message: verdict.message.clone(),
            last_transition_time: Some(format_time_micros(self.transition_micros)),
            observed_generation: None,
        }
    }
}
