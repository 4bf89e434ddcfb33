//! How much a pod's containers are bound to what they ask for, and the CPUs of their own that follow from it.

use mco_model::extra::{CpuNeeds, Quality};
use mco_model::spec::Text;

use crate::field::{Dict, Quant};
use crate::pod::{Container, PodSpecField};

const KINDS: [&str; 2] = ["cpu", "memory"];

/// The quality that the API server says the pod has, else the one that its containers make.
pub(crate) fn of(spec: &PodSpecField<'_>, said: &str) -> Quality {
    match said {
        "Guaranteed" => Quality::Guaranteed,
        "Burstable" => Quality::Burstable,
        "BestEffort" => Quality::BestEffort,
        _ => made(spec),
    }
}

fn made(spec: &PodSpecField<'_>) -> Quality {
    let containers = || spec.containers.iter().chain(spec.init_containers.iter());
    let sum = |list: for<'b> fn(&'b Container<'_>) -> Option<&'b Dict<'b, Quant>>, kind: &str| {
        let amounts = containers().filter_map(|container| positive(list(container)?, kind));
        amounts.reduce(i128::saturating_add)
    };
    let asked = KINDS.map(|kind| sum(requests, kind));
    let limited = KINDS.map(|kind| sum(limits, kind));
    if asked.iter().chain(&limited).all(Option::is_none) {
        return Quality::BestEffort;
    }
    let all_limited = containers().all(|container| {
        let limits = limits(container);
        KINDS
            .iter()
            .all(|kind| limits.is_some_and(|list| positive(list, kind).is_some()))
    });
    if all_limited && asked == limited {
        Quality::Guaranteed
    } else {
        Quality::Burstable
    }
}

fn requests<'b>(container: &'b Container<'_>) -> Option<&'b Dict<'b, Quant>> {
    container.requests()
}

fn limits<'b>(container: &'b Container<'_>) -> Option<&'b Dict<'b, Quant>> {
    container.limits()
}

fn positive(list: &Dict<'_, Quant>, kind: &str) -> Option<i128> {
    list.value(kind)
        .map(|quantity| quantity.0.nanos())
        .filter(|nanos| *nanos > 0)
}

/// What a guaranteed pod wants of CPUs of its own.
pub(crate) fn cpus(spec: &PodSpecField<'_>, policy: Text) -> Box<CpuNeeds> {
    let whole = |container: &Container<'_>| {
        let quantity = &container.requests()?.value("cpu")?.0;
        let cpus = (quantity.nanos() % 1_000_000_000 == 0).then(|| quantity.value());
        Some(cpus.and_then(|cpus| u32::try_from(cpus).ok()).unwrap_or(0))
    };
    Box::new(CpuNeeds {
        policy,
        containers: spec.containers.iter().map(whole).collect(),
    })
}
