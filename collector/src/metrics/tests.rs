//! Names, types and presence of metrics.

use super::*;
use crate::source::block::{BlockReading, DeviceLatency, Operation};
use crate::source::llc::Occupancy;
use crate::source::memory::MemoryRates;
use crate::source::psi::Psi;
use crate::source::{Reason, Unavailable};
use mco_proto::latency::Histogram;

fn all_present() -> Readings {
    let psi = Psi {
        some_avg10: Some(1.0),
        full_avg10: Some(0.5),
        ..Psi::default()
    };
    let percentiles = Percentiles {
        p95_ms: 1.0,
        p99_ms: 2.0,
        device_p95_ms: 0.5,
        device_p99_ms: 0.75,
        total: Histogram::new(),
        by_device: vec![DeviceLatency {
            device: "vda".into(),
            operation: Operation::Read,
            ios: 1,
            p99_ms: 2.0,
            queue_p99_ms: 1.25,
            device_p99_ms: 0.75,
        }],
    };
    Readings {
        psi_io: Ok(psi),
        psi_memory: Ok(psi),
        available_ratio: Ok(0.5),
        rates: Ok(MemoryRates {
            page_scan: Some(1.0),
            refault: Some(2.0),
            major_fault: Some(3.0),
        }),
        block: Ok(BlockReading {
            ios: 10,
            mean_ms: 0.5,
            percentiles: Ok(percentiles),
        }),
        miss_rate: Ok(0.25),
        occupancy: Ok(Occupancy {
            bytes: 1,
            ratio: 0.5,
            max_domain_ratio: 0.5,
            domains: 1,
        }),
        llc_bytes: Some(1),
    }
}

fn absent() -> Readings {
    fn none<T>() -> crate::source::Reading<T> {
        Err(Unavailable::new(Reason::NotSupported, "not here"))
    }
    Readings {
        psi_io: none(),
        psi_memory: none(),
        available_ratio: none(),
        rates: none(),
        block: none(),
        miss_rate: none(),
        occupancy: none(),
        llc_bytes: None,
    }
}

fn names_and_types(metrics: &Metrics) -> Vec<String> {
    let text = metrics.encode().unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(str::to_owned)
        .collect()
}

const NODE: [&str; 17] = [
    "mco_node_bio_device_latency_p99_ms_raw gauge",
    "mco_node_bio_latency_mean_ms_raw gauge",
    "mco_node_bio_latency_p95_ms_raw gauge",
    "mco_node_bio_latency_p99_ms_raw gauge",
    "mco_node_bio_requests_raw gauge",
    "mco_node_bio_service_p95_ms_raw gauge",
    "mco_node_bio_service_p99_ms_raw gauge",
    "mco_node_cache_miss_rate gauge",
    "mco_node_llc_occupancy_raw gauge",
    "mco_node_major_fault_rate_raw gauge",
    "mco_node_mem_available_ratio_raw gauge",
    "mco_node_page_scan_rate_raw gauge",
    "mco_node_psi_io_full_avg10_raw gauge",
    "mco_node_psi_io_some_avg10_raw gauge",
    "mco_node_psi_memory_full_avg10_raw gauge",
    "mco_node_psi_memory_some_avg10_raw gauge",
    "mco_node_refault_rate_raw gauge",
];

const OWN: [&str; 5] = [
    "mco_collector_collect_duration_seconds histogram",
    "mco_collector_samples_acknowledged counter",
    "mco_collector_samples_dropped counter",
    "mco_collector_source_available gauge",
    "mco_collector_stream_reconnects counter",
];

#[test]
fn every_name_and_type_is_as_documented() {
    let metrics = Metrics::new();
    metrics.publish(&all_present());
    metrics.set_available(SourceName::Bio, true);
    metrics.observe_duration(SourceName::Bio, Duration::from_micros(100));
    assert_eq!(
        names_and_types(&metrics),
        [OWN.as_slice(), NODE.as_slice()].concat()
    );
}

#[test]
fn a_source_that_goes_away_takes_its_series_with_it() {
    let metrics = Metrics::new();
    metrics.publish(&all_present());
    metrics.publish(&absent());
    let left = names_and_types(&metrics);
    assert!(left.iter().all(|name| !name.starts_with("mco_node_")), "{left:?}");
    metrics.publish(&all_present());
    assert!(names_and_types(&metrics).contains(&"mco_node_cache_miss_rate gauge".to_owned()));
}

#[test]
fn without_percentiles_the_mean_still_shows() {
    let metrics = Metrics::new();
    let mut readings = all_present();
    let why = Unavailable::new(Reason::NoPermission, "no");
    readings.block = Ok(BlockReading {
        ios: 4,
        mean_ms: 2.5,
        percentiles: Err(why),
    });
    metrics.publish(&readings);
    let text = metrics.encode().unwrap();
    assert!(
        text.contains("\nmco_node_bio_latency_mean_ms_raw 2.5\n"),
        "{text}"
    );
    assert!(!text.contains("p99"), "{text}");
}

#[test]
fn a_device_that_is_gone_takes_its_series_with_it_and_the_others_stay() {
    let metrics = Metrics::new();
    let mut readings = all_present();
    let Ok(BlockReading {
        percentiles: Ok(percentiles),
        ..
    }) = &mut readings.block
    else {
        unreachable!()
    };
    let vdb = DeviceLatency {
        device: "vdb".into(),
        ..percentiles.by_device[0].clone()
    };
    percentiles.by_device.push(vdb);
    metrics.publish(&readings);
    metrics.publish(&all_present());
    let text = metrics.encode().unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("device=")).collect();
    assert_eq!(
        rows,
        [
            "mco_node_bio_device_latency_p99_ms_raw{device=\"vda\",operation=\"read\",phase=\"queue\"} 1.25",
            "mco_node_bio_device_latency_p99_ms_raw{device=\"vda\",operation=\"read\",phase=\"service\"} 0.75",
            "mco_node_bio_device_latency_p99_ms_raw{device=\"vda\",operation=\"read\",phase=\"total\"} 2",
        ]
    );
}
