//! What a scheduler writes to the API server, told in lines that two runs can be compared by.
//!
//! Volcano's own recording becomes lines by the same function as our audit log. [`DIFFERENCES`] turns its lines into
//! those that are expected here, and each entry is a deliberate difference with a name.

mod differences;
mod lines;
mod write;

pub use self::differences::{DIFFERENCES, Difference, expected_here};
pub use self::lines::lines;
pub use self::write::{Scenario, Scenarios, Write};
