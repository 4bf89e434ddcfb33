//! What the plugin's arguments ask for.

use crate::NAME;
use mco_framework::conf::{ArgumentReader, Arguments, Value};

/// The plugin's arguments, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `crName`: name of the NodeInterferenceReport to go by.
    pub cr_name: String,
    /// `crStatusTTLSeconds`: a report older than this does not count.
    pub ttl_seconds: f64,
    /// `hardConstraints.psiMemoryFullAvg10`, percent: nodes above it are filtered out.
    pub psi_memory_full_avg10: f64,
    /// `hardConstraints.psiIoSomeAvg10Threshold`, percent: nodes above it are filtered out.
    pub psi_io_some_avg10: f64,
    /// `maxExcludedRatio`, 0 to 1: when more than this part of the nodes a pod could go to is over a hard limit, nodes
    /// are scored but not filtered. At 1 they are always filtered.
    pub max_excluded_ratio: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cr_name: "cluster".to_owned(),
            ttl_seconds: 30.0,
            psi_memory_full_avg10: 0.0,
            psi_io_some_avg10: 20.0,
            max_excluded_ratio: 1.0,
        }
    }
}

const CR_NAME: &str = "crName";
const TTL: &str = "crStatusTTLSeconds";
const HARD: &str = "hardConstraints";
const MEMORY_FULL: &str = "psiMemoryFullAvg10";
const IO_SOME: &str = "psiIoSomeAvg10Threshold";
const FALLBACK: &str = "fallbackWhenCROutdated";
const MAX_EXCLUDED: &str = "maxExcludedRatio";

impl Settings {
    /// The settings that `arguments` ask for, nested under the plugin's name or not, and what is odd about them. A value
    /// that cannot be used leaves the default.
    #[must_use]
    pub fn from_arguments(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        if let Some(value) = arguments.get(NAME)
            && value.as_map().is_none()
        {
            warnings.push(not_a_mapping(NAME, value));
        }
        let top = arguments.nested_or_flat(NAME);
        let defaults = Self::default();
        let mut reader = Numbers::of(&top, "");
        let mut settings = Self {
            cr_name: reader.text(CR_NAME, &defaults.cr_name),
            ttl_seconds: reader.number(TTL, defaults.ttl_seconds, 0.0, f64::MAX),
            max_excluded_ratio: reader.number(MAX_EXCLUDED, defaults.max_excluded_ratio, 0.0, 1.0),
            ..defaults.clone()
        };
        if reader.reader.bool(FALLBACK) == Some(false) {
            reader.warnings.push(format!(
                "argument `{FALLBACK}` of plugin `{NAME}` is false, which has no effect: a report that is too old never \
                 counts"
            ));
        }
        reader.unknown(&[CR_NAME, TTL, HARD, FALLBACK, MAX_EXCLUDED, NAME]);
        warnings.extend(reader.into_warnings());
        if let Some(value) = top.get(HARD) {
            match top.nested(HARD) {
                Some(hard) => {
                    let mut reader = Numbers::of(&hard, "hardConstraints.");
                    let mut limit = |key, default| reader.number(key, default, 0.0, f64::INFINITY);
                    settings.psi_memory_full_avg10 = limit(MEMORY_FULL, defaults.psi_memory_full_avg10);
                    settings.psi_io_some_avg10 = limit(IO_SOME, defaults.psi_io_some_avg10);
                    reader.unknown(&[MEMORY_FULL, IO_SOME]);
                    warnings.extend(reader.into_warnings());
                }
                None => warnings.push(not_a_mapping(HARD, value)),
            }
        }
        (settings, warnings)
    }
}

fn not_a_mapping(key: &str, value: &Value) -> String {
    let kind = value.type_name();
    format!("argument `{key}` of plugin `{NAME}` is {value} ({kind}) but must be a mapping; defaults stay")
}

/// Reads arguments of one mapping, which lies under `prefix` for messages.
struct Numbers<'a> {
    reader: ArgumentReader<'a>,
    prefix: &'static str,
    warnings: Vec<String>,
}

impl<'a> Numbers<'a> {
    fn of(arguments: &'a Arguments, prefix: &'static str) -> Self {
        Self {
            reader: arguments.reader(NAME),
            prefix,
            warnings: Vec::new(),
        }
    }

    fn number(&mut self, key: &str, default: f64, least: f64, most: f64) -> f64 {
        match self.reader.float(key) {
            None => default,
            Some(number) if (least..=most).contains(&number) => number,
            Some(number) => {
                let range = if most >= f64::MAX {
                    format!("{least} or more")
                } else {
                    format!("between {least} and {most}")
                };
                self.warnings.push(format!(
                    "argument `{}{key}` of plugin `{NAME}` is {number} but must be {range}; {default} is used",
                    self.prefix
                ));
                default
            }
        }
    }

