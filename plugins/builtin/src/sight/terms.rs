//! Terms of pod affinity made ready for matching.

use crate::matching::{Anchor, Selector, SelectorError};
use mco_model::Cluster;
use mco_model::spec::{Labels, PodAffinityTerm, PodSpec, Text};
use mco_model::task::Task;
use std::collections::HashMap;
use thiserror::Error;

/// Labels of the namespaces met so far.
#[derive(Default)]
pub struct Namespaces {
    labels: HashMap<Text, Labels>,
}

impl Namespaces {
    fn labels(&mut self, cluster: &Cluster, namespace: &Text) -> &Labels {
        if !self.labels.contains_key(namespace) {
            self.labels
                .insert(namespace.clone(), cluster.namespace_labels(namespace));
        }
        &self.labels[namespace]
    }
}

/// Which pods a term speaks of, and by which label their nodes are grouped.
#[derive(Clone, Debug)]
pub struct PodTerm {
    namespaces: Vec<Text>,
    namespace_selector: Selector,
    selector: Selector,
    /// Node label whose value makes the domain.
    pub topology_key: Text,
}

impl PodTerm {
    /// The term of a pod in the namespace `own`. `matchLabelKeys` and `mismatchLabelKeys` have no effect: Kubernetes
    /// 1.29 has them switched off.
    ///
    /// # Errors
    /// A selector that cannot be used.
    pub fn of(term: &PodAffinityTerm, own: &Text) -> Result<Self, SelectorError> {
        let namespaces = if term.namespaces.is_empty() && term.namespace_selector.is_none() {
            vec![own.clone()]
        } else {
            term.namespaces.clone()
        };
        Ok(Self {
            namespaces,
            namespace_selector: Selector::of_pods(term.namespace_selector.as_ref())?,
            selector: Selector::of_pods(term.selector.as_ref())?,
            topology_key: term.topology_key.clone(),
        })
    }

    /// Where to look for the pods the term speaks of.
    #[must_use]
    pub fn anchor(&self) -> Anchor<'_> {
        self.selector.anchor()
    }

    /// The term speaks of the pod.
    pub fn matches(&self, cluster: &Cluster, namespaces: &mut Namespaces, pod: &Task) -> bool {
        self.selector.matches(&pod.labels) && self.covers(cluster, namespaces, &pod.namespace)
    }

    fn covers(&self, cluster: &Cluster, namespaces: &mut Namespaces, namespace: &Text) -> bool {
        self.namespaces.contains(namespace)
            || match &self.namespace_selector {
                Selector::Nothing => false,
                selector if selector.is_everything() => true,
                selector => selector.matches(namespaces.labels(cluster, namespace)),
            }
    }
}

/// All terms of a pod.
#[derive(Clone, Debug, Default)]
pub struct PodTerms {
    /// Pods that must be in the same domain.
    pub affinity: Vec<PodTerm>,
    /// Pods that must not be.
    pub anti_affinity: Vec<PodTerm>,
    /// Pods that should be in the same domain; a negative weight says that they should not.
    pub preferred: Vec<(i64, PodTerm)>,
}

/// A term that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{list}: {error}")]
pub struct TermError {
    /// Which of the pod's lists it is in.
    pub list: &'static str,
    /// What is wrong.
    pub error: SelectorError,
}

impl PodTerms {
    /// The terms of a pod in the namespace `own`.
    ///
    /// # Errors
    /// The first term that cannot be used.
    pub fn of(spec: &PodSpec, own: &Text) -> Result<Self, TermError> {
        let fault = |list| move |error| TermError { list, error };
        let (with, without) = (&spec.pod_affinity, &spec.pod_anti_affinity);
        let affinity = required(&with.required, own).map_err(fault("requiredAffinityTerms"))?;
        let anti_affinity = required(&without.required, own).map_err(fault("requiredAntiAffinityTerms"))?;
        let mut preferred = weighted(&with.preferred, own, 1).map_err(fault("preferredAffinityTerms"))?;
        preferred.extend(weighted(&without.preferred, own, -1).map_err(fault("preferredAntiAffinityTerms"))?);
        Ok(Self {
            affinity,
            anti_affinity,
            preferred,
        })
    }
}

fn required(terms: &[PodAffinityTerm], own: &Text) -> Result<Vec<PodTerm>, SelectorError> {
    terms.iter().map(|term| PodTerm::of(term, own)).collect()
}

fn weighted(
    terms: &[(i32, PodAffinityTerm)],
    own: &Text,
    sign: i64,
) -> Result<Vec<(i64, PodTerm)>, SelectorError> {
    terms
        .iter()
        .map(|(weight, term)| Ok((sign * i64::from(*weight), PodTerm::of(term, own)?)))
        .collect()
}

/// The pod has terms about other pods.
#[must_use]
pub fn has_terms(spec: &PodSpec) -> bool {
    let given = |affinity: &mco_model::spec::PodAffinity| {
        !affinity.required.is_empty() || !affinity.preferred.is_empty()
    };
    given(&spec.pod_affinity) || given(&spec.pod_anti_affinity)
}
