//! What to watch and how.

use std::time::Duration;

use mco_model::spec::{Labels, Text};
use mco_objects::Options;

/// What to watch and how to read it.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    /// Whose pods are ours, and which interference report counts.
    pub options: Options,
    /// `--node-selector`: nodes with none of these labels are not there. Empty takes all.
    pub node_selector: NodeSelector,
    /// `--priority-class`: whether PriorityClasses are watched.
    pub priority_classes: bool,
    /// How often a kind is looked for that is not served or may not be watched.
    pub absent_retry: Duration,
}

impl Default for WatchSettings {
    /// As upstream's flags are when not given; kinds that are not there are looked for every ten seconds.
    fn default() -> Self {
        Self {
            options: Options::default(),
            node_selector: NodeSelector::default(),
            priority_classes: true,
            absent_retry: Duration::from_secs(10),
        }
    }
}

/// Labels of which a node must have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelector(Vec<(Text, Text)>);

impl NodeSelector {
    /// From entries `label:value`. As upstream, both parts are trimmed, and an entry without `:` or with nothing after it does
    /// not count.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        let parse = |entry: &'a str| {
            let (label, value) = entry.split_once(':')?;
            (!value.is_empty()).then(|| (Text::from(label.trim()), Text::from(value.trim())))
        };
        Self(entries.into_iter().filter_map(parse).collect())
    }

    /// Whether a node with these labels is used.
    #[must_use]
    pub fn takes(&self, labels: &Labels) -> bool {
        self.0.is_empty()
            || self
                .0
                .iter()
                .any(|(label, value)| labels.get(label) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_passes_with_any_of_the_labels() {
        let labels = |pairs: &[(&str, &str)]| -> Labels {
            pairs
                .iter()
                .map(|(key, value)| (Text::from(*key), Text::from(*value)))
                .collect()
        };
        let selector = NodeSelector::parse([" pool : batch ", "zone:", "broken", "tier:gold"]);
        let rows: [(&[(&str, &str)], bool); 5] = [
            (&[("pool", "batch")], true),
            (&[("tier", "gold"), ("pool", "web")], true),
            (&[("pool", "web")], false),
            (&[("zone", "")], false),
            (&[], false),
        ];
        for (pairs, expected) in rows {
            assert_eq!(selector.takes(&labels(pairs)), expected, "{pairs:?}");
        }
        assert!(
            NodeSelector::parse(["broken"]).takes(&labels(&[])),
            "no entry takes all"
        );
    }
}
