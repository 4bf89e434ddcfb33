//! Affinity, spreading, tolerations and selectors, as they stand in objects and as rules read them.

use mco_model::spec::{
    LabelSelector, NodeAffinity, NodeSelectorTerm, Operator, PodAffinity, PodAffinityTerm, Requirement,
    Taint, Text, Toleration, TopologySpreadConstraint,
};
use serde::Deserialize;

use crate::field::{Dict, List, Objects, Str, object};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct AffinityField<'a> {
    #[serde(borrow, deserialize_with = "object")]
    node_affinity: Option<NodeAffinityField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    pod_affinity: Option<PodAffinityField<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    pod_anti_affinity: Option<PodAffinityField<'a>>,
}

impl AffinityField<'_> {
    pub(crate) fn node(&self) -> NodeAffinity {
        let Some(field) = &self.node_affinity else {
            return NodeAffinity::default();
        };
        NodeAffinity {
            required: field
                .required
                .as_ref()
                .map(|terms| terms.node_selector_terms.iter().map(term).collect()),
            preferred: field
                .preferred
                .iter()
                .map(|weighted| {
                    let preference = weighted.preference.as_ref().map(term).unwrap_or_default();
                    (weighted.weight.unwrap_or(0), preference)
                })
                .collect(),
        }
    }

    pub(crate) fn pods(&self) -> PodAffinity {
        self.pod_affinity
            .as_ref()
            .map(PodAffinityField::convert)
            .unwrap_or_default()
    }

    pub(crate) fn not_pods(&self) -> PodAffinity {
        self.pod_anti_affinity
            .as_ref()
            .map(PodAffinityField::convert)
            .unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeAffinityField<'a> {
    #[serde(
        borrow,
        deserialize_with = "object",
        rename = "requiredDuringSchedulingIgnoredDuringExecution"
    )]
    required: Option<TermsField<'a>>,
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: Objects<WeightedNodeTerm<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TermsField<'a> {
    #[serde(borrow)]
    node_selector_terms: Objects<NodeTermField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WeightedNodeTerm<'a> {
    weight: Option<i32>,
    #[serde(borrow, deserialize_with = "object")]
    preference: Option<NodeTermField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NodeTermField<'a> {
    #[serde(borrow)]
    match_expressions: Objects<RequirementField<'a>>,
    #[serde(borrow)]
    match_fields: Objects<RequirementField<'a>>,
}

