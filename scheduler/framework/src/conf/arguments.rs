//! The arguments of a plugin or an action, and typed access to them as upstream grants it.

use std::fmt;

use indexmap::IndexMap;

use super::value::Value;

/// The arguments of one plugin or action: text keys in the order of the file, each with a typed [`Value`].
///
/// No `arguments` in the file and an empty mapping there both leave nothing to read; [`Arguments::is_given`] tells
/// them apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    entries: Option<IndexMap<String, Value>>,
}

impl Arguments {
    /// Whether the file has an `arguments` mapping here, be it empty.
    pub fn is_given(&self) -> bool {
        self.entries.is_some()
    }

    /// How many arguments there are.
    pub fn len(&self) -> usize {
        self.entries.as_ref().map_or(0, IndexMap::len)
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value as typed by the file, for plugins that look for themselves.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.as_ref()?.get(key)
    }

    /// All arguments in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// Sets one argument. A repeated key keeps its place and takes the new value.
    pub fn set(&mut self, key: impl Into<String>, value: Value) {
        self.entries
            .get_or_insert_with(IndexMap::new)
            .insert(key.into(), value);
    }

    /// Marks that the file has an `arguments` mapping, without adding to it.
    pub(super) fn mark_given(&mut self) {
        self.entries.get_or_insert_with(IndexMap::new);
    }

    /// The whole number under `key`; a value of any other type counts as absent. See [`ArgumentReader`] for one that
    /// keeps note of it.
    pub fn int(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_int()
    }

    /// The number under `key`, whole or not; a value of any other type counts as absent.
    pub fn float(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_float()
    }

    /// The boolean under `key`; a value of any other type counts as absent, `"true"` in quotes too.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// The text under `key`; a value of any other type counts as absent.
    pub fn raw_str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The list under `key`, if it is one.
    pub fn list(&self, key: &str) -> Option<&[Value]> {
        self.get(key)?.as_list()
    }

    /// The mapping under `key` as arguments of its own, if it is one. Only text keys are seen.
    pub fn nested(&self, key: &str) -> Option<Arguments> {
        let pairs = self.get(key)?.as_map()?;
        let texts = pairs
            .iter()
            .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone())));
        Some(texts.collect())
    }

    /// The arguments under `key` when nested there, else these themselves: plugins whose arguments may stand in a
    /// mapping named like the plugin or flat beside one another.
    pub fn nested_or_flat(&self, key: &str) -> Arguments {
        self.nested(key).unwrap_or_else(|| self.clone())
    }

    /// Typed access that notes every value of a type it cannot use.
    pub fn reader<'a>(&'a self, plugin: &'a str) -> ArgumentReader<'a> {
        ArgumentReader {
            plugin,
            arguments: self,
            warnings: Vec::new(),
        }
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Arguments {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(pairs: I) -> Self {
        Arguments {
            entries: Some(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key.into(), value))
                    .collect(),
            ),
        }
    }
}

/// Reads the arguments of one plugin and gathers an [`ArgumentWarning`] for each value of a type it cannot use.
/// Upstream warns and keeps the plugin's default; so does the caller, by `unwrap_or`.
#[derive(Debug)]
pub struct ArgumentReader<'a> {
    plugin: &'a str,
    arguments: &'a Arguments,
    warnings: Vec<ArgumentWarning>,
}

impl<'a> ArgumentReader<'a> {
    /// The whole number under `key`, or `None` if it is absent or of another type (then noted).
    pub fn int(&mut self, key: &str) -> Option<i64> {
        self.typed(key, Wanted::Int, Value::as_int)
    }

    /// The number under `key`, whole or not, or `None` if it is absent or of another type (then noted).
    pub fn float(&mut self, key: &str) -> Option<f64> {
        self.typed(key, Wanted::Float, Value::as_float)
    }

    /// The boolean under `key`, or `None` if it is absent or of another type (then noted).
    pub fn bool(&mut self, key: &str) -> Option<bool> {
        self.typed(key, Wanted::Bool, Value::as_bool)
    }

