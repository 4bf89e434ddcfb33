//! The rules: their values, the reader of what people write, and the keeper of the last valid ones.

pub mod file;
pub mod keeper;
pub mod parse;
pub mod values;

pub use keeper::{RulesKeeper, RulesUpdate, RulesVerdict, VerdictReason};
pub use parse::{Fault, Parsed, RulesError, parse};
pub use values::Rules;
