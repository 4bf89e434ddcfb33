//! What quotas and CPU topologies change.

use crate::cluster::Cluster;
use crate::cpus::CpuSet;
use crate::extra::{NumaRecord, Numatopology, QuotaRecord};

impl Cluster {
    pub(super) fn set_quota(&mut self, record: QuotaRecord) {
        let quotas = self.quotas.entry(record.namespace.clone()).or_default();
        quotas.insert(record.name.clone(), record);
    }

    pub(super) fn remove_quota(&mut self, namespace: &str, name: &str) {
        if let Some(quotas) = self.quotas.get_mut(namespace) {
            quotas.remove(name);
            if quotas.is_empty() {
                self.quotas.remove(namespace);
            }
        }
    }

    pub(super) fn set_numatopology(&mut self, record: NumaRecord) {
        self.numa_epoch += 1;
        let known = self.numatopologies.get(&record.node);
        let topology = Numatopology {
            grown: known.is_none_or(|known| has_grown(&known.record, &record)),
            epoch: self.numa_epoch,
            record,
        };
        self.numatopologies.insert(topology.record.node.clone(), topology);
    }
}

/// Some resource has at least as many free units as before. When nothing was known of any, nothing has grown.
fn has_grown(before: &NumaRecord, after: &NumaRecord) -> bool {
    before.free.iter().any(|(resource, free)| {
        let now = after.free.get(resource).map_or(0, CpuSet::len);
        free.len() <= now
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::spec::Text;

    fn seen(free: &[(&str, &str)]) -> Event {
        let free = free
            .iter()
            .map(|(name, set)| (Text::from(*name), CpuSet::parse(set).unwrap()));
        Event::NumatopologySet(Box::new(NumaRecord {
            node: "n".into(),
            free: free.collect(),
            ..NumaRecord::default()
        }))
    }

    #[test]
    fn a_topology_has_grown_when_some_resource_has_no_less_than_before() {
        type Free<'a> = &'a [(&'a str, &'a str)];
        let rows: &[(&str, Free<'_>, Free<'_>, bool)] = &[
            ("more", &[("cpu", "0")], &[("cpu", "0-1")], true),
            ("as many", &[("cpu", "0")], &[("cpu", "3")], true),
            ("less", &[("cpu", "0-1")], &[("cpu", "3")], false),
            (
                "one of two less",
                &[("cpu", "0-1"), ("gpu", "0")],
                &[("cpu", "0"), ("gpu", "0")],
                true,
            ),
            ("gone", &[("cpu", "0")], &[], false),
            ("nothing before", &[], &[("cpu", "0")], false),
        ];
        for (name, before, after, grown) in rows {
            let mut cluster = Cluster::new("default");
            cluster.apply(seen(before));
            assert!(cluster.numatopology("n").unwrap().grown, "the first one");
            let epoch = cluster.numatopology("n").unwrap().epoch;
            cluster.apply(seen(after));
            let topology = cluster.numatopology("n").unwrap();
            assert_eq!((topology.grown, topology.epoch > epoch), (*grown, true), "{name}");
        }
    }

    #[test]
    fn quotas_of_a_namespace_come_and_go() {
        let mut cluster = Cluster::new("default");
        let quota = |name: &str| {
            Event::QuotaSet(Box::new(QuotaRecord {
                namespace: "ns".into(),
                name: name.into(),
                ..QuotaRecord::default()
            }))
        };
        cluster.apply(quota("b"));
        cluster.apply(quota("a"));
        let names = |cluster: &Cluster| -> Vec<Text> {
            cluster.quotas("ns").map(|quota| quota.name.clone()).collect()
        };
        assert_eq!(names(&cluster), ["a".into(), "b".into()]);
        for name in ["a", "b", "b"] {
            cluster.apply(Event::QuotaRemoved {
                namespace: "ns".into(),
                name: name.into(),
            });
        }
        assert!(names(&cluster).is_empty() && cluster.quotas("other").next().is_none());
    }
}
