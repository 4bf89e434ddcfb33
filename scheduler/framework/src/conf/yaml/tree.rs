//! The tree of a document: order, repeated keys, source text and places are kept; aliases point to their anchors.

use std::collections::HashMap;

use super::super::error::{ConfError, Place, Problem};
use super::Result;
use super::input::Input;
use super::parser::{Event, EventKind, Parser};
use super::scanner::Scanner;

/// A node's number in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) struct NodeId(usize);

/// The first document of a text. The nodes lie side by side, so however deep they nest, dropping them does not recurse.
#[derive(Debug)]
pub(in super::super) struct Tree {
    nodes: Vec<Node>,
    root: NodeId,
}

#[derive(Debug)]
pub(in super::super) struct Node {
    pub(in super::super) place: Place,
    pub(in super::super) kind: Kind,
}

#[derive(Debug)]
pub(in super::super) enum Kind {
    Scalar(Scalar),
    List(Vec<NodeId>),
    /// Keys and values, as many times as the text has them.
    Map(Vec<(NodeId, NodeId)>),
    Alias {
        name: String,
        target: NodeId,
    },
}

/// A scalar as in the text, unquoted and unfolded.
#[derive(Debug)]
pub(in super::super) struct Scalar {
    pub(in super::super) text: String,
    /// The tag with its handle written out; empty if there is none.
    pub(in super::super) tag: String,
    /// Whether the text alone says what it means: not quoted, without a tag; or with the tag `!`.
    pub(in super::super) plain: bool,
}

impl Tree {
    pub(in super::super) fn root(&self) -> NodeId {
        self.root
    }

    pub(in super::super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }
}

/// Reads the first document; `None` if there is none.
pub(in super::super) fn parse(bytes: &[u8]) -> Result<Option<Tree>> {
    let mut parser = Parser::new(Scanner::new(Input::new(bytes)));
    let Some(first) = parser.begin()? else {
        return Ok(None);
    };
    let mut builder = Builder::default();
    builder.add(first)?;
    loop {
        let event = parser.next()?;
        if matches!(event.kind, EventKind::DocumentEnd) {
            return Ok(Some(Tree {
                nodes: builder.nodes,
                root: NodeId(0),
            }));
        }
        builder.add(event)?;
    }
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    /// Collections that are not at their end yet, with the key that still lacks its value.
    open: Vec<(NodeId, Option<NodeId>)>,
    anchors: HashMap<String, NodeId>,
}

impl Builder {
    fn add(&mut self, event: Event) -> Result<()> {
        let Event { kind, place, anchor } = event;
        let (kind, opens) = match kind {
            EventKind::DocumentEnd => return Ok(()),
            EventKind::ListEnd | EventKind::MapEnd => {
                self.open.pop();
                return Ok(());
            }
            EventKind::Alias(name) => match self.anchors.get(&name) {
                Some(&target) => (Kind::Alias { name, target }, false),
                None => return Err(ConfError::new(place, Problem::UnknownAnchor { name })),
            },
            EventKind::Scalar { text, tag, plain } => (Kind::Scalar(Scalar { text, tag, plain }), false),
            EventKind::ListStart => (Kind::List(Vec::new()), true),
            EventKind::MapStart => (Kind::Map(Vec::new()), true),
        };
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node { place, kind });
        self.attach(id);
        if let Some(name) = anchor {
            self.anchors.insert(name, id);
        }
        if opens {
            self.open.push((id, None));
        }
        Ok(())
    }

    /// Puts the node into the innermost open collection.
    fn attach(&mut self, id: NodeId) {
        let Some((parent, key)) = self.open.last_mut() else {
            return;
        };
        match (&mut self.nodes[parent.0].kind, key.take()) {
            (Kind::List(entries), _) => entries.push(id),
            (Kind::Map(pairs), Some(key)) => pairs.push((key, id)),
            (Kind::Map(_), None) => *key = Some(id),
            (Kind::Scalar(_) | Kind::Alias { .. }, _) => unreachable!("only collections are ever open"),
        }
    }
}
