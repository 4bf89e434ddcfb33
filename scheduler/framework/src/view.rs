//! What plugins see: the live cluster as the open statements left it, and the facts of the session.

use crate::fit::FitLog;
use mco_model::Cluster;
use mco_model::spec::Text;
use mco_model::time::Time;
use std::ops::Deref;

/// The state of the moment, lent for one call. Everything the cluster knows can be asked of it directly.
#[derive(Clone, Copy)]
pub struct View<'a> {
    cluster: &'a Cluster,
    facts: &'a Facts,
    fits: &'a FitLog,
}

/// What holds for the whole session.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Id of the session; conditions carry it.
    pub uid: Text,
    /// The moment the session stands for.
    pub now: Time,
}

impl<'a> View<'a> {
    /// A view of these.
    #[must_use]
    pub fn new(cluster: &'a Cluster, facts: &'a Facts, fits: &'a FitLog) -> Self {
        Self { cluster, facts, fits }
    }

    /// The cluster, with the lifetime of the view.
    #[must_use]
    pub fn cluster(self) -> &'a Cluster {
        self.cluster
    }

    /// The moment the session stands for.
    #[must_use]
    pub fn now(self) -> Time {
        self.facts.now
    }

    /// Why tasks and jobs were refused so far.
    #[must_use]
    pub fn fits(self) -> &'a FitLog {
        self.fits
    }
}

impl Deref for View<'_> {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.cluster
    }
}
