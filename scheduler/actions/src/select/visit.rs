//! What nodes said during one visit to a job. Volcano asks a node once per role: what refused one task of a role refuses
//! the others too, even where their pods differ; tasks without a role share one.

use super::filter::Filtered;
use mco_framework::fit::FitErrors;
use mco_framework::reason::Refusal;
use mco_model::spec::Text;
use mco_model::{Id, NodeId};
use std::collections::HashMap;
use std::sync::Arc;

/// The refusals met so far, by role.
#[derive(Default)]
pub struct Visit {
    roles: HashMap<Text, RoleRefusals>,
}

impl Visit {
    pub(super) fn role(&mut self, role: &Text) -> &mut RoleRefusals {
        self.roles.entry(role.clone()).or_default()
    }
}

/// Refusals by node slot.
#[derive(Default)]
pub(super) struct RoleRefusals {
    by_slot: Vec<Option<Arc<Refusal>>>,
}

impl RoleRefusals {
    /// The node has not refused the role so far, nor does it now.
    pub(super) fn admits(&mut self, node: NodeId, filtered: &Filtered) -> bool {
        if self.by_slot.get(node.slot()).is_some_and(Option::is_some) {
            return false;
        }
        let Some(refusal) = filtered.refusal(node) else {
            return true;
        };
        if self.by_slot.len() <= node.slot() {
            self.by_slot.resize(node.slot() + 1, None);
        }
        self.by_slot[node.slot()] = Some(refusal.clone());
        false
    }

    /// What these nodes said, counted.
    pub(super) fn errors(&self, nodes: &[NodeId]) -> FitErrors {
        let mut errors = FitErrors::default();
        for node in nodes {
            if let Some(Some(refusal)) = self.by_slot.get(node.slot()) {
                errors.count(&refusal.reason);
            }
        }
        errors
    }
}
