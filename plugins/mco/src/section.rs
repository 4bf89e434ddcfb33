//! One mapping of arguments, read with notes of what cannot be used.

use crate::NAME;
use mco_framework::conf::{ArgumentReader, Arguments, Value};

pub fn not_a_mapping(key: &str, value: &Value) -> String {
    let kind = value.type_name();
    format!("argument `{key}` of plugin `{NAME}` is {value} ({kind}) but must be a mapping; defaults stay")
}

/// Reads arguments of one mapping, which lies under `prefix` for messages.
pub struct Section<'a> {
    reader: ArgumentReader<'a>,
    prefix: &'static str,
    warnings: Vec<String>,
}

impl<'a> Section<'a> {
    pub fn of(arguments: &'a Arguments, prefix: &'static str) -> Self {
        Self {
            reader: arguments.reader(NAME),
            prefix,
            warnings: Vec::new(),
        }
    }

    /// A note of a value that cannot be used, by its key.
    pub fn warn(&mut self, key: &str, what: &str) {
        let prefix = self.prefix;
        self.warnings
            .push(format!("argument `{prefix}{key}` of plugin `{NAME}` {what}"));
    }

    pub fn bool(&mut self, key: &str) -> Option<bool> {
        self.reader.bool(key)
    }

    /// The number under `key` when it lies in the range.
    pub fn number(&mut self, key: &str, default: f64, least: f64, most: f64) -> f64 {
        match self.reader.float(key) {
            None => default,
            Some(number) if (least..=most).contains(&number) => number,
            Some(number) => {
                let range = if most >= f64::MAX {
                    format!("{least} or more")
                } else {
                    format!("between {least} and {most}")
                };
                self.warn(
                    key,
                    &format!("is {number} but must be {range}; {default} is used"),
                );
                default
            }
        }
    }

    /// The text under `key` when it is not empty.
    pub fn text(&mut self, key: &str, default: &str) -> String {
        match self.reader.str(key) {
            Some("") => {
                self.warn(key, &format!("is empty; `{default}` is used"));
                default.to_owned()
            }
            text => text.unwrap_or(default).to_owned(),
        }
    }

    /// Notes keys that are not among `known`.
    pub fn unknown(&mut self, known: &[&str]) {
        for (key, _) in self.reader.arguments().iter() {
            if !known.contains(&key) {
                self.warnings.push(format!(
                    "plugin `{NAME}` knows no argument `{}{key}`: it is ignored",
                    self.prefix
                ));
            }
        }
    }

    pub fn into_warnings(self) -> Vec<String> {
        let prefix = self.prefix;
        let typed = self.reader.into_warnings().into_iter().map(|mut warning| {
            warning.key = format!("{prefix}{}", warning.key);
            warning.to_string()
        });
        typed.chain(self.warnings).collect()
    }
}
