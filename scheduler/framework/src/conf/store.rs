//! The configuration in force: what a new content of the file changes, and what stays when it is refused.

use std::sync::Arc;

use super::error::ConfError;
use super::model::{ACTION_NAMES, SchedulerConf};
use super::read::read_with_actions;

/// Holds the configuration in force. A content that is refused never displaces one that was accepted.
#[derive(Debug)]
pub struct ConfStore {
    known_actions: Vec<String>,
    active: Arc<SchedulerConf>,
    /// The content behind `active`; `None` as long as the built-in default is in force.
    active_text: Option<Vec<u8>>,
    refused: Option<Refused>,
}

#[derive(Debug)]
struct Refused {
    text: Vec<u8>,
    error: ConfError,
}

/// What loading a content led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The content is in force from now on.
    Replaced,
    /// The content is the one in force already.
    Unchanged,
    /// The content is the one that was refused last time; it was told then. [`ConfStore::fault`] has the reason.
    StillRefused,
}

impl Default for ConfStore {
    fn default() -> Self {
        Self::with_actions(ACTION_NAMES)
    }
}

impl ConfStore {
    /// A store with the built-in default in force, for files that use the actions of these names.
    pub fn with_actions<A: Into<String>>(known: impl IntoIterator<Item = A>) -> Self {
        ConfStore {
            known_actions: known.into_iter().map(Into::into).collect(),
            active: Arc::new(SchedulerConf::built_in()),
            active_text: None,
            refused: None,
        }
    }

    /// The configuration in force. A cycle takes it once at its start and keeps it to its end.
    pub fn active(&self) -> Arc<SchedulerConf> {
        Arc::clone(&self.active)
    }

    /// Whether no file was accepted so far.
    pub fn is_built_in(&self) -> bool {
        self.active_text.is_none()
    }

    /// A number for the content in force, to tell contents apart in logs and metrics; `None` for the built-in default.
    pub fn content_hash(&self) -> Option<u64> {
        self.active_text.as_deref().map(hash)
    }

    /// Why the latest content was refused; `None` if it was accepted.
    pub fn fault(&self) -> Option<&ConfError> {
        self.refused.as_ref().map(|refused| &refused.error)
    }

    /// Puts a content in force.
    ///
    /// # Errors
    ///
    /// If the content is refused; the configuration in force stays. The same content again is no error any more but
    /// [`Change::StillRefused`], so that a caller who looks at the file now and then tells each fault once.
    pub fn load(&mut self, text: &[u8]) -> Result<Change, ConfError> {
        if self.active_text.as_deref() == Some(text) {
            self.refused = None;
            return Ok(Change::Unchanged);
        }
        if self.refused.as_ref().is_some_and(|refused| refused.text == text) {
            return Ok(Change::StillRefused);
        }
        let known: Vec<&str> = self.known_actions.iter().map(String::as_str).collect();
        match read_with_actions(text, &known) {
            Ok(conf) => {
                self.active = Arc::new(conf);
                self.active_text = Some(text.to_vec());
                self.refused = None;
                Ok(Change::Replaced)
            }
            Err(error) => {
                self.refused = Some(Refused {
                    text: text.to_vec(),
                    error: error.clone(),
                });
                Err(error)
            }
        }
    }
}

/// FNV-1a, 64 bits: the same number for the same content on every machine and in every version.
fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n";
    const MISSPELT: &[u8] = b"actions: \"enqueue, allocat\"\n";

    #[test]
    fn a_bad_first_file_leaves_the_built_in_default() {
        let mut store = ConfStore::default();
        assert!(store.load(MISSPELT).is_err());
        assert!(store.is_built_in());
        assert_eq!(store.content_hash(), None);
        assert_eq!(*store.active(), SchedulerConf::built_in());
    }

    #[test]
    fn the_last_good_file_stays_through_a_typo_an_empty_file_and_no_yaml() {
        let mut store = ConfStore::default();
        assert_eq!(store.load(GOOD), Ok(Change::Replaced));
        let good = store.active();
        let hash = store.content_hash();
        for (bad, kind) in [
            (MISSPELT, "unknown action"),
            (b"", "unknown action"),
            (b"{", "YAML syntax"),
        ] {
            assert_eq!(store.load(bad).map_err(|error| error.kind()), Err(kind));
            assert_eq!(store.fault().map(ConfError::kind), Some(kind));
            assert!(Arc::ptr_eq(&store.active(), &good));
        }
        assert_eq!(store.content_hash(), hash);
        assert_eq!(store.load(b"actions: shuffle\n"), Ok(Change::Replaced));
        assert_eq!(store.active().actions, ["shuffle"]);
        assert_eq!(
            good.actions,
            ["enqueue", "allocate"],
            "a cycle under way keeps what it took"
        );
        assert_ne!(store.content_hash(), hash);
    }

    #[test]
    fn a_fault_is_told_once_and_forgotten_with_the_good_file() {
        let mut store = ConfStore::default();
        assert_eq!(store.load(GOOD), Ok(Change::Replaced));
        assert_eq!(store.load(GOOD), Ok(Change::Unchanged));
        assert!(store.load(MISSPELT).is_err());
        assert_eq!(store.load(MISSPELT), Ok(Change::StillRefused));
        assert_eq!(store.load(GOOD), Ok(Change::Unchanged));
        assert_eq!(store.fault(), None);
    }

    #[test]
    fn only_the_actions_that_are_known_may_be_used() {
        let mut store = ConfStore::with_actions(["allocate"]);
        let error = store.load(GOOD).expect_err("enqueue is not known here");
        assert_eq!(
            error.to_string(),
            "line 1, column 10: unknown action `enqueue`; known are allocate"
        );
    }
}
