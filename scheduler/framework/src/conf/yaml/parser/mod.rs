//! From tokens to events: which nodes there are and how they nest.

mod block;
mod flow;

use super::super::error::Place;
use super::scanner::{Scanner, TokenKind};
use super::{Result, syntax};

/// A node, or the start or end of one.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) place: Place,
    pub(super) anchor: Option<String>,
}

#[derive(Debug)]
pub(super) enum EventKind {
    Alias(String),
    Scalar { text: String, tag: String, plain: bool },
    ListStart,
    ListEnd,
    MapStart,
    MapEnd,
    DocumentEnd,
}

/// What the parser is in the middle of.
#[derive(Debug, Clone, Copy)]
enum State {
    DocumentEnd,
    BlockEntry,
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowEntry { first: bool },
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowKey { first: bool },
    FlowValue,
    FlowValueAbsent,
}

/// Which nodes may stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Flow,
    Block,
    /// Block nodes, and lists that are not indented beyond their key.
    BlockOrIndentless,
}

/// Parses the first document of a text.
#[derive(Debug)]
pub(super) struct Parser {
    scanner: Scanner,
    states: Vec<State>,
    /// Tag handles and what they stand for.
    handles: Vec<(String, String)>,
}

impl Parser {
    pub(super) fn new(scanner: Scanner) -> Self {
        Parser {
            scanner,
            states: vec![State::DocumentEnd],
            handles: Vec::new(),
        }
    }

    /// The first event of the first document; `None` if there is no document.
    pub(super) fn begin(&mut self) -> Result<Option<Event>> {
        match self.peek()? {
            TokenKind::StreamEnd => return Ok(None),
            TokenKind::Version(..) | TokenKind::TagDirective { .. } | TokenKind::DocumentStart => {}
            _ => {
                self.add_default_handles();
                return self.parse_node(Room::Block).map(Some);
            }
        }
        self.parse_directives()?;
        if *self.peek()? != TokenKind::DocumentStart {
            return Err(syntax(self.place()?, "did not find the `---` after directives"));
        }
        self.scanner.take();
        let is_empty = matches!(
            self.peek()?,
            TokenKind::Version(..)
                | TokenKind::TagDirective { .. }
                | TokenKind::DocumentStart
                | TokenKind::DocumentEnd
                | TokenKind::StreamEnd
        );
        if is_empty {
            return Ok(Some(empty(self.place()?)));
        }
        self.parse_node(Room::Block).map(Some)
    }

    /// The next event; [`EventKind::DocumentEnd`] is the last one.
    pub(super) fn next(&mut self) -> Result<Event> {
        let state = self.states.pop().unwrap_or(State::DocumentEnd);
        match state {
            State::DocumentEnd => {
                self.peek()?;
                Ok(Event {
                    kind: EventKind::DocumentEnd,
                    place: self.place()?,
                    anchor: None,
                })
            }
            State::BlockEntry => self.parse_block_entry(),
            State::IndentlessEntry => self.parse_indentless_entry(),
            State::BlockKey => self.parse_block_key(),
            State::BlockValue => self.parse_block_value(),
            State::FlowEntry { first } => self.parse_flow_entry(first),
            State::FlowPairKey => self.parse_flow_pair_key(),
            State::FlowPairValue => self.parse_flow_pair_value(),
            State::FlowPairEnd => {
                self.peek()?;
                self.states.push(State::FlowEntry { first: false });
                Ok(Event {
                    kind: EventKind::MapEnd,
                    place: self.place()?,
                    anchor: None,
                })
            }
            State::FlowKey { first } => self.parse_flow_key(first),
            State::FlowValue => self.parse_flow_value(),
            State::FlowValueAbsent => {
                let place = self.place()?;
                self.states.push(State::FlowKey { first: false });
                Ok(empty(place))
            }
        }
    }

    fn peek(&mut self) -> Result<&TokenKind> {
        self.scanner.peek().map(|token| &token.kind)
    }

    fn place(&mut self) -> Result<Place> {
        self.scanner.peek().map(|token| token.start)
    }

    /// Takes the token at hand and shows the next one.
    fn take_and_peek(&mut self) -> Result<&TokenKind> {
        self.scanner.take();
        self.peek()
    }

