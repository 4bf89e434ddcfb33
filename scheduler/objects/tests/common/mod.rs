//! Where the shared conformance cases are, and how to read them.

use std::path::PathBuf;

use serde_json::Value;

/// The cases of a file under `conformance`, one a line. `None`, with a line on the console, when the folder is absent.
pub fn cases(file: &str) -> Option<Vec<Value>> {
    let root = match std::env::var_os("MCO_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    let path = root.join("conformance").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// A number, or the text that stands for one JSON cannot hold.
pub fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("+Inf") => f64::INFINITY,
        Some("-Inf") => f64::NEG_INFINITY,
        Some("NaN") => f64::NAN,
        _ => value.as_f64().unwrap_or_else(|| panic!("no number: {value}")),
    }
}
