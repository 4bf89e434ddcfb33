//! Words of the command line into flags with their texts, as Go's pflag parts them.

use super::UsageError;
use super::table::{self, FLAGS, Flag, Kind};

/// What was given, in its order.
pub(super) struct Given(Vec<(&'static Flag, String)>);

/// Parts the words. `--` ends the flags; what is no flag is passed over.
pub(super) fn read(words: &[String]) -> Result<Given, UsageError> {
    let mut given = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let Some(rest) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            continue;
        };
        if rest.is_empty() {
            continue;
        }
        let (name, value) = match rest.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (rest, None),
        };
        // klog's short form: -v3.
        let (name, value) = match name.strip_prefix('v') {
            Some(level) if is_number(level) && !word.starts_with("--") => ("v", Some(level.to_owned())),
            _ => (name, value),
        };
        let flag = find(name, word)?;
        let value = match (value, flag.kind) {
            (Some(value), _) => value,
            (None, Kind::Bool) => "true".to_owned(),
            (None, _) => match words.next() {
                Some(value) => value.clone(),
                None => return Err(UsageError(format!("--{} needs a value", flag.name))),
            },
        };
        given.push((flag, value));
    }
    Ok(Given(given))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn find(name: &str, word: &str) -> Result<&'static Flag, UsageError> {
    let name = if name == "h" { "help" } else { name };
    table::find(name).ok_or_else(|| {
        let hint = table::nearest(name).map_or_else(
            || "see --help".to_owned(),
            |nearest| format!("did you mean --{nearest}?"),
        );
        UsageError(format!("unknown flag {word}: {hint}"))
    })
}

impl Given {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(flag, _)| flag.name == name)
    }

    /// The last text given, or the default.
    pub(super) fn text(&self, name: &str) -> String {
        let given = self.0.iter().rev().find(|(flag, _)| flag.name == name);
        match given {
            Some((_, text)) => text.clone(),
            None => FLAGS
                .iter()
                .find(|flag| flag.name == name)
                .map_or("", |flag| flag.default)
                .to_owned(),
        }
    }

    /// All texts given.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|(flag, _)| flag.name == name);
        given.map(|(_, text)| text.clone()).collect()
    }

    /// All texts given, parted at commas.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.all(name)
            .iter()
            .flat_map(|text| text.split(','))
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, UsageError> {
        let text = self.text(name);
        match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(self.bad(name, &text, "true or false")),
        }
    }

    pub(super) fn whole(&self, name: &'static str) -> Result<i64, UsageError> {
        let text = self.text(name);
        text.parse().map_err(|_| self.bad(name, &text, "a whole number"))
    }

    pub(super) fn number(&self, name: &'static str) -> Result<f64, UsageError> {
        let text = self.text(name);
        let number: Option<f64> = text.parse().ok();
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| self.bad(name, &text, "a number"))
    }

    pub(super) fn bad(&self, name: &str, text: &str, takes: &str) -> UsageError {
        UsageError(format!("--{name}={text}: it takes {takes}"))
    }

    /// What was given and does nothing here, each told once.
    pub(super) fn without_effect(&self) -> Vec<String> {
        let mut told: Vec<&str> = Vec::new();
        let mut warnings = Vec::new();
        for (flag, text) in &self.0 {
            if flag.idle.is_empty() || text.is_empty() || told.contains(&flag.name) {
                continue;
            }
            told.push(flag.name);
            warnings.push(format!("--{}={text} has no effect: {}", flag.name, flag.idle));
        }
        warnings
    }
}
