//! Volcano's plugins, one folder each.

mod admission;
pub mod binpack;
mod books;
pub mod capacity;
pub mod conformance;
pub mod drf;
#[cfg(test)]
mod fixture;
pub mod gang;
mod matching;
pub mod nodeorder;
pub mod overcommit;
pub mod predicates;
pub mod priority;
pub mod proportion;
mod sight;
mod spread;

use mco_framework::PluginFactory;

/// A factory of every plugin of this crate.
#[must_use]
pub fn factories() -> Vec<Box<dyn PluginFactory>> {
    vec![
        Box::new(priority::PriorityFactory),
        Box::new(predicates::PredicatesFactory),
        Box::new(nodeorder::NodeOrderFactory),
        Box::new(gang::GangFactory),
        Box::new(conformance::ConformanceFactory),
        Box::new(overcommit::OvercommitFactory),
        Box::new(drf::DrfFactory),
        Box::new(proportion::ProportionFactory),
        Box::new(binpack::BinpackFactory),
        Box::new(capacity::CapacityFactory),
    ]
}
