//! Field types that read what Go reads: `null` is the empty value everywhere, and text is borrowed where it can be.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use mco_crds::decode::parse_time_micros;
use mco_model::quantity::Quantity;
use mco_model::spec::{Labels, Text};
use mco_model::time::Time;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text; empty when absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(Cow<'a, str>);

impl Str<'_> {
    /// The text to keep.
    pub(crate) fn text(&self) -> Text {
        if self.0.is_empty() {
            Text::default()
        } else {
            Text::from(&*self.0)
        }
    }

    /// The text, or `None` when it is empty.
    pub(crate) fn non_empty(&self) -> Option<&str> {
        (!self.0.is_empty()).then_some(&*self.0)
    }
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text)))
            }

            fn visit_unit<E: Error>(self) -> Result<Str<'de>, E> {
                Ok(Str::default())
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A list; empty when absent.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<List<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(List(items))
            }

            fn visit_unit<E: Error>(self) -> Result<List<T>, E> {
                Ok(List::default())
            }
        }
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

/// A list of objects; empty when absent.
#[derive(Clone, Debug)]
pub(crate) struct Objects<T>(Vec<T>);

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Objects<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Objects<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let objects = List::<Object<T>>::deserialize(deserializer)?;
        Ok(Objects(
            objects
                .0
                .into_iter()
                .map(|object| object.0.unwrap_or_default())
                .collect(),
        ))
    }
}

/// An object, `None` when it is `null`. Derived readers alone would take a list of values for an object, too.
#[derive(Clone, Debug)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(access)).map(|object| Object(Some(object)))
            }

            fn visit_unit<E: Error>(self) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
        }
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

/// Reads an object for a field that may be absent.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Object::deserialize(deserializer).map(|object| object.0)
}

/// A map from names, in the order they were written; empty when absent. A name given twice is there twice, of which
/// the last one counts.
#[derive(Clone, Debug)]
pub(crate) struct Dict<'a, V>(Vec<(Str<'a>, V)>);

impl<V> Default for Dict<'_, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, V> Deref for Dict<'a, V> {
    type Target = [(Str<'a>, V)];

    fn deref(&self) -> &[(Str<'a>, V)] {
        &self.0
    }
}

impl<V> Dict<'_, V> {
    /// The value of a name.
    pub(crate) fn value(&self, name: &str) -> Option<&V> {
        self.0
            .iter()
            .rev()
            .find(|(key, _)| &**key == name)
            .map(|(_, value)| value)
    }
}

impl Dict<'_, Str<'_>> {
    /// The pairs to keep.
    pub(crate) fn labels(&self) -> Labels {
        self.0
            .iter()
            .map(|(key, value)| (key.text(), value.text()))
            .collect()
    }
}

impl Dict<'_, Quant> {
    /// The quantities by name, each name once.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().enumerate().filter_map(|(at, (name, quantity))| {
            let again = self.0[at + 1..].iter().any(|(later, _)| **later == **name);
            (!again).then_some((&**name, &quantity.0))
        })
    }
}

impl Dict<'_, Quant> {
    /// The quantities by name, in billionths.
    pub(crate) fn nanos(&self) -> BTreeMap<Text, i128> {
        self.0
            .iter()
            .map(|(name, quantity)| (name.text(), quantity.0.nanos()))
            .collect()
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Dict<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DictVisitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for DictVisitor<V> {
            type Value = Dict<'de, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Dict<'de, V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = access.next_key()? {
                    entries.push((key, access.next_value()?));
                }
                Ok(Dict(entries))
            }

            fn visit_unit<E: Error>(self) -> Result<Dict<'de, V>, E> {
                Ok(Dict::default())
            }
        }
        deserializer.deserialize_any(DictVisitor(PhantomData))
    }
}

/// A quantity, as a string or as a number. Numbers are read by their text, so that no digit is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quant(pub(crate) Quantity);

impl<'de> Deserialize<'de> for Quant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let quantity = match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) if !text.contains('\\') => Quantity::parse_trimmed(text),
            Some(_) => {
                Quantity::parse_trimmed(&serde_json::from_str::<String>(raw).map_err(D::Error::custom)?)
            }
            None if raw == "null" => Ok(Quantity::default()),
            None => Quantity::parse_trimmed(raw),
        };
        quantity.map(Quant).map_err(D::Error::custom)
    }
}

/// A moment, as RFC 3339 text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(pub(crate) Time);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Str::deserialize(deserializer)?;
        match parse_time_micros(&text) {
            Some(micros) => Ok(Moment(Time(micros.div_euclid(1000)))),
            None => Err(D::Error::custom(format_args!(
                "{:?} is no time; write it like 2006-01-02T15:04:05Z",
                text.chars().take(64).collect::<String>()
            ))),
        }
    }
}
