//! From objects to events.
