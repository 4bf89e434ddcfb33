//! How far each watch is, and when all of them are far enough to decide on what they brought.

use mco_objects::Kind;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How a watch stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KindStatus {
    /// It has not listed its kind yet.
    #[default]
    Starting,
    /// It follows its kind.
    Following,
    /// There is nothing to follow: the kind is not installed, or may not be read.
    Absent(String),
    /// It tries to.
    Failing(String),
}

/// How all watches stand. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    kinds: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    kinds: BTreeMap<&'static str, (KindStatus, bool)>,
    complete: bool,
}

impl Standing {
    pub(super) fn expect(&self, kinds: &[Kind]) {
        let mut inner = self.lock();
        for kind in kinds {
            inner.kinds.entry(kind.name()).or_default();
        }
    }

    /// Notes how a watch stands; true when with it, for the first time, every kind was listed or is absent.
    pub(super) fn set(&self, kind: Kind, status: KindStatus) -> bool {
        let mut inner = self.lock();
        let entry = inner.kinds.entry(kind.name()).or_default();
        entry.1 |= matches!(status, KindStatus::Following | KindStatus::Absent(_));
        entry.0 = status;
        let all = inner.kinds.values().all(|(_, known)| *known);
        all && !std::mem::replace(&mut inner.complete, all)
    }

    /// How one watch stands.
    pub(super) fn of(&self, kind: Kind) -> KindStatus {
        self.lock()
            .kinds
            .get(kind.name())
            .map(|(status, _)| status.clone())
            .unwrap_or_default()
    }

    /// By kind, in the order of their names.
    #[must_use]
    pub fn all(&self) -> Vec<(&'static str, KindStatus)> {
        let inner = self.lock();
        inner
            .kinds
            .iter()
            .map(|(kind, (status, _))| (*kind, status.clone()))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_complete_once_when_every_kind_is_listed_or_absent() {
        let standing = Standing::default();
        standing.expect(&[Kind::Pod, Kind::Node]);
        assert!(!standing.set(Kind::Pod, KindStatus::Failing("away".to_owned())));
        assert!(!standing.set(Kind::Node, KindStatus::Absent("forbidden".to_owned())));
        assert!(standing.set(Kind::Pod, KindStatus::Following));
        assert!(!standing.set(Kind::Node, KindStatus::Following), "only once");
        assert!(!standing.set(Kind::Pod, KindStatus::Failing("away".to_owned())));
        assert!(!standing.set(Kind::Pod, KindStatus::Following));
        assert_eq!(standing.of(Kind::Pod), KindStatus::Following);
    }
}
