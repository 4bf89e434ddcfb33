//! Numatopologies.

use std::collections::BTreeMap;

use mco_model::cpus::CpuSet;
use mco_model::event::Event;
use mco_model::extra::{CpuPlace, NumaRecord};
use mco_model::quantity::Quantity;
use mco_model::spec::Text;
use serde::Deserialize;

use crate::decode::{Decoded, Kind, Options};
use crate::field::{Dict, Object, Str, object};
use crate::meta::Meta;
use crate::problem::Problems;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NumaObject<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Meta<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    spec: Option<NumaSpec<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NumaSpec<'a> {
    #[serde(borrow)]
    policies: Dict<'a, Str<'a>>,
    #[serde(borrow)]
    res_reserved: Dict<'a, Str<'a>>,
    #[serde(borrow)]
    numares: Dict<'a, Object<NumaResource<'a>>>,
    #[serde(borrow)]
    cpu_detail: Dict<'a, Object<CpuDetail>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct NumaResource<'a> {
    #[serde(borrow)]
    allocatable: Str<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct CpuDetail {
    numa: Option<u32>,
    socket: Option<u32>,
    core: Option<u32>,
}

pub(crate) fn convert(topology: NumaObject<'_>, _: &Options) -> Decoded {
    let meta = topology.metadata.unwrap_or_default();
    let spec = topology.spec.unwrap_or_default();
    let mut problems = Problems::default();
    let policy = |name: &str| spec.policies.value(name).map(Str::text).unwrap_or_default();
    let record = NumaRecord {
        node: meta.name.text(),
        cpu_policy: policy("CPUManagerPolicy"),
        topology_policy: policy("TopologyManagerPolicy"),
        reserved_milli_cpu: reserved(&spec.res_reserved, &mut problems),
        free: free(&spec.numares, &mut problems),
        cpus: cpus(&spec.cpu_detail, &mut problems),
    };
    Decoded {
        event: Some(Event::NumatopologySet(Box::new(record))),
        problems: problems.about(Kind::Numatopology, "", &meta.name),
    }
}

/// CPUs kept for the node, in milli. One entry that cannot be used spoils all, as in Volcano.
fn reserved(list: &Dict<'_, Str<'_>>, problems: &mut Problems) -> Option<i64> {
    let mut cpus = None;
    for (name, text) in list.iter() {
        let problem = match (&**name, Quantity::parse_trimmed(text)) {
            ("cpu" | "memory" | "ephemeral-storage", Ok(quantity)) if quantity.sign() >= 0 => {
                if &**name == "cpu" {
                    cpus = Some(quantity.milli_value());
                }
                continue;
            }
            ("cpu" | "memory" | "ephemeral-storage", Ok(_)) => format!("{:?} is below zero", &**text),
            ("cpu" | "memory" | "ephemeral-storage", Err(error)) => error.to_string(),
            _ => "nothing of this kind can be kept back".to_owned(),
        };
        let field = format!("spec.resReserved[{}]", &**name);
        problems.add(field, format!("{problem}; nothing is kept back"));
        return None;
    }
    cpus
}

fn free(list: &Dict<'_, Object<NumaResource<'_>>>, problems: &mut Problems) -> BTreeMap<Text, CpuSet> {
    let mut free = BTreeMap::new();
    for (name, resource) in list.iter() {
        let text = resource.0.clone().unwrap_or_default().allocatable;
        let set = CpuSet::parse(&text).unwrap_or_else(|error| {
            let field = format!("spec.numares[{}].allocatable", &**name);
            problems.add(field, format!("{error}; nothing is free"));
            CpuSet::default()
        });
        free.insert(name.text(), set);
    }
    free
}

fn cpus(list: &Dict<'_, Object<CpuDetail>>, problems: &mut Problems) -> BTreeMap<u32, CpuPlace> {
    let mut cpus = BTreeMap::new();
    for (name, detail) in list.iter() {
        let number = name.parse().ok().filter(|number| *number <= CpuSet::LARGEST);
        let Some(number) = number else {
            let field = format!("spec.cpuDetail[{}]", &**name);
            problems.add(field, "this is no number of a CPU; it is passed over");
            continue;
        };
        let detail = detail.0.clone().unwrap_or_default();
        let place = CpuPlace {
            numa: detail.numa.unwrap_or(0),
            socket: detail.socket.unwrap_or(0),
            core: detail.core.unwrap_or(0),
        };
        cpus.insert(number, place);
    }
    cpus
}