    fn parse_directives(&mut self) -> Result<()> {
        let mut version_seen = false;
        loop {
            let place = self.place()?;
            match self.peek()?.clone() {
                TokenKind::Version(major, minor) => {
                    if version_seen {
                        return Err(syntax(place, "found a second %YAML directive"));
                    }
                    if (major, minor) != (1, 1) {
                        return Err(syntax(place, "only YAML 1.1 is understood here"));
                    }
                    version_seen = true;
                }
                TokenKind::TagDirective { handle, prefix } => {
                    if self.handles.iter().any(|(known, _)| *known == handle) {
                        return Err(syntax(place, "found a second %TAG directive for the same handle"));
                    }
                    self.handles.push((handle, prefix));
                }
                _ => break,
            }
            self.scanner.take();
        }
        self.add_default_handles();
        Ok(())
    }

    fn add_default_handles(&mut self) {
        // Those of the file stand before and so are found first.
        self.handles.push(("!".into(), "!".into()));
        self.handles.push(("!!".into(), "tag:yaml.org,2002:".into()));
    }

    fn parse_node(&mut self, room: Room) -> Result<Event> {
        let place = self.place()?;
        if let TokenKind::Alias(name) = self.peek()? {
            let kind = EventKind::Alias(name.clone());
            self.scanner.take();
            return Ok(Event {
                kind,
                place,
                anchor: None,
            });
        }
        let (anchor, tag) = self.parse_properties()?;
        let event = |kind| Event {
            kind,
            place,
            anchor: anchor.clone(),
        };
        let (kind, state) = match self.peek()? {
            TokenKind::BlockEntry if room == Room::BlockOrIndentless => {
                self.states.push(State::IndentlessEntry);
                return Ok(event(EventKind::ListStart));
            }
            TokenKind::Scalar { text, plain } => {
                let plain = if tag.is_empty() { *plain } else { tag == "!" };
                let kind = EventKind::Scalar {
                    text: text.clone(),
                    tag,
                    plain,
                };
                self.scanner.take();
                return Ok(event(kind));
            }
            TokenKind::FlowListStart => (EventKind::ListStart, State::FlowEntry { first: true }),
            TokenKind::FlowMapStart => (EventKind::MapStart, State::FlowKey { first: true }),
            TokenKind::BlockListStart if room != Room::Flow => (EventKind::ListStart, State::BlockEntry),
            TokenKind::BlockMapStart if room != Room::Flow => (EventKind::MapStart, State::BlockKey),
            _ if anchor.is_some() || !tag.is_empty() => {
                let plain = tag.is_empty();
                return Ok(event(EventKind::Scalar {
                    text: String::new(),
                    tag,
                    plain,
                }));
            }
            _ => return Err(syntax(self.place()?, "did not find a value where one must stand")),
        };
        self.scanner.take();
        self.states.push(state);
        Ok(event(kind))
    }

    /// An anchor and a tag in either order. The tag is empty if there is none.
    fn parse_properties(&mut self) -> Result<(Option<String>, String)> {
        let (mut anchor, mut tag) = (None, None);
        loop {
            let place = self.place()?;
            match self.peek()? {
                TokenKind::Anchor(name) if anchor.is_none() => anchor = Some(name.clone()),
                TokenKind::Tag { handle, suffix } if tag.is_none() => {
                    tag = Some((handle.clone(), suffix.clone(), place));
                }
                _ => break,
            }
            self.scanner.take();
        }
        let tag = match tag {
            None => String::new(),
            Some((handle, suffix, _)) if handle.is_empty() => suffix,
            Some((handle, suffix, place)) => {
                let Some((_, prefix)) = self.handles.iter().find(|(known, _)| *known == handle) else {
                    return Err(syntax(
                        place,
                        "found a tag whose handle no %TAG directive defines",
                    ));
                };
                format!("{prefix}{suffix}")
            }
        };
        Ok((anchor, tag))
    }

    /// A node if the token at hand can begin one here, else an empty scalar at `place`.
    fn node_or_empty(&mut self, room: Room, begins: bool, place: Place, then: State) -> Result<Event> {
        self.states.push(then);
        if begins {
            self.parse_node(room)
        } else {
            Ok(empty(place))
        }
    }

    fn end(&mut self, kind: EventKind) -> Result<Event> {
        let place = self.place()?;
        self.scanner.take();
        Ok(Event {
            kind,
            place,
            anchor: None,
        })
    }
}

fn empty(place: Place) -> Event {
    let kind = EventKind::Scalar {
        text: String::new(),
        tag: String::new(),
        plain: true,
    };
    Event {
        kind,
        place,
        anchor: None,
    }
}
