//! From characters to tokens: what a token is, and the queue in which tokens wait.
//!
//! [`cursor`] goes along the characters, [`fetch`] says which token begins where, [`keys`] and [`indents`] put in the
//! tokens that no character of the text stands for.

mod cursor;
mod fetch;
mod indents;
mod keys;

use std::collections::{HashMap, VecDeque};

use super::super::error::Place;
use super::Result;
use super::input::Input;
use keys::PossibleKey;

pub(super) use cursor::{is_blank, is_blank_or_end, is_break, is_break_or_end, is_word};

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

    fn next_number(&self) -> usize {
        self.taken + self.tokens.len()
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
