//! Selectors, tolerations and host ports made ready for matching. Nothing here knows of sessions or plugins: only what an
//! object says comes in.

pub mod host_ports;
mod names;
pub mod node_terms;
pub mod selector;
pub mod tolerations;

pub use node_terms::{NodeRule, NodeTerm};
pub use selector::{Anchor, LabelTest, Selector, SelectorError};
