//! Going along the characters: what stands here and ahead, and what kind of character it is.

use super::super::super::error::Place;
use super::super::Result;
use super::{Scanner, TokenKind};

impl Scanner {
    /// The column from 0.
    pub(in super::super) fn column(&self) -> isize {
        self.place.column as isize - 1
    }

    pub(in super::super) fn now(&self) -> char {
        self.input.at(self.index)
    }

    pub(in super::super) fn ahead(&self, by: usize) -> char {
        self.input.at(self.index + by)
    }

    /// Goes past one character that is no line break.
    pub(in super::super) fn skip(&mut self) {
        self.index += 1;
        self.place.column += 1;
    }

    /// Goes past a line break and returns what it stands for in a text, if there is one.
    pub(in super::super) fn skip_break(&mut self) -> Option<char> {
        let now = self.now();
        if !is_break(now) {
            return None;
        }
        self.index += if now == '\r' && self.ahead(1) == '\n' {
            2
        } else {
            1
        };
        self.place = Place {
            line: self.place.line + 1,
            column: 1,
        };
        Some(if matches!(now, '\u{2028}' | '\u{2029}') {
            now
        } else {
            '\n'
        })
    }

    pub(in super::super) fn skip_blanks(&mut self) {
        while is_blank(self.now()) {
            self.skip();
        }
    }

    pub(in super::super) fn skip_comment(&mut self) {
        if self.now() == '#' {
            while !is_break_or_end(self.now()) {
                self.skip();
            }
        }
    }

    pub(in super::super) fn read_word(&mut self) -> String {
        let mut word = String::new();
        while is_word(self.now()) {
            word.push(self.now());
            self.skip();
        }
        word
    }

    /// Whether a line begins here with `---` or `...` and nothing attached.
    pub(in super::super) fn at_document_mark(&self) -> Option<TokenKind> {
        let mark = self.now();
        let is_mark = self.place.column == 1
            && matches!(mark, '-' | '.')
            && self.ahead(1) == mark
            && self.ahead(2) == mark
            && is_blank_or_end(self.ahead(3));
        let kind = if mark == '-' {
            TokenKind::DocumentStart
        } else {
            TokenKind::DocumentEnd
        };
        is_mark.then_some(kind)
    }

    /// Fails if reading this far ahead gets to a fault in the bytes.
    pub(in super::super) fn check_input(&self, ahead: usize) -> Result<()> {
        self.input
            .fault_at(self.index + ahead)
            .map_or(Ok(()), |error| Err(error.clone()))
    }
}

pub(in super::super) fn is_break(char: char) -> bool {
    matches!(char, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(in super::super) fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t')
}

pub(in super::super) fn is_break_or_end(char: char) -> bool {
    char == '\0' || is_break(char)
}

pub(in super::super) fn is_blank_or_end(char: char) -> bool {
    is_blank(char) || is_break_or_end(char)
}

pub(in super::super) fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}
