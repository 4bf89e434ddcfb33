//! What a cycle does, step by step: enqueue admits jobs, allocate places gangs, backfill places pods that ask for nothing.

mod allocate;
mod backfill;
mod enqueue;
mod heaps;
pub mod select;

pub use allocate::Allocate;
pub use backfill::Backfill;
pub use enqueue::Enqueue;

use mco_framework::Session;

/// One step of a cycle.
pub trait Action: Send + Sync {
    /// The name as configurations spell it.
    fn name(&self) -> &'static str;

    /// Runs the step on an open session.
    fn run(&self, session: &mut Session<'_>);
}
