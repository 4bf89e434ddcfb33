//! Parts of an object that cannot be used and count as absent, each with its place.

use crate::decode::{DecodeError, Kind};

/// What is wrong with an object, found one by one.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<(String, String)>);

impl Problems {
    /// One more.
    pub(crate) fn add(&mut self, field: impl Into<String>, problem: impl Into<String>) {
        self.0.push((field.into(), problem.into()));
    }

    /// All of them, with the object they are about.
    pub(crate) fn about(self, kind: Kind, namespace: &str, name: &str) -> Vec<DecodeError> {
        let error = |(field, problem)| DecodeError {
            kind: kind.name().into(),
            namespace: namespace.into(),
            name: name.into(),
            field,
            problem,
            offset: None,
        };
        self.0.into_iter().map(error).collect()
    }
}
