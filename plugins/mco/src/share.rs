//! How large a part of the nodes is over a hard limit, which decides whether hard limits filter at all.

use crate::NAME;
use mco_model::ClassId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Nodes that pods of a class could go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those over a hard limit.
    pub excluded: u32,
    /// All of them.
    pub all: u32,
}

impl Share {
    /// The part that is over a hard limit, 0 to 1; of no nodes it is 0.
    pub fn ratio(self) -> f64 {
        if self.all == 0 {
            0.0
        } else {
            f64::from(self.excluded) / f64::from(self.all)
        }
    }
}

/// The shares of a session by pod class, each counted once.
#[derive(Debug, Default)]
pub struct Shares(Mutex<HashMap<ClassId, Share>>);

impl Shares {
    /// The share of the class.
    pub fn of(&self, class: ClassId, count: impl FnOnce() -> Share) -> Share {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *shares.entry(class).or_insert_with(count)
    }

    /// Tells, with the largest share, that hard limits did not filter because a share was above `limit`.
    pub fn warning(&self, limit: f64) -> Option<String> {
        let shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let above = shares.values().filter(|share| share.ratio() > limit);
        let largest = above.max_by(|l, r| l.ratio().total_cmp(&r.ratio()).then(l.all.cmp(&r.all)))?;
        Some(format!(
            "plugin `{NAME}`: {} of {} nodes that pods could go to are over a hard limit, a share of {:.2} where \
             `maxExcludedRatio` is {limit}: for these pods nodes were scored but not filtered by hard limits",
            largest.excluded,
            largest.all,
            largest.ratio()
        ))
    }
}
