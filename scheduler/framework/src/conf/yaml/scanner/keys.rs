//! Keys without `?`, which show themselves as keys only at their colon.

use super::super::super::error::Place;
use super::super::{Result, syntax};
use super::Scanner;

/// How far a colon may stand from the start of its key, in characters.
const KEY_LENGTH: usize = 1024;

/// Where a key without `?` may have begun; whether it did shows only at the colon.
#[derive(Debug, Clone, Copy)]
pub(super) struct PossibleKey {
    pub(super) possible: bool,
    /// At the block's own indentation nothing but a key may stand.
    pub(super) required: bool,
    pub(super) token: usize,
    pub(super) index: usize,
    pub(super) place: Place,
}

impl Scanner {
    /// Whether a key may still begin where this level noted one.
    pub(super) fn check_key(&mut self, level: usize) -> Result<bool> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        if key.place.line == self.place.line && key.index + KEY_LENGTH >= self.index {
            return Ok(true);
        }
        if key.required {
            return Err(syntax(key.place, "could not find the `:` of this key"));
        }
        self.keys[level].possible = false;
        Ok(false)
    }

    pub(super) fn save_key(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let required = !self.in_flow() && self.indent == self.column();
        let token = self.next_number();
        self.drop_key()?;
        let level = self.keys.len() - 1;
        self.keys[level] = PossibleKey {
            possible: true,
            required,
            token,
            index: self.index,
            place: self.place,
        };
        self.key_of_token.insert(token, level);
        Ok(())
    }

    pub(super) fn drop_key(&mut self) -> Result<()> {
        let level = self.keys.len() - 1;
        let key = self.keys[level];
        if !key.possible {
            return Ok(());
        }
        if key.required {
            return Err(syntax(key.place, "could not find the `:` of this key"));
        }
        self.keys[level].possible = false;
        self.key_of_token.remove(&key.token);
        Ok(())
    }
}
