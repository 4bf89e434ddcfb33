//! The arguments of `rescheduling`.

use super::NAME;
use super::plan::Thresholds;
use mco_framework::conf::{Arguments, Value};
use mco_model::span::Span;

const INTERVAL: &str = "interval";
const PERIOD: &str = "metricsPeriod";
const STRATEGIES: &str = "strategies";
const LOW_NODE: &str = "lowNodeUtilization";
const USUAL_INTERVAL: Span = Span::seconds(300);
const USUAL_PERIOD: &str = "5m";

/// The plugin's arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// So much time lies between plans.
    pub interval: Span,
    /// Loads of this period count.
    pub period: String,
    /// When nodes count as low and as high; `None` when no strategy asks for it.
    pub low_node: Option<(Thresholds, Thresholds)>,
}

impl Settings {
    /// What the arguments say, and what is odd about them.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = Reader { warnings: Vec::new() };
        let interval = arguments.get(INTERVAL).map(|value| match value {
            Value::Str(text) => Span::parse(text).ok(),
            _ => None,
        });
        if let (Some(None), Some(value)) = (interval, arguments.get(INTERVAL)) {
            reader.warn(INTERVAL, value, "a duration like 5m; it stays 5m");
        }
        let period = arguments.get(PERIOD).map_or(Some(""), Value::as_str);
        if let (None, Some(value)) = (period, arguments.get(PERIOD)) {
            reader.warn(PERIOD, value, "a text like 10m; it stays 5m");
        }
        let settings = Self {
            interval: interval.flatten().unwrap_or(USUAL_INTERVAL),
            period: period
                .filter(|period| !period.is_empty())
                .unwrap_or(USUAL_PERIOD)
                .to_owned(),
            low_node: reader.strategies(arguments),
        };
        (settings, reader.warnings)
    }
}

struct Reader {
    warnings: Vec<String>,
}

impl Reader {
    fn warn(&mut self, key: &str, value: &Value, wanted: &str) {
        self.warnings.push(format!(
            "argument `{key}` of plugin `{NAME}` is {value} ({}) but must be {wanted}",
            value.type_name()
        ));
    }

    /// Without a list, or with an empty one, the one strategy there is applies with its defaults.
    fn strategies(&mut self, arguments: &Arguments) -> Option<(Thresholds, Thresholds)> {
        let usual = (Thresholds::default(), Thresholds::default());
        let Some(value) = arguments.get(STRATEGIES) else {
            return Some(usual);
        };
        let Value::List(list) = value else {
            self.warn(
                STRATEGIES,
                value,
                "a list of strategies; lowNodeUtilization applies with its defaults",
            );
            return Some(usual);
        };
        if list.is_empty() {
            return Some(usual);
        }
        let mut found = None;
        for strategy in list {
            match name_of(strategy) {
                Some(LOW_NODE) => found = Some(self.low_node(value_in(strategy, "params"))),
                Some(name) => self.warnings.push(format!(
                    "strategy `{name}` of plugin `{NAME}` does not exist: it is passed over; there is {LOW_NODE}"
                )),
                None => self.warn(STRATEGIES, strategy, "a list of mappings with `name` and `params`; this one is passed over"),
            }
        }
        found
    }

    fn low_node(&mut self, params: Option<&Value>) -> (Thresholds, Thresholds) {
        let mut both = (Thresholds::default(), Thresholds::default());
        let Some(params) = params else { return both };
        for (key, thresholds) in [("thresholds", &mut both.0), ("targetThresholds", &mut both.1)] {
            let Some(value) = value_in(params, key) else {
                continue;
            };
            let place = format!("{STRATEGIES}.params.{key}");
            if value.as_map().is_none() {
                // Volcano reads no further.
                self.warn(
                    &place,
                    value,
                    "a mapping with `cpu` and `memory`; nothing after it is read",
                );
                break;
            }
            for (name, threshold) in [("cpu", &mut thresholds.cpu), ("memory", &mut thresholds.memory)] {
                let Some(value) = value_in(value, name) else {
                    continue;
                };
                match value.as_int() {
                    Some(percent) => *threshold = percent as f64,
                    None => self.warn(&format!("{place}.{name}"), value, "a whole number; it stays 100"),
                }
            }
        }
        both
    }
}

