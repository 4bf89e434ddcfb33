//! What the arguments of `binpack` ask for: the plugin's weight and one for each resource.

use mco_framework::conf::Arguments;
use std::collections::BTreeMap;

pub(super) const NAME: &str = "binpack";
const RESOURCES: &str = "binpack.resources";

/// Weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Of the whole score; with 0 the plugin scores nothing, and below it spreads.
    pub score: i64,
    /// By resource name, 0 or more; resources without one do not count.
    pub resources: BTreeMap<String, i64>,
}

impl Weights {
    /// The weights that `arguments` ask for, and what is odd about them: an argument that cannot be used leaves its
    /// weight at 1.
    #[must_use]
    pub fn from_arguments(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = arguments.reader(NAME);
        let mut negative = Vec::new();
        let mut weight = |key: &str| match reader.int(key).unwrap_or(1) {
            weight if weight < 0 => {
                negative.push(format!(
                    "argument `{key}` of plugin `{NAME}` is {weight} but must be 0 or more; 1 is used"
                ));
                1
            }
            weight => weight,
        };
        let listed = arguments.raw_str(RESOURCES).unwrap_or_default();
        let names = listed.split(',').map(str::trim).filter(|name| !name.is_empty());
        let mut resources: BTreeMap<String, i64> = BTreeMap::new();
        for name in names {
            if !resources.contains_key(name) {
                resources.insert(name.to_owned(), weight(&format!("{RESOURCES}.{name}")));
            }
        }
        for name in ["cpu", "memory"] {
            resources.insert(name.to_owned(), weight(&format!("{NAME}.{name}")));
        }
        let score = reader.int("binpack.weight").unwrap_or(1);
        reader.str(RESOURCES);
        let warnings = reader
            .into_warnings()
            .into_iter()
            .map(|warning| warning.to_string())
            .chain(negative);
        (Self { score, resources }, warnings.collect())
    }

    /// The weight of one resource, `None` when it does not count.
    #[must_use]
    pub fn of(&self, resource: &str) -> Option<i64> {
        self.resources.get(resource).copied()
    }
}
