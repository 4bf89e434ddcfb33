//! Lists and maps in flow style, between brackets and braces, and the pairs that stand for maps within lists.

use super::super::scanner::{Token, TokenKind};
use super::super::{Result, syntax};
use super::{Event, EventKind, Parser, Room, State};

impl Parser {
    pub(super) fn parse_flow_entry(&mut self, first: bool) -> Result<Event> {
        if *self.peek()? != TokenKind::FlowListEnd {
            self.parse_comma(first, "did not find an expected `,` or `]`")?;
            let place = self.place()?;
            match self.peek()? {
                TokenKind::Key => {
                    self.scanner.take();
                    self.states.push(State::FlowPairKey);
                    return Ok(Event {
                        kind: EventKind::MapStart,
                        place,
                        anchor: None,
                    });
                }
                TokenKind::FlowListEnd => {}
                _ => return self.node_or_empty(Room::Flow, true, place, State::FlowEntry { first: false }),
            }
        }
        self.end(EventKind::ListEnd)
    }

    pub(super) fn parse_flow_pair_key(&mut self) -> Result<Event> {
        let Token { kind, end, .. } = self.scanner.peek()?.clone();
        let begins = !matches!(
            kind,
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowListEnd
        );
        if !begins {
            // Upstream goes past this token, be it the colon itself; the value then counts as absent.
            self.scanner.take();
        }
        self.node_or_empty(Room::Flow, begins, end, State::FlowPairValue)
    }

    pub(super) fn parse_flow_pair_value(&mut self) -> Result<Event> {
        let place = self.place()?;
        let begins = *self.peek()? == TokenKind::Value
            && !matches!(
                self.take_and_peek()?,
                TokenKind::FlowEntry | TokenKind::FlowListEnd
            );
        self.node_or_empty(Room::Flow, begins, place, State::FlowPairEnd)
    }

    pub(super) fn parse_flow_key(&mut self, first: bool) -> Result<Event> {
        if *self.peek()? != TokenKind::FlowMapEnd {
            self.parse_comma(first, "did not find an expected `,` or `}`")?;
            let place = self.place()?;
            match self.peek()? {
                TokenKind::Key => {
                    let next = self.take_and_peek()?;
                    let begins = !ends_flow_map_part(next) && *next != TokenKind::Value;
                    let place = self.place()?;
                    return self.node_or_empty(Room::Flow, begins, place, State::FlowValue);
                }
                TokenKind::FlowMapEnd => {}
                _ => return self.node_or_empty(Room::Flow, true, place, State::FlowValueAbsent),
            }
        }
        self.end(EventKind::MapEnd)
    }

    pub(super) fn parse_flow_value(&mut self) -> Result<Event> {
        let begins = *self.peek()? == TokenKind::Value && !ends_flow_map_part(self.take_and_peek()?);
        let place = self.place()?;
        self.node_or_empty(Room::Flow, begins, place, State::FlowKey { first: false })
    }

    /// Goes past the comma that parts entries of a flow collection.
    fn parse_comma(&mut self, first: bool, refusal: &str) -> Result<()> {
        if first {
            return Ok(());
        }
        if *self.peek()? != TokenKind::FlowEntry {
            return Err(syntax(self.place()?, refusal));
        }
        self.scanner.take();
        Ok(())
    }
}

fn ends_flow_map_part(token: &TokenKind) -> bool {
    matches!(token, TokenKind::FlowEntry | TokenKind::FlowMapEnd)
}
