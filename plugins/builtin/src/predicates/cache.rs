//! Answers kept for pods of one template: with `predicate.CacheEnable`, what node selection, taints and cordons said to
//! the first pod of a template on a node holds for all others of it, even where they differ.

use mco_model::spec::Text;
use mco_model::{Id, NodeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const FITS: u8 = 1;
const REFUSED: u8 = 2;

/// The answers of one session.
#[derive(Default)]
pub(super) struct TemplateCache {
    by_template: Mutex<HashMap<Text, Arc<[AtomicU8]>>>,
}

/// The answers for one template, by node slot.
pub(super) struct TemplateAnswers {
    answers: Arc<[AtomicU8]>,
}

impl TemplateCache {
    /// The answers for a template, among `slots` nodes.
    pub(super) fn of(&self, template: &Text, slots: usize) -> TemplateAnswers {
        let mut by_template = self.by_template.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = by_template
            .entry(template.clone())
            .or_insert_with(|| (0..slots).map(|_| AtomicU8::new(0)).collect());
        TemplateAnswers {
            answers: answers.clone(),
        }
    }
}

impl TemplateAnswers {
    /// The node fits, by an answer kept; `None` when there is none.
    pub(super) fn get(&self, node: NodeId) -> Option<bool> {
        match self.answers.get(node.slot())?.load(Ordering::Relaxed) {
            FITS => Some(true),
            REFUSED => Some(false),
            _ => None,
        }
    }

    /// Keeps an answer.
    pub(super) fn set(&self, node: NodeId, fits: bool) {
        if let Some(answer) = self.answers.get(node.slot()) {
            answer.store(if fits { FITS } else { REFUSED }, Ordering::Relaxed);
        }
    }
}
