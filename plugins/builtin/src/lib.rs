//! Volcano's plugins, one folder each.

mod admission;
pub mod binpack;
mod books;
pub mod capacity;
pub mod cdp;
pub mod conformance;
pub mod deviceshare;
pub mod drf;
#[cfg(test)]
mod fixture;
pub mod gang;
mod matching;
pub mod nodegroup;
pub mod nodeorder;
pub mod numa_aware;
pub mod overcommit;
pub mod pdb;
pub mod predicates;
pub mod priority;
pub mod proportion;
pub mod rescheduling;
pub mod resourcequota;
mod sight;
pub mod sla;
mod spread;
pub mod task_topology;
pub mod tdm;
pub mod usage;

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
        Box::new(sla::SlaFactory),
        Box::<tdm::TdmFactory>::default(),
        Box::new(nodegroup::NodeGroupFactory),
        Box::new(pdb::PdbFactory),
        Box::new(resourcequota::ResourceQuotaFactory),
        Box::new(cdp::CdpFactory),
        Box::new(task_topology::TaskTopologyFactory),
        Box::<numa_aware::NumaAwareFactory>::default(),
        Box::new(deviceshare::DeviceShareFactory),
        Box::new(usage::UsageFactory),
        Box::<rescheduling::ReschedulingFactory>::default(),
    ]
}
