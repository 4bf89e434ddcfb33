//! Indentation: blocks begin where it grows and end where it shrinks.

use super::super::super::error::{ConfError, Place, Problem};
use super::super::Result;
use super::{DEPTH_LIMIT, Scanner, TokenKind};

impl Scanner {
    pub(super) fn roll_indent(
        &mut self,
        column: isize,
        number: Option<usize>,
        kind: TokenKind,
        place: Place,
    ) -> Result<()> {
        if self.in_flow() || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > DEPTH_LIMIT {
            return Err(ConfError::new(
                self.place,
                Problem::TooDeep { limit: DEPTH_LIMIT },
            ));
        }
        self.insert(number, kind, place);
        Ok(())
    }

    pub(super) fn unroll_indent(&mut self, column: isize) {
        if self.in_flow() {
            return;
        }
        while self.indent > column {
            self.insert(None, TokenKind::BlockEnd, self.place);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}
