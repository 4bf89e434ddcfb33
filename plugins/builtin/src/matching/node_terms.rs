//! Node selectors and node affinity: which nodes a pod wants by label or by name.

use super::selector::{Selector, SelectorError};
use mco_model::spec::{NodeSelectorTerm, Operator, PodSpec, Requirement, Text};

/// The only field of a node that terms can name.
const NAME_FIELD: &str = "metadata.name";

/// What a pod demands of its node: the node selector, and one of the required terms.
#[derive(Clone, Debug)]
pub struct NodeRule {
    pairs: Selector,
    terms: Option<Vec<NodeTerm>>,
}

/// One term of node affinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTerm {
    labels: Selector,
    fields: Vec<FieldTest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldTest {
    key: Text,
    value: Text,
    equal: bool,
}

impl NodeRule {
    /// The pod's demands. A term that is empty or cannot be read matches no node; the others still count.
    #[must_use]
    pub fn of(spec: &PodSpec) -> Self {
        let usable = |term| NodeTerm::of(term).ok().flatten();
        Self {
            pairs: Selector::pairs(&spec.node_selector),
            terms: spec
                .node_affinity
                .required
                .as_ref()
                .map(|terms| terms.iter().filter_map(usable).collect()),
        }
    }

    /// The pod demands something.
    #[must_use]
    pub fn demands(spec: &PodSpec) -> bool {
        !spec.node_selector.is_empty() || spec.node_affinity.required.is_some()
    }

    /// What the node selector demands.
    #[must_use]
    pub fn pairs(&self) -> &Selector {
        &self.pairs
    }

    /// The terms of which one must match; `None` when there is no such demand.
    #[must_use]
    pub fn terms(&self) -> Option<&[NodeTerm]> {
        self.terms.as_deref()
    }
}

impl NodeTerm {
    /// The term made ready; `None` when it is empty and so matches no node.
    ///
    /// # Errors
    /// The first requirement that cannot be used.
    pub fn of(term: &NodeSelectorTerm) -> Result<Option<Self>, SelectorError> {
        if term.expressions.is_empty() && term.fields.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            labels: Selector::of_nodes(&term.expressions)?,
            fields: term.fields.iter().map(FieldTest::of).collect::<Result<_, _>>()?,
        }))
    }

    /// The terms that a pod prefers, with their weights. Those without weight or content are left out.
    ///
    /// # Errors
    /// The first requirement that cannot be used: then no preference counts.
    pub fn preferred(spec: &PodSpec) -> Result<Vec<(i64, Self)>, SelectorError> {
        let mut terms = Vec::new();
        for (weight, term) in &spec.node_affinity.preferred {
            if *weight == 0 {
                continue;
            }
            terms.extend(Self::of(term)?.map(|term| (i64::from(*weight), term)));
        }
        Ok(terms)
    }

    /// What the term demands of labels.
    #[must_use]
    pub fn labels(&self) -> &Selector {
        &self.labels
    }

    /// A node of that name passes what the term demands of fields.
    #[must_use]
    pub fn admits_name(&self, name: &str) -> bool {
        self.fields.iter().all(|field| field.passes(name))
    }
}

impl FieldTest {
    fn of(requirement: &Requirement) -> Result<Self, SelectorError> {
        let Requirement {
            key,
            operator,
            values,
        } = requirement;
        let (equal, operator) = match operator {
            Operator::In => (true, "In"),
            Operator::NotIn => (false, "NotIn"),
            other => {
                return Err(SelectorError::Operator {
                    key: key.clone(),
                    operator: format!("{other:?}").into(),
                    known: "In or NotIn",
                });
            }
        };
        match values.as_slice() {
            [value] => Ok(Self {
                key: key.clone(),
                value: value.clone(),
                equal,
            }),
            _ => Err(SelectorError::Count {
                key: key.clone(),
                operator,
                found: values.len(),
                wanted: "one",
            }),
        }
    }

