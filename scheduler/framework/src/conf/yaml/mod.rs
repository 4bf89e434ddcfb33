//! YAML 1.1 from bytes to a tree that keeps the order of keys, repeated keys, source text and places.
//!
//! Parsers for YAML 1.2 read a good deal of YAML 1.1 differently (tabs, line breaks beyond ASCII, comments before a
//! colon, directives, `?` within flow lists, limits of keys), and whether a file is accepted hangs on these. So the
//! whole way down from bytes is here: [`input`] decodes, [`scanner`], [`scalars`] and [`tags`] make tokens, [`parser`] makes
//! events and [`tree`] the tree. What a scalar means is said elsewhere.

mod input;
mod parser;
mod scalars;
mod scanner;
mod tags;
mod tree;

pub(super) use tree::{Kind, NodeId, Scalar, Tree, parse};

use super::error::{ConfError, Place, Problem};

type Result<T> = std::result::Result<T, ConfError>;

fn syntax(at: Place, detail: &str) -> ConfError {
    ConfError::new(
        at,
        Problem::Syntax {
            detail: detail.to_owned(),
        },
    )
}
