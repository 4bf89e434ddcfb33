//! Says a trouble once, and says when it is over.

use super::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use tracing::{info, warn};

/// Troubles that last, by what is in trouble.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    last: Mutex<HashMap<&'static str, String>>,
}

impl Troubles {
    /// `what` fails for this reason, of which the part before the object's name repeats.
    pub(crate) fn met(&self, what: &'static str, class: String, trouble: &str) {
        let before = lock(&self.last).insert(what, class.clone());
        if before.as_ref() != Some(&class) {
            warn!("{what} fails; it is tried again, and said again when it fails otherwise: {trouble}");
        }
    }

    /// `what` works.
    pub(crate) fn over(&self, what: &'static str) {
        if lock(&self.last).remove(what).is_some() {
            info!("{what} works again");
        }
    }
}
