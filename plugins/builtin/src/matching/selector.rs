//! Label selectors.

use super::names::{is_label_key, is_label_value};
use mco_model::spec::{LabelSelector, Labels, Operator, Requirement, Text};
use thiserror::Error;

/// A label selector made ready for matching.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// Matches no labels, not even when more tests are added.
    Nothing,
    /// Matches labels that pass every test; without any test, all labels.
    Tests(Vec<LabelTest>),
}

/// Where to look for what a selector selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor<'s> {
    /// Nowhere: it selects nothing.
    Nothing,
    /// Where the label of that key has one of these values.
    OneOf(&'s Text, &'s [Text]),
    /// Everywhere.
    Unknown,
}

/// One condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelTest {
    key: Text,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Rule {
    OneOf(Vec<Text>),
    NoneOf(Vec<Text>),
    Present,
    Absent,
    Above(i64),
    Below(i64),
}

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    /// The operator is not one of those that count here.
    #[error("operator `{operator}` on key `{key}` is not known here: use {known}")]
    Operator {
        /// Key of the requirement.
        key: Text,
        /// The operator as written.
        operator: Text,
        /// Those that are known.
        known: &'static str,
    },
    /// Not a label key.
    #[error(
        "`{key}` is no label key: use letters, digits, `-`, `_` and `.`, with or without a domain and `/` before"
    )]
    Key {
        /// The key as written.
        key: Text,
    },
    /// Not a label value.
    #[error("`{value}` on key `{key}` is no label value: use letters, digits, `-`, `_` and `.`")]
    Value {
        /// Key of the requirement.
        key: Text,
        /// The value as written.
        value: Text,
    },
    /// Too few or too many values.
    #[error("operator {operator} on key `{key}` has {found} values: give it {wanted}")]
    Count {
        /// Key of the requirement.
        key: Text,
        /// The operator.
        operator: &'static str,
        /// Number of values found.
        found: usize,
        /// Number of values that would do.
        wanted: &'static str,
    },
    /// `Gt` and `Lt` compare whole numbers.
    #[error("`{value}` on key `{key}` is no whole number that fits 64 bits, as Gt and Lt need")]
    Number {
        /// Key of the requirement.
        key: Text,
        /// The value as written.
        value: Text,
    },
}

impl Selector {
    /// Matches labels that contain every pair. The pairs are taken as they are.
    #[must_use]
    pub fn pairs(pairs: &Labels) -> Self {
        Self::Tests(
            pairs
                .iter()
                .map(|(key, value)| LabelTest::equal(key, value))
                .collect(),
        )
    }

    /// A selector of pods or namespaces; an absent one matches nothing, an empty one everything.
    ///
    /// # Errors
    /// The first requirement that cannot be used.
    pub fn of_pods(selector: Option<&LabelSelector>) -> Result<Self, SelectorError> {
        let Some(selector) = selector else {
            return Ok(Self::Nothing);
        };
        let mut tests = Vec::with_capacity(selector.labels.len() + selector.expressions.len());
        for (key, value) in &selector.labels {
            check_key(key)?;
            check_value(key, value)?;
            tests.push(LabelTest::equal(key, value));
        }
        for requirement in &selector.expressions {
            tests.push(LabelTest::of_pods(requirement)?);
        }
        Ok(Self::Tests(tests))
    }

    /// A selector of nodes by label: every requirement must hold.
    ///
    /// # Errors
    /// The first requirement that cannot be used.
    pub fn of_nodes(requirements: &[Requirement]) -> Result<Self, SelectorError> {
        requirements
            .iter()
            .map(LabelTest::of_nodes)
            .collect::<Result<_, _>>()
            .map(Self::Tests)
    }

    /// Demands these pairs besides.
    #[must_use]
    pub fn and_pairs<'a>(mut self, pairs: impl IntoIterator<Item = (&'a Text, &'a Text)>) -> Self {
        if let Self::Tests(tests) = &mut self {
            tests.extend(pairs.into_iter().map(|(key, value)| LabelTest::equal(key, value)));
        }
        self
    }

    /// Demands what `other` demands besides. Nothing to demand of a selector that selects nothing: this one stays.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if let (Self::Tests(tests), Self::Tests(more)) = (&mut self, other) {
            tests.extend(more);
        }
        self
    }

    /// Matches all labels.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Tests(tests) if tests.is_empty())
    }

    /// The tests that labels must pass; `None` when nothing matches.
    #[must_use]
    pub fn tests(&self) -> Option<&[LabelTest]> {
        match self {
            Self::Nothing => None,
            Self::Tests(tests) => Some(tests),
        }
    }

    /// A label that everything selected has, with one of these values, where the selector names one.
    #[must_use]
    pub fn anchor(&self) -> Anchor<'_> {
        let Self::Tests(tests) = self else {
            return Anchor::Nothing;
        };
        let anchor = tests.iter().find_map(|test| match &test.rule {
            Rule::OneOf(values) => Some(Anchor::OneOf(&test.key, values)),
            _ => None,
        });
        anchor.unwrap_or(Anchor::Unknown)
    }

    /// The labels pass.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::Nothing => false,
            Self::Tests(tests) => tests.iter().all(|test| test.passes(labels.get(&test.key))),
        }
    }
}

