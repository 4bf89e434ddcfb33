//! Which pods belong together by the Services and workloads that select them, for spreading without constraints.

use crate::matching::Selector;
use mco_framework::View;
use mco_model::event::WorkloadKind;
use mco_model::spec::{LabelSelector, Labels, Text};
use mco_model::task::Task;
use std::collections::HashMap;

/// Services and workloads of the session.
#[derive(Default)]
pub(super) struct Owners {
    /// Selectors of Services, by namespace.
    services: HashMap<Text, Vec<Labels>>,
    workloads: HashMap<(WorkloadKind, Text, Text), LabelSelector>,
}

impl Owners {
    pub(super) fn read(view: View<'_>) -> Self {
        let mut owners = Self::default();
        for ((kind, namespace, name), selector) in view.workloads() {
            let Some(selector) = selector else { continue };
            if *kind == WorkloadKind::Service {
                owners
                    .services
                    .entry(namespace.clone())
                    .or_default()
                    .push(selector.labels.clone());
            } else {
                let key = (*kind, namespace.clone(), name.clone());
                owners.workloads.insert(key, selector.clone());
            }
        }
        owners
    }

    /// Selects the pods that belong with this one: those that all its Services and its owner select. Selects everything
    /// when there is neither.
    pub(super) fn selector(&self, pod: &Task) -> Selector {
        let mut pairs = Labels::new();
        for service in self.services.get(&pod.namespace).into_iter().flatten() {
            if service
                .iter()
                .all(|(key, value)| pod.labels.get(key) == Some(value))
            {
                pairs.extend(service.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
        }
        let owner = pod.controller.as_ref().and_then(|(kind, name)| {
            let key = (*kind, pod.namespace.clone(), name.clone());
            Some((*kind, self.workloads.get(&key)?))
        });
        match owner {
            None | Some((WorkloadKind::Service, _)) => Selector::pairs(&pairs),
            Some((WorkloadKind::ReplicationController, selector)) => {
                pairs.extend(
                    selector
                        .labels
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
                Selector::pairs(&pairs)
            }
            Some((WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet, selector)) => {
                let own = Selector::of_pods(Some(selector)).unwrap_or(Selector::Nothing);
                Selector::pairs(&pairs).and(own)
            }
        }
    }
}
