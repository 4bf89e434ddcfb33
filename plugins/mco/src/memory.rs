//! What outlives a session: which nodes were over a hard limit.

use crate::limits::LastOver;
use mco_model::interference::InterferenceReport;
use mco_model::spec::Text;
use std::collections::HashMap;

/// State of the process, changed only when sessions open and close, by what they see.
#[derive(Debug, Default)]
pub struct Memory {
    over: HashMap<Text, LastOver>,
}

impl Memory {
    /// Drops the nodes that left the report.
    pub fn forget_absent(&mut self, report: Option<&InterferenceReport>) {
        self.over
            .retain(|name, _| report.is_some_and(|report| report.nodes.contains_key(name)));
    }

    /// Drops what hard limits left behind.
    pub fn forget_limits(&mut self) {
        self.over = HashMap::new();
    }

    /// Lets `judge` see and change what is known of the node.
    pub fn node<R>(&mut self, name: &Text, judge: impl FnOnce(&mut LastOver) -> R) -> R {
        let known = self.over.get(name).copied();
        let mut last_over = known.unwrap_or_default();
        let answer = judge(&mut last_over);
        if last_over != LastOver::default() {
            self.over.insert(name.clone(), last_over);
        } else if known.is_some() {
            self.over.remove(name);
        }
        answer
    }
}