fn name_of(strategy: &Value) -> Option<&str> {
    value_in(strategy, "name")?.as_str()
}

fn value_in<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    let pairs = map.as_map()?;
    pairs
        .iter()
        .rev()
        .find(|(name, _)| name.as_str() == Some(key))
        .map(|(_, value)| value)
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

    fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    fn read(pairs: &[(&str, Value)]) -> (Settings, Vec<String>) {
        Settings::read(&pairs.iter().map(|(key, value)| (*key, value.clone())).collect())
    }

    fn strategy(name: &str, params: Value) -> Value {
        map(&[("name", text(name)), ("params", params)])
    }

    #[test]
    fn what_is_said_counts_and_the_rest_keeps_its_default() {
        let (settings, warnings) = read(&[]);
        let usual = Settings {
            interval: USUAL_INTERVAL,
            period: "5m".to_owned(),
            low_node: Some((Thresholds::default(), Thresholds::default())),
        };
        assert_eq!((settings, warnings), (usual, vec![]));
        let params = map(&[
            (
                "thresholds",
                map(&[("cpu", Value::Int(30)), ("pods", Value::Int(1))]),
            ),
            ("targetThresholds", map(&[("memory", Value::Int(70))])),
            ("nodeFit", Value::Bool(false)),
        ]);
        let (settings, warnings) = read(&[
            (INTERVAL, text("1s")),
            (PERIOD, text("10m")),
            (STRATEGIES, Value::List(vec![strategy(LOW_NODE, params)])),
        ]);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!((settings.interval, &*settings.period), (Span::seconds(1), "10m"));
        let (low, high) = settings.low_node.unwrap();
        assert_eq!(
            (low.cpu, low.memory, high.cpu, high.memory),
            (30.0, 100.0, 100.0, 70.0)
        );
    }

    #[test]
    fn what_cannot_be_used_is_told_and_keeps_its_default() {
        let usual = Some((Thresholds::default(), Thresholds::default()));
        let list = |params: Value| vec![(STRATEGIES, Value::List(vec![strategy(LOW_NODE, params)]))];
        let rows = [
            (vec![(INTERVAL, Value::Int(5))], "`interval`", usual),
            (vec![(INTERVAL, text("often"))], "`interval`", usual),
            (vec![(PERIOD, Value::Int(5))], "`metricsPeriod`", usual),
            (vec![(STRATEGIES, text("all"))], "`strategies`", usual),
            (
                vec![(STRATEGIES, Value::List(vec![text("all")]))],
                "`strategies`",
                None,
            ),
            (
                vec![(STRATEGIES, Value::List(vec![strategy("other", Value::Null)]))],
                "`other`",
                None,
            ),
            (
                list(map(&[("thresholds", Value::Int(3))])),
                "`strategies.params.thresholds`",
                usual,
            ),
            (
                list(map(&[("thresholds", map(&[("cpu", Value::Float(3.5))]))])),
                "`strategies.params.thresholds.cpu`",
                usual,
            ),
        ];
        for (pairs, named, low_node) in rows {
            let (settings, warnings) = read(&pairs);
            assert_eq!(
                (settings.interval, &*settings.period),
                (USUAL_INTERVAL, "5m"),
                "{named}"
            );
            assert_eq!(settings.low_node, low_node, "{named}");
            assert!(
                warnings.len() == 1 && warnings[0].contains(named),
                "{named}: {warnings:?}"
            );
        }
        assert_eq!(read(&[(STRATEGIES, Value::List(vec![]))]).0.low_node, usual);
    }
}
