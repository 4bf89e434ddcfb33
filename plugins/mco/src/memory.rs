//! What outlives a session: which nodes were over a hard limit, and where pods were placed of late.

use crate::limits::LastOver;
use mco_model::interference::InterferenceReport;
use mco_model::spec::Text;
use mco_model::time::Time;
use std::collections::HashMap;

/// State of the process, changed only when sessions open and close, by what they see.
#[derive(Debug, Default)]
pub struct Memory {
    over: HashMap<Text, LastOver>,
    /// What each session bound, as long as it is of late.
    placed: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    at: Time,
    on: Vec<PlacedOn>,
}

/// How many tasks a session bound to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedOn {
    /// The node's name.
    pub node: Text,
    /// 1 or more.
    pub tasks: u32,
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

    /// What was bound less than `seconds` before `now`; the rest is dropped.
    pub fn placed_of_late(&mut self, now: Time, seconds: f64) -> impl Iterator<Item = &PlacedOn> {
        self.placed.retain_mut(|placed| {
            // The own clock may have been set back since.
            placed.at = placed.at.min(now);
            now.seconds_since(placed.at) < seconds
        });
        self.placed.iter().flat_map(|placed| &placed.on)
    }

    /// Remembers what a session bound.
    pub fn remember_placed(&mut self, at: Time, on: Vec<PlacedOn>) {
        if !on.is_empty() {
            self.placed.push(Placed { at, on });
        }
    }

    /// Drops what sessions bound.
    pub fn forget_placed(&mut self) {
        self.placed = Vec::new();
    }
}
