//! What comes in: events of the cluster, and when they are enough to decide on.

use mco_model::Event;

/// One step of what is known.
#[derive(Debug)]
pub enum Delta {
    /// Something changed, or a command was answered.
    Event(Event),
    /// Every kind has been listed once, or is known not to be there to list: the first cycle may run.
    Complete,
}
