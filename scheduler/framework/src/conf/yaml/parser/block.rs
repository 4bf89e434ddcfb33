//! Lists and maps in block style, told apart by indentation.

use super::super::scanner::{Token, TokenKind};
use super::super::{Result, syntax};
use super::{Event, EventKind, Parser, Room, State};

impl Parser {
    pub(super) fn parse_block_entry(&mut self) -> Result<Event> {
        let Token { kind, start, end } = self.scanner.peek()?.clone();
        match kind {
            TokenKind::BlockEntry => {
                let next = self.take_and_peek()?;
                let begins = !matches!(next, TokenKind::BlockEntry | TokenKind::BlockEnd);
                self.node_or_empty(Room::Block, begins, end, State::BlockEntry)
            }
            TokenKind::BlockEnd => self.end(EventKind::ListEnd),
            _ => Err(syntax(start, "did not find the expected `-` of a list")),
        }
    }

    pub(super) fn parse_indentless_entry(&mut self) -> Result<Event> {
        let Token { kind, start, end } = self.scanner.peek()?.clone();
        if kind != TokenKind::BlockEntry {
            return Ok(Event {
                kind: EventKind::ListEnd,
                place: start,
                anchor: None,
            });
        }
        let next = self.take_and_peek()?;
        let begins = !ends_block_value(next) && *next != TokenKind::BlockEntry;
        self.node_or_empty(Room::Block, begins, end, State::IndentlessEntry)
    }

    pub(super) fn parse_block_key(&mut self) -> Result<Event> {
        let Token { kind, start, end } = self.scanner.peek()?.clone();
        match kind {
            TokenKind::Key => {
                let begins = !ends_block_value(self.take_and_peek()?);
                self.node_or_empty(Room::BlockOrIndentless, begins, end, State::BlockValue)
            }
            TokenKind::BlockEnd => self.end(EventKind::MapEnd),
            _ => Err(syntax(start, "did not find an expected key")),
        }
    }

    pub(super) fn parse_block_value(&mut self) -> Result<Event> {
        let Token { kind, start, end } = self.scanner.peek()?.clone();
        if kind != TokenKind::Value {
            return self.node_or_empty(Room::Block, false, start, State::BlockKey);
        }
        let begins = !ends_block_value(self.take_and_peek()?);
        self.node_or_empty(Room::BlockOrIndentless, begins, end, State::BlockKey)
    }
}

fn ends_block_value(token: &TokenKind) -> bool {
    matches!(token, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd)
}
