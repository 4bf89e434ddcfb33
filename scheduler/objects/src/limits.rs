//! Objects that hold others back: ResourceQuota and PodDisruptionBudget.

use mco_model::event::Event;
use mco_model::extra::{DisruptionBudgetRecord, QuotaRecord};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::affinity::SelectorField;
use crate::decode::{Decoded, Options};
use crate::field::{Dict, Quant, object};
use crate::meta::Meta;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct QuotaObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    status: Option<QuotaStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct QuotaStatus<'a> {
    #[serde(borrow)]
    hard: Dict<'a, Quant>,
    #[serde(borrow)]
    used: Dict<'a, Quant>,
}

pub(crate) fn convert_quota(quota: QuotaObject<'_>, options: &Options) -> Decoded {
    let meta = quota.metadata.unwrap_or_default();
    let status = quota.status.unwrap_or_default();
    Decoded::event(Event::QuotaSet(Box::new(QuotaRecord {
        namespace: meta.namespace_or(&options.default_namespace),
        name: meta.name.text(),
        hard: status.hard.nanos(),
        used: status.used.nanos(),
    })))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BudgetObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<BudgetSpec<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    status: Option<BudgetStatus<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BudgetSpec<'a> {
    #[serde(borrow, deserialize_with = "object")]
    selector: Option<SelectorField<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BudgetStatus<'a> {
    disruptions_allowed: Option<i32>,
    #[serde(borrow)]
    disrupted_pods: Dict<'a, IgnoredAny>,
}

pub(crate) fn convert_budget(budget: BudgetObject<'_>, options: &Options) -> Decoded {
    let meta = budget.metadata.unwrap_or_default();
    let status = budget.status.unwrap_or_default();
    Decoded::event(Event::DisruptionBudgetSet(Box::new(DisruptionBudgetRecord {
        namespace: meta.namespace_or(&options.default_namespace),
        name: meta.name.text(),
        selector: budget
            .spec
            .and_then(|spec| spec.selector)
            .map(|selector| selector.convert()),
        allowed: status.disruptions_allowed.unwrap_or(0),
        disrupted: status
            .disrupted_pods
            .iter()
            .map(|(name, _)| name.text())
            .collect(),
    })))
}
