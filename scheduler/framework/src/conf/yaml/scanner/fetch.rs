//! Which token begins at the next character, and what it does to keys and indentation.

use super::super::super::error::{ConfError, Place, Problem};
use super::super::{Result, syntax};
use super::keys::PossibleKey;
use super::{DEPTH_LIMIT, Scanner, TokenKind, is_blank, is_blank_or_end};

/// The length of `---` and `...`, which are looked for before anything else.
const DOCUMENT_MARK: usize = 3;

impl Scanner {
    pub(super) fn fetch(&mut self) -> Result<()> {
        self.check_input(0)?;
        self.skip_to_token();
        self.check_input(DOCUMENT_MARK)?;
        self.unroll_indent(self.column());
        let (now, next) = (self.now(), self.ahead(1));
        if now == '\0' {
            return self.fetch_end();
        }
        if self.place.column == 1 && now == '%' {
            return self.fetch_directive();
        }
        if let Some(kind) = self.at_document_mark() {
            self.leave_blocks()?;
            return self.push_indicator(kind, DOCUMENT_MARK);
        }
        let parted = self.in_flow() || is_blank_or_end(next);
        match now {
            '[' => self.fetch_flow_start(TokenKind::FlowListStart),
            '{' => self.fetch_flow_start(TokenKind::FlowMapStart),
            ']' => self.fetch_flow_end(TokenKind::FlowListEnd),
            '}' => self.fetch_flow_end(TokenKind::FlowMapEnd),
            ',' => {
                self.drop_key()?;
                self.key_allowed = true;
                self.push_indicator(TokenKind::FlowEntry, 1)
            }
            '-' if is_blank_or_end(next) => {
                let refusal = "block sequence entries are not allowed in this context";
                self.fetch_block_indicator(TokenKind::BlockEntry, TokenKind::BlockListStart, refusal, true)
            }
            '?' if parted => {
                let refusal = "mapping keys are not allowed in this context";
                self.fetch_block_indicator(TokenKind::Key, TokenKind::BlockMapStart, refusal, !self.in_flow())
            }
            ':' if parted => self.fetch_value(),
            '*' => self.fetch_name(TokenKind::Alias),
            '&' => self.fetch_name(TokenKind::Anchor),
            '!' => self.fetch_tag(),
            '|' | '>' if !self.in_flow() => {
                self.drop_key()?;
                self.key_allowed = true;
                self.push(|scanner| scanner.scan_block_scalar(now == '|'))
            }
            '\'' | '"' => self.push_possible_key(|scanner| scanner.scan_quoted(now)),
            _ if self.may_begin_plain(now, next) => self.push_possible_key(Self::scan_plain),
            _ => Err(syntax(
                self.place,
                "found a character that cannot begin any value",
            )),
        }
    }

    fn may_begin_plain(&self, now: char, next: char) -> bool {
        match now {
            '-' => !is_blank(next),
            '?' | ':' => !self.in_flow() && !is_blank_or_end(next),
            ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => false,
            _ => !is_blank_or_end(now),
        }
    }

    /// Goes past blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            let near_start = self.index + 4 <= self.input.len();
            if self.place.column == 1 && self.input.has_second_mark() && near_start {
                self.skip();
            }
            // Where a key may begin, a tab would count as indentation.
            let tab_is_blank = self.in_flow() || !self.key_allowed;
            while self.now() == ' ' || (tab_is_blank && self.now() == '\t') {
                self.skip();
            }
            self.skip_comment();
            if self.skip_break().is_none() {
                return;
            }
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    fn fetch_end(&mut self) -> Result<()> {
        if self.place.column != 1 {
            self.place = Place {
                line: self.place.line + 1,
                column: 1,
            };
        }
        self.leave_blocks()?;
        self.push_indicator(TokenKind::StreamEnd, 0)
    }

    fn leave_blocks(&mut self) -> Result<()> {
        self.unroll_indent(-1);
        self.drop_key()?;
        self.key_allowed = false;
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<()> {
        self.save_key()?;
        if self.keys.len() > DEPTH_LIMIT {
            return Err(ConfError::new(
                self.place,
                Problem::TooDeep { limit: DEPTH_LIMIT },
            ));
        }
        let token = self.next_number();
        self.keys.push(PossibleKey {
            possible: false,
            required: false,
            token,
            index: self.index,
            place: self.place,
        });
        self.key_allowed = true;
        self.push_indicator(kind, 1)
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<()> {
        self.drop_key()?;
        if self.in_flow()
            && let Some(key) = self.keys.pop()
        {
            // For an empty collection this is the number of its own opening token, whose key is forgotten with it:
            // upstream does not see `[]: 1` as a key.
            self.key_of_token.remove(&key.token);
        }
        self.key_allowed = false;
        self.push_indicator(kind, 1)
    }

    fn fetch_block_indicator(
        &mut self,
        kind: TokenKind,
        opening: TokenKind,
        refusal: &str,
        key_follows: bool,
    ) -> Result<()> {
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(syntax(self.place, refusal));
            }
            self.roll_indent(self.column(), None, opening, self.place)?;
        }
        self.drop_key()?;
        self.key_allowed = key_follows;
        self.push_indicator(kind, 1)
    }

    fn fetch_value(&mut self) -> Result<()> {
        let level = self.keys.len() - 1;
        if !self.check_key(level)? {
            let refusal = "mapping values are not allowed in this context";
            if !self.in_flow() {
                if !self.key_allowed {
                    return Err(syntax(self.place, refusal));
                }
                self.roll_indent(self.column(), None, TokenKind::BlockMapStart, self.place)?;
            }
            self.key_allowed = !self.in_flow();
            return self.push_indicator(TokenKind::Value, 1);
        }
        let key = self.keys[level];
        self.insert(Some(key.token), TokenKind::Key, key.place);
        let column = key.place.column as isize - 1;
        self.roll_indent(column, Some(key.token), TokenKind::BlockMapStart, key.place)?;
        self.keys[level].possible = false;
        self.key_of_token.remove(&key.token);
        self.key_allowed = false;
        self.push_indicator(TokenKind::Value, 1)
    }

    fn fetch_name(&mut self, kind: fn(String) -> TokenKind) -> Result<()> {
        self.push_possible_key(|scanner| {
            scanner.skip();
            let name = scanner.read_word();
            let now = scanner.now();
            let ended = is_blank_or_end(now) || matches!(now, '?' | ':' | ',' | ']' | '}' | '%' | '@' | '`');
            if name.is_empty() || !ended {
                return Err(syntax(
                    scanner.place,
                    "did not find a name of letters and digits after `&` or `*`",
                ));
            }
            Ok(kind(name))
        })
    }

    fn fetch_tag(&mut self) -> Result<()> {
        self.push_possible_key(|scanner| {
            let kind = scanner.scan_tag()?;
            if !is_blank_or_end(scanner.now()) {
                return Err(syntax(
                    scanner.place,
                    "did not find a blank or line break after a tag",
                ));
            }
            Ok(kind)
        })
    }

    fn fetch_directive(&mut self) -> Result<()> {
        self.leave_blocks()?;
        self.push(Self::scan_directive)
    }
}
