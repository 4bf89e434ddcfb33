//! What each source last said about itself, and one log line per change.

use std::collections::BTreeMap;

use tracing::{info, warn};

use crate::source::{Reason, SourceName, Unavailable};

/// The last known state of all sources.
#[derive(Debug, Default)]
pub struct Availability {
    states: BTreeMap<SourceName, Option<Reason>>,
}

/// A source that is not what it was at the last sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It has a reading, for the first time or again.
    Available,
    /// It has none, for the first time or for another reason than before.
    Unavailable(Reason),
}

impl Availability {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of one source's state, and logs it if it changed. A source that only waits for its second sample
    /// changes nothing.
    pub fn observe(&mut self, source: SourceName, absent: Option<&Unavailable>) -> Option<Change> {
        let reason = absent.map(|why| why.reason);
        if reason == Some(Reason::Warming) {
            return None;
        }
        if self.states.insert(source, reason) == Some(reason) {
            return None;
        }
        match absent {
            None => {
                info!(source = source.as_str(), "source available");
                Some(Change::Available)
            }
            Some(why) => {
                warn!(
                    source = source.as_str(),
                    reason = why.reason.as_str(),
                    "source unavailable: {}",
                    why.message
                );
                Some(Change::Unavailable(why.reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_and_warming_up_is_none() {
        let why = |reason| Some(Unavailable::new(reason, "because"));
        let mut availability = Availability::new();
        let steps = [
            (why(Reason::Warming), None),
            (None, Some(Change::Available)),
            (None, None),
            (why(Reason::Warming), None),
            (None, None),
            (why(Reason::Busy), Some(Change::Unavailable(Reason::Busy))),
            (why(Reason::Busy), None),
            (
                why(Reason::NoPermission),
                Some(Change::Unavailable(Reason::NoPermission)),
            ),
            (None, Some(Change::Available)),
        ];
        for (step, (absent, expected)) in steps.into_iter().enumerate() {
            assert_eq!(
                availability.observe(SourceName::Bio, absent.as_ref()),
                expected,
                "step {step}"
            );
        }
        assert_eq!(
            availability.observe(SourceName::Mem, None),
            Some(Change::Available),
            "sources are apart"
        );
    }
}