    /// The text under `key`, or `None` if it is absent or of another type (then noted).
    pub fn str(&mut self, key: &str) -> Option<&'a str> {
        self.typed(key, Wanted::Str, Value::as_str)
    }

    /// The arguments being read, for raw looks.
    pub fn arguments(&self) -> &'a Arguments {
        self.arguments
    }

    /// What could not be used, in the order of reading.
    pub fn into_warnings(self) -> Vec<ArgumentWarning> {
        self.warnings
    }

    fn typed<T>(&mut self, key: &str, wanted: Wanted, take: fn(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.arguments.get(key)?;
        let taken = take(value);
        if taken.is_none() {
            let (plugin, key) = (self.plugin.to_owned(), key.to_owned());
            self.warnings.push(ArgumentWarning {
                plugin,
                key,
                found: value.clone(),
                wanted,
            });
        }
        taken
    }
}

/// The type that a plugin wants of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A whole number.
    Int,
    /// A number, whole or not.
    Float,
    /// A boolean.
    Bool,
    /// A text.
    Str,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Int => "a whole number",
            Wanted::Float => "a number",
            Wanted::Bool => "true or false",
            Wanted::Str => "a text",
        })
    }
}

/// An argument whose type the plugin cannot use, so that its default stays.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentWarning {
    /// The plugin that read it.
    pub plugin: String,
    /// The key as in the file.
    pub key: String,
    /// The value as the file types it.
    pub found: Value,
    /// What would have been usable.
    pub wanted: Wanted,
}

impl fmt::Display for ArgumentWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArgumentWarning {
            plugin,
            key,
            found,
            wanted,
        } = self;
        let kind = found.type_name();
        write!(
            f,
            "argument `{key}` of plugin `{plugin}` is {found} ({kind}) but must be {wanted}; its default stays"
        )?;
        match (found, wanted) {
            (Value::Str(_), Wanted::Int | Wanted::Float | Wanted::Bool) => {
                f.write_str(": write it without quotes")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Arguments {
        [
            ("int", Value::Int(7)),
            ("float", Value::Float(7.5)),
            ("quoted", Value::Str("7".into())),
            ("yes", Value::Bool(true)),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn a_value_of_another_type_is_noted_and_counts_as_absent() {
        let arguments = sample();
        let mut reader = arguments.reader("binpack");
        assert_eq!(reader.int("int"), Some(7));
        assert_eq!(reader.float("int"), Some(7.0));
        assert_eq!(reader.int("absent"), None);
        assert_eq!(reader.int("quoted"), None);
        assert_eq!(reader.int("float"), None);
        assert_eq!(reader.bool("yes"), Some(true));
        let texts: Vec<_> = reader.into_warnings().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "argument `quoted` of plugin `binpack` is \"7\" (text) but must be a whole number; its default stays: write it without quotes",
                "argument `float` of plugin `binpack` is 7.5 (number with fraction) but must be a whole number; its default stays",
            ]
        );
    }

    #[test]
    fn a_repeated_key_keeps_its_place_and_takes_the_new_value() {
        let mut arguments = sample();
        arguments.set("int", Value::Int(8));
        assert_eq!(arguments.iter().next(), Some(("int", &Value::Int(8))));
        assert_eq!(arguments.len(), 4);
    }

    #[test]
    fn arguments_nested_under_the_plugins_name_or_flat_read_alike() {
        let inner = Value::Map(vec![
            (Value::Str("crName".into()), Value::Str("cluster".into())),
            (Value::Int(1), Value::Null),
        ]);
        let nested: Arguments = [("mco-plugin", inner)].into_iter().collect();
        let flat: Arguments = [("crName", Value::Str("cluster".into()))].into_iter().collect();
        assert_eq!(
            nested.nested_or_flat("mco-plugin"),
            flat.nested_or_flat("mco-plugin")
        );
    }

    #[test]
    fn no_arguments_differ_from_an_empty_mapping_of_them() {
        let none = Arguments::default();
        let mut empty = Arguments::default();
        empty.mark_given();
        assert!(none.is_empty() && empty.is_empty());
        assert!(!none.is_given() && empty.is_given());
    }
}
