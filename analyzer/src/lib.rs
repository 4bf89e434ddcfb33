//! Turns node samples into interference levels and reports.

pub mod conformance;
pub mod convert;
pub mod detect;
pub mod level;
pub mod metric;
pub mod metrics;
pub mod nodes;
pub mod report;
pub mod rules;
pub mod time;
pub mod window;
