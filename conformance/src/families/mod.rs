//! Families of small cases, one a line: each holds one part of the core to recorded answers.

pub mod conf;
pub mod interference;
pub mod quantities;
pub mod requests;
pub mod resources;
pub mod selectors;

use serde_json::Value;

/// A number, or the text that stands for one JSON cannot hold.
pub(crate) fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("+Inf" | "Infinity") => f64::INFINITY,
        Some("-Inf" | "-Infinity") => f64::NEG_INFINITY,
        _ => value.as_f64().unwrap_or(f64::NAN),
    }
}
