//! A value of an argument, typed as the file types it.

use std::fmt;

/// A value of an argument, with the type YAML 1.1 gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value: `~`, `null`, or nothing after the colon.
    Null,
    /// A boolean; `yes`, `on`, `y` and their like are booleans too.
    Bool(bool),
    /// A whole number that fits 64 bits with sign.
    Int(i64),
    /// A whole number beyond [`i64::MAX`] that fits 64 bits without sign. Typed access as integer does not see it.
    Uint(u64),
    /// A number with a fraction, an exponent, or too large for the others; infinite and undefined ones as well.
    Float(f64),
    /// A text. Dates are texts.
    Str(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping in the order of the file. No key occurs twice; keys have types of their own.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if this is one that fits; a number with a fraction is none, even `2.0`.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, if this is one: with a fraction, or a whole one that fits [`i64`].
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(number) => Some(*number),
            Value::Int(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The entries, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(entries) => Some(entries),
            _ => None,
        }
    }

    /// The pairs, if this is a mapping.
    pub fn as_map(&self) -> Option<&[(Value, Value)]> {
        match self {
            Value::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The value under a text key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let pairs = self.as_map()?;
        pairs
            .iter()
            .find(|(name, _)| name.as_str() == Some(key))
            .map(|(_, value)| value)
    }

    /// The type in plain words, for messages.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Uint(_) => "integer beyond 64 bits with sign",
            Value::Float(_) => "number with fraction",
            Value::Str(_) => "text",
            Value::List(_) => "list",
            Value::Map(_) => "mapping",
        }
    }
}

/// One line in the manner of the file, for messages; not meant to be read back.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Uint(number) => write!(f, "{number}"),
            Value::Float(number) => f.write_str(&float_text(*number)),
            Value::Str(text) => write!(f, "{text:?}"),
            Value::List(entries) => {
                f.write_str("[")?;
                for (place, entry) in entries.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{entry}")?;
                }
                f.write_str("]")
            }
            Value::Map(pairs) => {
                f.write_str("{")?;
                for (place, (key, value)) in pairs.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The shortest text that reads back as the same number. Beyond six digits before the point, or four noughts after
/// it, it has an exponent, as recorded cases do.
pub fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "+Inf".into()
        } else {
            "-Inf".into()
        };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_texts() {
        for (number, text) in [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (685_230.15, "685230.15"),
            (1e6, "1e+06"),
            (123_456_789.125, "1.23456789125e+08"),
            (0.0001, "0.0001"),
            (1e-5, "1e-05"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(float_text(number), text);
        }
    }

    #[test]
    fn typed_access_does_not_convert_but_whole_numbers_to_floats() {
        assert_eq!(Value::Float(2.0).as_int(), None);
        assert_eq!(Value::Int(2).as_float(), Some(2.0));
        assert_eq!(Value::Uint(u64::MAX).as_float(), None);
        assert_eq!(Value::Str("true".into()).as_bool(), None);
    }
}
