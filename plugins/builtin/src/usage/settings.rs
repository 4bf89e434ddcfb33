//! The arguments of `usage`.

use super::NAME;
use super::load::Weights;
use mco_framework::conf::{Arguments, Value};

const THRESHOLDS: &str = "thresholds";

/// Above which load, in percent, a node takes no more pods.
const USUAL_THRESHOLD: f64 = 80.0;

/// The plugin's arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How much scores weigh.
    pub weights: Weights,
    /// Highest load of CPU, in percent.
    pub cpu: f64,
    /// Highest load of memory, in percent.
    pub memory: f64,
}

impl Settings {
    /// What the arguments say, and what is odd about them.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = arguments.reader(NAME);
        let mut settings = Self {
            weights: Weights {
                all: reader.int("usage.weight").unwrap_or(5),
                cpu: reader.int("cpu.weight").unwrap_or(1),
                memory: reader.int("memory.weight").unwrap_or(1),
            },
            cpu: USUAL_THRESHOLD,
            memory: USUAL_THRESHOLD,
        };
        let mut warnings: Vec<String> = reader.into_warnings().iter().map(ToString::to_string).collect();
        if settings.weights.cpu.saturating_add(settings.weights.memory) == 0 {
            warnings.push(format!(
                "arguments `cpu.weight` and `memory.weight` of plugin `{NAME}` add up to 0: all nodes score 0"
            ));
        }
        settings.read_thresholds(arguments, &mut warnings);
        (settings, warnings)
    }

    fn read_thresholds(&mut self, arguments: &Arguments, warnings: &mut Vec<String>) {
        let Some(thresholds) = arguments.nested(THRESHOLDS) else {
            let found = arguments.get(THRESHOLDS).map_or("missing", Value::type_name);
            warnings.push(format!(
                "argument `{THRESHOLDS}` of plugin `{NAME}` is {found} but must be a mapping with `cpu` and `mem`; both stay \
                 {USUAL_THRESHOLD}"
            ));
            return;
        };
        for (key, threshold) in [("cpu", &mut self.cpu), ("mem", &mut self.memory)] {
            let Some(value) = thresholds.get(key) else {
                continue;
            };
            *threshold = value.as_int().map_or_else(
                || {
                    warnings.push(format!(
                        "argument `{THRESHOLDS}.{key}` of plugin `{NAME}` is {value} ({}) but must be a whole number; it \
                         counts as 0, as in Volcano",
                        value.type_name()
                    ));
                    0.0
                },
                |number| number as f64,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, Value)]) -> Value {
        let pairs = pairs
            .iter()
            .map(|(key, value)| (Value::Str((*key).into()), value.clone()));
        Value::Map(pairs.collect())
    }

    fn read(pairs: &[(&str, Value)]) -> (Settings, Vec<String>) {
        Settings::read(&pairs.iter().map(|(key, value)| (*key, value.clone())).collect())
    }

    #[test]
    fn what_is_not_said_keeps_its_default() {
        let thresholds = |pairs: &[(&str, Value)]| (THRESHOLDS, map(pairs));
        let (settings, warnings) = read(&[
            thresholds(&[("cpu", Value::Int(60))]),
            ("cpu.weight", Value::Int(3)),
        ]);
        assert_eq!((settings.cpu, settings.memory), (60.0, 80.0));
        assert_eq!(
            settings.weights,
            Weights {
                all: 5,
                cpu: 3,
                memory: 1
            }
        );
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let thresholds = |key: &str, value: Value| (THRESHOLDS, map(&[(key, value)]));
        let rows = [
            (vec![], "`thresholds`", (80.0, 80.0)),
            (vec![(THRESHOLDS, Value::Int(5))], "`thresholds`", (80.0, 80.0)),
            (
                vec![thresholds("cpu", Value::Float(60.5))],
                "`thresholds.cpu`",
                (0.0, 80.0),
            ),
            (
                vec![thresholds("mem", Value::Str("60".into()))],
                "`thresholds.mem`",
                (80.0, 0.0),
            ),
            (
                vec![
                    thresholds("cpu", Value::Int(1)),
                    ("usage.weight", Value::Float(1.5)),
                ],
                "`usage.weight`",
                (1.0, 80.0),
            ),
            (
                vec![thresholds("cpu", Value::Int(1)), ("cpu.weight", Value::Int(-1))],
                "`cpu.weight` and `memory.weight`",
                (1.0, 80.0),
            ),
        ];
        for (pairs, named, expected) in rows {
            let (settings, warnings) = read(&pairs);
            assert_eq!((settings.cpu, settings.memory), expected, "{named}");
            assert!(
                warnings.len() == 1 && warnings[0].contains(named),
                "{named}: {warnings:?}"
            );
        }
    }
}
