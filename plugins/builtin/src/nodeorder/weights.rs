//! The arguments of `nodeorder`: how much each score counts.

use super::NAME;
use mco_framework::conf::Arguments;

/// Factors of the scores. Any whole number will do, below zero too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// `leastrequested.weight`.
    pub least_requested: i64,
    /// `mostrequested.weight`.
    pub most_requested: i64,
    /// `balancedresource.weight`.
    pub balanced_resource: i64,
    /// `nodeaffinity.weight`.
    pub node_affinity: i64,
    /// `podaffinity.weight`.
    pub pod_affinity: i64,
    /// `tainttoleration.weight`.
    pub taint_toleration: i64,
    /// `imagelocality.weight`.
    pub image_locality: i64,
    /// `podtopologyspread.weight`.
    pub topology_spread: i64,
}

impl Weights {
    /// What the arguments say, and what was odd about them. A value that is no whole number leaves the default.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = arguments.reader(NAME);
        let mut weight = |key: &str, default: i64| reader.int(key).unwrap_or(default);
        let weights = Self {
            node_affinity: weight("nodeaffinity.weight", 2),
            pod_affinity: weight("podaffinity.weight", 2),
            least_requested: weight("leastrequested.weight", 1),
            most_requested: weight("mostrequested.weight", 0),
            balanced_resource: weight("balancedresource.weight", 1),
            taint_toleration: weight("tainttoleration.weight", 3),
            image_locality: weight("imagelocality.weight", 1),
            topology_spread: weight("podtopologyspread.weight", 2),
        };
        (
            weights,
            reader.into_warnings().iter().map(ToString::to_string).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_framework::conf::Value;

    #[test]
    fn whole_numbers_count_and_nothing_else() {
        let arguments: Arguments = [
            ("nodeaffinity.weight", Value::Int(-7)),
            ("podaffinity.weight", Value::Float(1.5)),
            ("leastrequested.weight", Value::Str("5".into())),
            ("tainttoleration.weight", Value::Int(0)),
        ]
        .into_iter()
        .collect();
        let (weights, warnings) = Weights::read(&arguments);
        assert_eq!((weights.node_affinity, weights.taint_toleration), (-7, 0));
        assert_eq!((weights.pod_affinity, weights.least_requested), (2, 1));
        assert_eq!(warnings.len(), 2);
    }
}