fn term(field: &NodeTermField<'_>) -> NodeSelectorTerm {
    NodeSelectorTerm {
        expressions: field
            .match_expressions
            .iter()
            .map(RequirementField::convert)
            .collect(),
        fields: field.match_fields.iter().map(RequirementField::convert).collect(),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RequirementField<'a> {
    #[serde(borrow)]
    key: Str<'a>,
    #[serde(borrow)]
    operator: Str<'a>,
    #[serde(borrow)]
    values: List<Str<'a>>,
}

impl RequirementField<'_> {
    fn convert(&self) -> Requirement {
        let operator = match &*self.operator {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            "Gt" => Operator::Gt,
            "Lt" => Operator::Lt,
            _ => Operator::Other(self.operator.text()),
        };
        Requirement {
            key: self.key.text(),
            operator,
            values: texts(&self.values),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodAffinityField<'a> {
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Objects<PodTermField<'a>>,
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: Objects<WeightedPodTerm<'a>>,
}

impl PodAffinityField<'_> {
    fn convert(&self) -> PodAffinity {
        PodAffinity {
            required: self.required.iter().map(PodTermField::convert).collect(),
            preferred: self
                .preferred
                .iter()
                .map(|weighted| {
                    let term = weighted
                        .pod_affinity_term
                        .as_ref()
                        .map(PodTermField::convert)
                        .unwrap_or_default();
                    (weighted.weight.unwrap_or(0), term)
                })
                .collect(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WeightedPodTerm<'a> {
    weight: Option<i32>,
    #[serde(borrow, deserialize_with = "object")]
    pod_affinity_term: Option<PodTermField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodTermField<'a> {
    #[serde(borrow, deserialize_with = "object")]
    label_selector: Option<SelectorField<'a>>,
    #[serde(borrow)]
    namespaces: List<Str<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    namespace_selector: Option<SelectorField<'a>>,
    #[serde(borrow)]
    topology_key: Str<'a>,
    #[serde(borrow)]
    match_label_keys: List<Str<'a>>,
    #[serde(borrow)]
    mismatch_label_keys: List<Str<'a>>,
}

impl PodTermField<'_> {
    fn convert(&self) -> PodAffinityTerm {
        PodAffinityTerm {
            selector: self.label_selector.as_ref().map(SelectorField::convert),
            namespaces: texts(&self.namespaces),
            namespace_selector: self.namespace_selector.as_ref().map(SelectorField::convert),
            topology_key: self.topology_key.text(),
            match_label_keys: texts(&self.match_label_keys),
            mismatch_label_keys: texts(&self.mismatch_label_keys),
        }
    }
}

/// A label selector.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SelectorField<'a> {
    #[serde(borrow)]
    match_labels: Dict<'a, Str<'a>>,
    #[serde(borrow)]
    match_expressions: Objects<RequirementField<'a>>,
}

impl SelectorField<'_> {
    pub(crate) fn convert(&self) -> LabelSelector {
        LabelSelector {
            labels: self.match_labels.labels(),
            expressions: self
                .match_expressions
                .iter()
                .map(RequirementField::convert)
                .collect(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SpreadField<'a> {
    max_skew: Option<i32>,
    #[serde(borrow)]
    topology_key: Str<'a>,
    #[serde(borrow)]
    when_unsatisfiable: Str<'a>,
    #[serde(borrow, deserialize_with = "object")]
    label_selector: Option<SelectorField<'a>>,
    min_domains: Option<i32>,
    #[serde(borrow)]
    node_affinity_policy: Str<'a>,
    #[serde(borrow)]
    node_taints_policy: Str<'a>,
    #[serde(borrow)]
    match_label_keys: List<Str<'a>>,
}

impl SpreadField<'_> {
    pub(crate) fn convert(&self) -> TopologySpreadConstraint {
        TopologySpreadConstraint {
            max_skew: self.max_skew.unwrap_or(0),
            topology_key: self.topology_key.text(),
            hard: &*self.when_unsatisfiable == "DoNotSchedule",
            selector: self.label_selector.as_ref().map(SelectorField::convert),
            min_domains: self.min_domains,
            honor_node_affinity: matches!(&*self.node_affinity_policy, "" | "Honor"),
            honor_node_taints: &*self.node_taints_policy == "Honor",
            match_label_keys: texts(&self.match_label_keys),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TolerationField<'a> {
    #[serde(borrow)]
    key: Str<'a>,
    #[serde(borrow)]
    operator: Str<'a>,
    #[serde(borrow)]
    value: Str<'a>,
    #[serde(borrow)]
    effect: Str<'a>,
}

impl TolerationField<'_> {
    pub(crate) fn convert(&self) -> Toleration {
        Toleration {
            key: self.key.text(),
            operator: self.operator.text(),
            value: self.value.text(),
            effect: self.effect.text(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaintField<'a> {
    #[serde(borrow)]
    key: Str<'a>,
    #[serde(borrow)]
    value: Str<'a>,
    #[serde(borrow)]
    effect: Str<'a>,
}

impl TaintField<'_> {
    pub(crate) fn convert(&self) -> Taint {
        Taint {
            key: self.key.text(),
            value: self.value.text(),
            effect: self.effect.text(),
        }
    }
}

fn texts(list: &[Str<'_>]) -> Vec<Text> {
    list.iter().map(Str::text).collect()
}