    /// A field that nodes do not have counts as empty.
    fn passes(&self, name: &str) -> bool {
        let field = if &*self.key == NAME_FIELD { name } else { "" };
        (field == &*self.value) == self.equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::spec::{Labels, NodeAffinity};

    fn requirement(key: &str, operator: Operator, values: &[&str]) -> Requirement {
        Requirement {
            key: key.into(),
            operator,
            values: values.iter().map(|value| Text::from(*value)).collect(),
        }
    }

    fn by_label(operator: Operator, values: &[&str]) -> NodeSelectorTerm {
        NodeSelectorTerm {
            expressions: vec![requirement("zone", operator, values)],
            fields: vec![],
        }
    }

    fn by_field(key: &str, operator: Operator, values: &[&str]) -> NodeSelectorTerm {
        NodeSelectorTerm {
            expressions: vec![],
            fields: vec![requirement(key, operator, values)],
        }
    }

    fn required(terms: Vec<NodeSelectorTerm>) -> PodSpec {
        PodSpec {
            node_affinity: NodeAffinity {
                required: Some(terms),
                preferred: vec![],
            },
            ..PodSpec::default()
        }
    }

    /// The node `n1` with these labels will do.
    fn admits(spec: &PodSpec, labels: &Labels) -> bool {
        let rule = NodeRule::of(spec);
        let matches = |term: &NodeTerm| term.labels().matches(labels) && term.admits_name("n1");
        rule.pairs().matches(labels) && rule.terms().is_none_or(|terms| terms.iter().any(matches))
    }

    #[test]
    fn one_usable_term_that_matches_is_enough() {
        let labels = Labels::from([("zone".into(), "a".into())]);
        let unknown = || by_label(Operator::Other("Bad".into()), &["a"]);
        let empty = NodeSelectorTerm::default;
        let cases = [
            (vec![by_label(Operator::In, &["a"])], true),
            (vec![by_label(Operator::In, &["z"])], false),
            (vec![], false),
            (vec![empty()], false),
            (vec![empty(), by_label(Operator::In, &["a"])], true),
            (vec![unknown()], false),
            (vec![unknown(), by_label(Operator::In, &["a"])], true),
            (vec![by_field("metadata.name", Operator::In, &["n1"])], true),
            (
                vec![by_field("metadata.name", Operator::In, &["n1", "n2"])],
                false,
            ),
            (vec![by_field("metadata.name", Operator::NotIn, &["n1"])], false),
            (vec![by_field("metadata.name", Operator::Gt, &["1"])], false),
            (
                vec![by_field("spec.unschedulable", Operator::NotIn, &["true"])],
                true,
            ),
        ];
        for (terms, expected) in cases {
            let spec = required(terms);
            assert_eq!(admits(&spec, &labels), expected, "{:?}", spec.node_affinity);
        }
    }

    #[test]
    fn the_node_selector_counts_besides() {
        let labels = Labels::from([("zone".into(), "a".into())]);
        let mut spec = required(vec![by_label(Operator::In, &["a"])]);
        spec.node_selector = Labels::from([("zone".into(), "b".into())]);
        assert!(!admits(&spec, &labels));
        assert!(NodeRule::demands(&spec) && !NodeRule::demands(&PodSpec::default()));
    }

    #[test]
    fn a_preference_without_weight_is_not_even_read() {
        let mut spec = PodSpec::default();
        spec.node_affinity.preferred = vec![
            (0, by_label(Operator::Other("Bad".into()), &[])),
            (5, by_label(Operator::In, &["a"])),
            (7, NodeSelectorTerm::default()),
        ];
        let weights: Vec<i64> = NodeTerm::preferred(&spec)
            .unwrap()
            .iter()
            .map(|(weight, _)| *weight)
            .collect();
        assert_eq!(weights, [5]);
        spec.node_affinity
            .preferred
            .push((1, by_label(Operator::Other("Bad".into()), &[])));
        assert!(NodeTerm::preferred(&spec).is_err());
    }
}
