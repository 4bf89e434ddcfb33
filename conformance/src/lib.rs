//! Recorded cases and the runner that holds the scheduler to them: recognise, run, compare, count.

pub mod case;
pub mod families;
pub mod field;
pub mod recognise;
pub mod run;
pub mod setup;
pub mod verdict;

pub use recognise::{Case, Found, find};
pub use run::{Report, run_all};
pub use verdict::Verdict;