    fn text(&mut self, key: &str, default: &str) -> String {
        match self.reader.str(key) {
            Some("") => {
                self.warnings.push(format!(
                    "argument `{}{key}` of plugin `{NAME}` is empty; `{default}` is used",
                    self.prefix
                ));
                default.to_owned()
            }
            text => text.unwrap_or(default).to_owned(),
        }
    }

    fn unknown(&mut self, known: &[&str]) {
        for (key, _) in self.reader.arguments().iter() {
            if !known.contains(&key) {
                self.warnings.push(format!(
                    "plugin `{NAME}` knows no argument `{}{key}`: it is ignored",
                    self.prefix
                ));
            }
        }
    }

    fn into_warnings(self) -> Vec<String> {
        let prefix = self.prefix;
        let typed = self.reader.into_warnings().into_iter().map(|mut warning| {
            warning.key = format!("{prefix}{}", warning.key);
            warning.to_string()
        });
        typed.chain(self.warnings).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::map;

    fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    #[test]
    fn arguments_of_the_guide_nested_or_flat() {
        let hard = map(&[(MEMORY_FULL, Value::Int(1)), (IO_SOME, Value::Float(15.5))]);
        let pairs = [
            (CR_NAME, text("other")),
            (TTL, Value::Int(60)),
            (HARD, hard),
            (FALLBACK, Value::Bool(true)),
            (MAX_EXCLUDED, Value::Float(0.5)),
        ];
        let flat: Arguments = pairs.iter().cloned().collect();
        let nested: Arguments = [(NAME, map(&pairs))].into_iter().collect();
        let expected = Settings {
            cr_name: "other".into(),
            ttl_seconds: 60.0,
            psi_memory_full_avg10: 1.0,
            psi_io_some_avg10: 15.5,
            max_excluded_ratio: 0.5,
        };
        for arguments in [flat, nested] {
            assert_eq!(Settings::from_arguments(&arguments), (expected.clone(), vec![]));
        }
        assert_eq!(
            Settings::from_arguments(&Arguments::default()),
            (Settings::default(), vec![])
        );
    }

    #[test]
    fn what_cannot_be_used_leaves_the_default_and_a_warning_that_names_it() {
        let hard = |key: &str, value: Value| (HARD, map(&[(key, value)]));
        let rows = [
            ((TTL, Value::Int(-1)), TTL),
            ((TTL, Value::Float(f64::NAN)), TTL),
            ((TTL, Value::Float(f64::INFINITY)), TTL),
            ((TTL, text("30")), TTL),
            ((CR_NAME, Value::Int(5)), CR_NAME),
            ((CR_NAME, text("")), CR_NAME),
            ((MAX_EXCLUDED, Value::Float(1.5)), MAX_EXCLUDED),
            ((FALLBACK, Value::Bool(false)), FALLBACK),
            ((FALLBACK, text("no")), FALLBACK),
            ((HARD, Value::Int(20)), HARD),
            ((NAME, Value::Null), NAME),
            (("crStatusTtlSeconds", Value::Int(5)), "crStatusTtlSeconds"),
            (
                hard(MEMORY_FULL, Value::Int(-1)),
                "hardConstraints.psiMemoryFullAvg10",
            ),
            (
                hard(IO_SOME, Value::Float(f64::NAN)),
                "hardConstraints.psiIoSomeAvg10Threshold",
            ),
            (
                hard(IO_SOME, text("20")),
                "hardConstraints.psiIoSomeAvg10Threshold",
            ),
            (
                hard("psiIoSomeAvg10", Value::Int(5)),
                "hardConstraints.psiIoSomeAvg10",
            ),
        ];
        for ((key, value), named) in rows {
            let arguments: Arguments = [(key, value.clone())].into_iter().collect();
            let (settings, warnings) = Settings::from_arguments(&arguments);
            assert_eq!(settings, Settings::default(), "{key}: {value}");
            assert_eq!(warnings.len(), 1, "{key}: {value}: {warnings:?}");
            assert!(
                warnings[0].contains(&format!("`{named}`")),
                "{named}: {warnings:?}"
            );
        }
    }

    #[test]
    fn a_limit_without_end_turns_a_filter_off() {
        let pairs = [(HARD, map(&[(IO_SOME, Value::Float(f64::INFINITY))]))];
        let (settings, warnings) = Settings::from_arguments(&pairs.into_iter().collect());
        assert_eq!((settings.psi_io_some_avg10, warnings.len()), (f64::INFINITY, 0));
    }
}
