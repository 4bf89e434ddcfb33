//! From characters to tokens: indentation, implied keys, indicators and directives.

use std::collections::{HashMap, VecDeque};

use super::super::error::{ConfError, Place, Problem};
use super::input::Input;
use super::{Result, syntax};

/// A token and where it begins and ends.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Place,
    pub(super) end: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    StreamEnd,
    Version(u32, u32),
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockListStart,
    BlockMapStart,
    BlockEnd,
    FlowListStart,
    FlowListEnd,
    FlowMapStart,
    FlowMapEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { text: String, plain: bool },
}

/// How deep flow collections, and how deep indentations, may nest.
pub(super) const DEPTH_LIMIT: usize = 10_000;

/// The length of `---` and `...`, which are looked for before anything else.
const DOCUMENT_MARK: usize = 3;

/// How far a colon may stand from the start of its key, in characters.
const KEY_LENGTH: usize = 1024;

/// Where a key without `?` may have begun; whether it did shows only at the colon.
#[derive(Debug, Clone, Copy)]
struct PossibleKey {
    possible: bool,
    /// At the block's own indentation nothing but a key may stand.
    required: bool,
    token: usize,
    index: usize,
    place: Place,
}

#[derive(Debug)]
pub(super) struct Scanner {
    pub(super) input: Input,
    pub(super) index: usize,
    pub(super) place: Place,
    tokens: VecDeque<Token>,
    /// How many tokens were taken from the queue.
    taken: usize,
    /// The column of the current block, from 0; below 0 outside of any.
    pub(super) indent: isize,
    indents: Vec<isize>,
    pub(super) key_allowed: bool,
    /// One for the block level and one for each flow collection.
    keys: Vec<PossibleKey>,
    /// Which of `keys` may begin at a token of this number.
    key_of_token: HashMap<usize, usize>,
}

impl Scanner {
    pub(super) fn new(input: Input) -> Self {
        let place = Place { line: 1, column: 1 };
        Scanner {
            input,
            index: 0,
            place,
            tokens: VecDeque::new(),
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![PossibleKey {
                possible: false,
                required: false,
                token: 0,
                index: 0,
                place,
            }],
            key_of_token: HashMap::new(),
        }
    }

    /// The next token, left in the queue.
    pub(super) fn peek(&mut self) -> Result<&Token> {
        loop {
            if !self.tokens.is_empty() {
                // A key may still have to be put before the token at the head.
                let Some(&level) = self.key_of_token.get(&self.taken) else {
                    break;
                };
                if !self.check_key(level)? {
                    break;
                }
            }
            self.fetch()?;
        }
        Ok(&self.tokens[0])
    }

    /// Takes the token that [`Self::peek`] showed.
    pub(super) fn take(&mut self) -> Option<Token> {
        self.taken += 1;
        self.tokens.pop_front()
    }

    pub(super) fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    /// The column from 0.
    pub(super) fn column(&self) -> isize {
        self.place.column as isize - 1
    }

    pub(super) fn now(&self) -> char {
        self.input.at(self.index)
    }

    pub(super) fn ahead(&self, by: usize) -> char {
        self.input.at(self.index + by)
    }

    /// Goes past one character that is no line break.
    pub(super) fn skip(&mut self) {
        self.index += 1;
        self.place.column += 1;
    }

    /// Goes past a line break and returns what it stands for in a text, if there is one.
    pub(super) fn skip_break(&mut self) -> Option<char> {
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

    pub(super) fn skip_blanks(&mut self) {
        while is_blank(self.now()) {
            self.skip();
        }
    }

    pub(super) fn skip_comment(&mut self) {
        if self.now() == '#' {
            while !is_break_or_end(self.now()) {
                self.skip();
            }
        }
    }

    /// Whether a line begins here with `---` or `...` and nothing attached.
    pub(super) fn at_document_mark(&self) -> Option<TokenKind> {
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
    pub(super) fn check_input(&self, ahead: usize) -> Result<()> {
        self.input
            .fault_at(self.index + ahead)
            .map_or(Ok(()), |error| Err(error.clone()))
    }

    fn fetch(&mut self) -> Result<()> {
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

    pub(super) fn read_word(&mut self) -> String {
        let mut word = String::new();
        while is_word(self.now()) {
            word.push(self.now());
            self.skip();
        }
        word
    }

    fn fetch_directive(&mut self) -> Result<()> {
        self.leave_blocks()?;
        self.push(Self::scan_directive)
    }

    fn next_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    /// Whether a key may still begin where this level noted one.
    fn check_key(&mut self, level: usize) -> Result<bool> {
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

    fn save_key(&mut self) -> Result<()> {
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

    fn drop_key(&mut self) -> Result<()> {
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

    fn roll_indent(
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

    fn unroll_indent(&mut self, column: isize) {
        if self.in_flow() {
            return;
        }
        while self.indent > column {
            self.insert(None, TokenKind::BlockEnd, self.place);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Puts a token of no width before the one of this number; at the end if that one was taken already, or for none.
    fn insert(&mut self, number: Option<usize>, kind: TokenKind, place: Place) {
        let token = Token {
            kind,
            start: place,
            end: place,
        };
        match number.and_then(|number| number.checked_sub(self.taken)) {
            Some(at) if at <= self.tokens.len() => self.tokens.insert(at, token),
            _ => self.tokens.push_back(token),
        }
    }

    fn push_indicator(&mut self, kind: TokenKind, width: usize) -> Result<()> {
        self.push(|scanner| {
            scanner.index += width;
            scanner.place.column += width;
            Ok(kind)
        })
    }

    fn push_possible_key(&mut self, scan: impl FnOnce(&mut Self) -> Result<TokenKind>) -> Result<()> {
        self.save_key()?;
        self.key_allowed = false;
        self.push(scan)
    }

    fn push(&mut self, scan: impl FnOnce(&mut Self) -> Result<TokenKind>) -> Result<()> {
        let start = self.place;
        let kind = scan(self)?;
        self.check_input(0)?;
        self.tokens.push_back(Token {
            kind,
            start,
            end: self.place,
        });
        Ok(())
    }
}

pub(super) fn is_break(char: char) -> bool {
    matches!(char, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t')
}

pub(super) fn is_break_or_end(char: char) -> bool {
    char == '\0' || is_break(char)
}

pub(super) fn is_blank_or_end(char: char) -> bool {
    is_blank(char) || is_break_or_end(char)
}

pub(super) fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}