impl LabelTest {
    fn equal(key: &Text, value: &Text) -> Self {
        Self {
            key: key.clone(),
            rule: Rule::OneOf(vec![value.clone()]),
        }
    }

    fn of_pods(requirement: &Requirement) -> Result<Self, SelectorError> {
        match &requirement.operator {
            Operator::Gt | Operator::Lt | Operator::Other(_) => Err(SelectorError::Operator {
                key: requirement.key.clone(),
                operator: operator_text(&requirement.operator),
                known: "In, NotIn, Exists or DoesNotExist",
            }),
            _ => Self::of_nodes(requirement),
        }
    }

    fn of_nodes(requirement: &Requirement) -> Result<Self, SelectorError> {
        let Requirement {
            key,
            operator,
            values,
        } = requirement;
        let count = |operator, wanted| SelectorError::Count {
            key: key.clone(),
            operator,
            found: values.len(),
            wanted,
        };
        check_key(key)?;
        let rule = match operator {
            Operator::In if values.is_empty() => return Err(count("In", "at least one")),
            Operator::NotIn if values.is_empty() => return Err(count("NotIn", "at least one")),
            Operator::Exists if !values.is_empty() => return Err(count("Exists", "none")),
            Operator::DoesNotExist if !values.is_empty() => return Err(count("DoesNotExist", "none")),
            Operator::Gt if values.len() != 1 => return Err(count("Gt", "one")),
            Operator::Lt if values.len() != 1 => return Err(count("Lt", "one")),
            Operator::In => Rule::OneOf(values.clone()),
            Operator::NotIn => Rule::NoneOf(values.clone()),
            Operator::Exists => Rule::Present,
            Operator::DoesNotExist => Rule::Absent,
            Operator::Gt => Rule::Above(number(key, &values[0])?),
            Operator::Lt => Rule::Below(number(key, &values[0])?),
            Operator::Other(operator) => {
                return Err(SelectorError::Operator {
                    key: key.clone(),
                    operator: operator.clone(),
                    known: "In, NotIn, Exists, DoesNotExist, Gt or Lt",
                });
            }
        };
        for value in values {
            check_value(key, value)?;
        }
        Ok(Self {
            key: key.clone(),
            rule,
        })
    }

    /// The key of the label looked at.
    #[must_use]
    pub fn key(&self) -> &Text {
        &self.key
    }

    /// The value of the label, `None` when it is absent, passes.
    #[must_use]
    pub fn passes(&self, label: Option<&Text>) -> bool {
        match (&self.rule, label) {
            (Rule::Present, label) => label.is_some(),
            (Rule::Absent, label) => label.is_none(),
            (Rule::OneOf(values), Some(label)) => values.contains(label),
            (Rule::NoneOf(values), Some(label)) => !values.contains(label),
            (Rule::NoneOf(_), None) => true,
            (Rule::Above(limit), Some(label)) => label.parse().is_ok_and(|value: i64| value > *limit),
            (Rule::Below(limit), Some(label)) => label.parse().is_ok_and(|value: i64| value < *limit),
            (Rule::OneOf(_) | Rule::Above(_) | Rule::Below(_), None) => false,
        }
    }
}

fn number(key: &Text, value: &Text) -> Result<i64, SelectorError> {
    value.parse().map_err(|_| SelectorError::Number {
        key: key.clone(),
        value: value.clone(),
    })
}

fn check_key(key: &Text) -> Result<(), SelectorError> {
    if is_label_key(key) {
        Ok(())
    } else {
        Err(SelectorError::Key { key: key.clone() })
    }
}

fn check_value(key: &Text, value: &Text) -> Result<(), SelectorError> {
    if is_label_value(value) {
        Ok(())
    } else {
        Err(SelectorError::Value {
            key: key.clone(),
            value: value.clone(),
        })
    }
}

fn operator_text(operator: &Operator) -> Text {
    match operator {
        Operator::In => "In".into(),
        Operator::NotIn => "NotIn".into(),
        Operator::Exists => "Exists".into(),
        Operator::DoesNotExist => "DoesNotExist".into(),
        Operator::Gt => "Gt".into(),
        Operator::Lt => "Lt".into(),
        Operator::Other(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests;
