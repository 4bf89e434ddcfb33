//! A configuration spelt out in one form, for comparing with recorded cases and for showing to people.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::arguments::Arguments;
use super::model::{PluginOption, SchedulerConf};
use super::switches::Switch;
use super::value::{Value, float_text};

impl SchedulerConf {
    /// This configuration as one line of JSON, keys sorted: `actions`, `configurations`, `metrics` and `tiers`, where
    /// each plugin has `arguments`, `name`, the switches that are `off`, and those that are `unset`. Values of
    /// arguments are pairs of type and value, such as `["int",5]`; arguments that the file does not give are `null`.
    pub fn summary(&self) -> String {
        let configurations = array(&self.configurations, |entry| {
            let (arguments, name) = (arguments(&entry.arguments), string(&entry.name));
            format!(r#"{{"arguments":{arguments},"name":{name}}}"#)
        });
        let actions = array(&self.actions, |name| string(name));
        let metrics = self.metrics.as_ref().map_or("null".into(), metrics);
        let tiers = array(&self.tiers, |tier| array(&tier.plugins, plugin));
        format!(
            r#"{{"actions":{actions},"configurations":{configurations},"metrics":{metrics},"tiers":{tiers}}}"#
        )
    }
}

fn plugin(option: &PluginOption) -> String {
    let which = |value: Option<bool>| {
        let keys = Switch::ALL
            .into_iter()
            .filter(|switch| option.enabled.get(*switch) == value);
        array(keys, |switch| string(switch.key()))
    };
    let (arguments, name) = (arguments(&option.arguments), string(&option.name));
    let (off, unset) = (which(Some(false)), which(None));
    format!(r#"{{"arguments":{arguments},"name":{name},"off":{off},"unset":{unset}}}"#)
}

fn arguments(arguments: &Arguments) -> String {
    if !arguments.is_given() {
        return "null".into();
    }
    object(arguments.iter().map(|(key, value)| (key, pair(value))))
}

fn metrics(texts: &IndexMap<String, String>) -> String {
    object(texts.iter().map(|(key, text)| (key.as_str(), string(text))))
}

/// A pair of type and value.
fn pair(value: &Value) -> String {
    match value {
        Value::Null => r#"["null"]"#.into(),
        Value::Bool(value) => format!(r#"["bool",{value}]"#),
        Value::Int(number) => format!(r#"["int",{number}]"#),
        Value::Uint(number) => format!(r#"["uint64","{number}"]"#),
        Value::Float(number) => format!(r#"["float","{}"]"#, float_text(*number)),
        Value::Str(text) => format!(r#"["str",{}]"#, string(text)),
        Value::List(entries) => format!(r#"["list",{}]"#, array(entries, pair)),
        Value::Map(pairs) => {
            let mut pairs: Vec<_> = pairs
                .iter()
                .map(|(key, entry)| (pair(key), pair(entry)))
                .collect();
            pairs.sort();
            format!(
                r#"["map",{}]"#,
                array(pairs, |(key, entry)| format!("[{key},{entry}]"))
            )
        }
    }
}

fn array<T>(items: impl IntoIterator<Item = T>, one: impl Fn(T) -> String) -> String {
    format!("[{}]", items.into_iter().map(one).collect::<Vec<_>>().join(","))
}

fn object<'a>(pairs: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let pairs: Vec<_> = pairs
        .into_iter()
        .map(|(key, value)| format!("{}:{value}", string(key)))
        .collect();
    format!("{{{}}}", pairs.join(","))
}

/// A JSON text.
fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\0'..='\x1f' => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
