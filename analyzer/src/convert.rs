//! Wire messages to samples: the one place where the analyzer reads what a collector sent.

use std::collections::BTreeMap;

use mco_proto::latency::Histogram;
use mco_proto::v1::{LatencyBuckets, MetricsSnapshot, PsiMetrics};

use crate::metric::{Metric, OutOfRange, Readings};
use crate::nodes::Arrival;
use crate::time::Moment;
use crate::window::Sample;

/// The longest text taken over from a message, in characters: what is kept per node must stay small.
const LONGEST_TEXT: usize = 100;
/// The most absent sources taken over from a message.
const MOST_SOURCES: usize = 16;

/// What could be read from a message.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The sample.
    pub arrival: Arrival,
    /// Fields that were dropped because no such value exists.
    pub dropped: Vec<OutOfRange>,
    /// True when the latency histogram was dropped because it is malformed.
    pub bad_buckets: bool,
}

/// Reads a message that arrived at this moment; fields out of range are dropped one by one.
pub fn convert(snapshot: MetricsSnapshot, arrived: Moment) -> Converted {
    let mut readings = Readings::NONE;
    let mut dropped = Vec::new();
    for (metric, value) in fields(&snapshot) {
        if let Some(value) = value
            && let Err(out_of_range) = readings.set(metric, value)
        {
            dropped.push(out_of_range);
        }
    }
    let buckets = snapshot.block.and_then(|block| block.total_buckets);
    let (buckets, bad_buckets) = match buckets {
        Some(buckets) if well_formed(&buckets) => (Some(buckets), false),
        other => (None, other.is_some()),
    };
    let sample = Sample {
        node_nanos: i64::try_from(snapshot.monotonic_ns).unwrap_or(i64::MAX),
        arrived,
        readings,
        buckets,
    };
    let unavailable: BTreeMap<_, _> = snapshot
        .availability
        .into_iter()
        .flat_map(|availability| availability.absent)
        .take(MOST_SOURCES)
        .map(|absent| (cut(&absent.source), cut(&absent.reason)))
        .collect();
    let boot_id = cut(&snapshot.boot_id);
    Converted {
        arrival: Arrival {
            boot_id,
            sequence: snapshot.sequence,
            sample,
            unavailable,
        },
        dropped,
        bad_buckets,
    }
}

fn fields(snapshot: &MetricsSnapshot) -> [(Metric, Option<f64>); 12] {
    let cache = snapshot.cache.as_ref();
    let block = snapshot.block.as_ref();
    let memory = snapshot.memory.as_ref();
    let some = |psi: &Option<PsiMetrics>| psi.as_ref().and_then(|psi| psi.some_avg10);
    let full = |psi: &Option<PsiMetrics>| psi.as_ref().and_then(|psi| psi.full_avg10);
    [
        (Metric::LlcMissRate, cache.and_then(|cache| cache.miss_rate)),
        (
            Metric::LlcOccupancy,
            cache.and_then(|cache| cache.occupancy_ratio),
        ),
        (Metric::BioLatencyP95Ms, block.and_then(|block| block.p95_ms)),
        (Metric::BioLatencyP99Ms, block.and_then(|block| block.p99_ms)),
        (Metric::PsiIoSomeAvg10, some(&snapshot.psi_io)),
        (Metric::PsiIoFullAvg10, full(&snapshot.psi_io)),
        (Metric::PsiMemorySomeAvg10, some(&snapshot.psi_memory)),
        (Metric::PsiMemoryFullAvg10, full(&snapshot.psi_memory)),
        (
            Metric::MemAvailableRatio,
            memory.and_then(|memory| memory.available_ratio),
        ),
        (
            Metric::PageScanRate,
            memory.and_then(|memory| memory.page_scan_rate),
        ),
        (Metric::RefaultRate, memory.and_then(|memory| memory.refault_rate)),
        (
            Metric::MajorFaultRate,
            memory.and_then(|memory| memory.major_fault_rate),
        ),
    ]
}

fn well_formed(buckets: &LatencyBuckets) -> bool {
    Histogram::new().add_buckets(buckets)
}

/// The text, as far as it is taken over.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use mco_proto::v1::{BlockMetrics, CacheMetrics, MemoryMetrics};

    use super::*;

    #[test]
    fn bad_fields_are_dropped_one_by_one() {
        let snapshot = MetricsSnapshot {
            cache: Some(CacheMetrics {
                miss_rate: Some(f64::NAN),
                occupancy_ratio: Some(0.5),
                ..Default::default()
            }),
            block: Some(BlockMetrics {
                p99_ms: Some(f64::INFINITY),
                p95_ms: Some(0.0),
                total_buckets: Some(LatencyBuckets {
                    slots: vec![2, 1],
                    counts: vec![1, 1],
                }),
                ..Default::default()
            }),
            psi_io: Some(PsiMetrics {
                some_avg10: Some(100.5),
                full_avg10: Some(3.0),
                ..Default::default()
            }),
            memory: Some(MemoryMetrics {
                available_ratio: Some(-0.1),
                ..Default::default()
            }),
            monotonic_ns: u64::MAX,
            ..Default::default()
        };
        let converted = convert(snapshot, Moment(5));
        let dropped: Vec<_> = converted.dropped.iter().map(|out| out.metric).collect();
        use Metric::{
            BioLatencyP95Ms, BioLatencyP99Ms, LlcMissRate, LlcOccupancy, MemAvailableRatio, PsiIoFullAvg10,
            PsiIoSomeAvg10,
        };
        assert_eq!(
            dropped,
            [LlcMissRate, BioLatencyP99Ms, PsiIoSomeAvg10, MemAvailableRatio]
        );
        let known: Vec<_> = converted.arrival.sample.readings.known().collect();
        assert_eq!(
            known,
            [(LlcOccupancy, 0.5), (BioLatencyP95Ms, 0.0), (PsiIoFullAvg10, 3.0)]
        );
        assert!(converted.bad_buckets && converted.arrival.sample.buckets.is_none());
    }

    #[test]
    fn texts_are_cut_to_what_is_worth_keeping() {
        let absent = (0..1000).map(|n| mco_proto::v1::Unavailable {
            source: format!("{n}{}", "x".repeat(1000)),
            reason: "y".repeat(1000),
            message: String::new(),
        });
        let snapshot = MetricsSnapshot {
            boot_id: "b".repeat(60_000),
            availability: Some(mco_proto::v1::Availability {
                absent: absent.collect(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let arrival = convert(snapshot, Moment(5)).arrival;
        assert_eq!(
            (arrival.boot_id.len(), arrival.unavailable.len()),
            (LONGEST_TEXT, MOST_SOURCES)
        );
        assert!(
            arrival
                .unavailable
                .iter()
                .all(|(source, reason)| source.len().max(reason.len()) <= LONGEST_TEXT)
        );
    }

    #[test]
    fn an_empty_message_is_a_sample_without_data() {
        let converted = convert(MetricsSnapshot::default(), Moment(5));
        assert_eq!(converted.arrival.sample.readings, Readings::NONE);
        assert!(converted.dropped.is_empty() && !converted.bad_buckets);
    }
}
