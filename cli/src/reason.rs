//! A reason as the commands print it in JSON, the same everywhere.

use mco_framework::Reason;
use serde::Serialize;
use std::fmt::{self, Write as _};

/// A refusal with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// The plugin, or `resources`.
    pub source: String,
    /// The kind of refusal, like `psi_io_some`.
    pub code: String,
    /// The text of Volcano's messages.
    pub text: String,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What is allowed at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// How old the finding is, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<f64>,
}

impl From<&Reason> for Refused {
    fn from(reason: &Reason) -> Self {
        Self {
            source: reason.source.to_owned(),
            code: reason.code.to_owned(),
            text: reason.text.to_string(),
            value: reason.measured.map(|measured| measured.value),
            threshold: reason.measured.map(|measured| measured.threshold),
            age_seconds: reason.measured.map(|measured| measured.age_seconds),
        }
    }
}

impl Refused {
    /// Whether interference is the reason.
    pub fn is_interference(&self) -> bool {
        self.code.starts_with("psi_")
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(value), Some(threshold)) = (self.value, self.threshold) else {
            return f.write_str(&self.text);
        };
        let mut text = format!("{} {value:.1} > {threshold:.1}", self.code);
        if let Some(age) = self.age_seconds {
            write!(text, ", {age:.1} s old")?;
        }
        f.write_str(&text)
    }
}
