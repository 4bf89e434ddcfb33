//! The whole collector over fixture trees: what it reports for nodes that have much, little, and nothing.

use std::fs;

use mco_collector::{Collector, Config};
use mco_proto::v1;
use proptest::prelude::*;

struct Node(tempfile::TempDir);

impl Node {
    fn new() -> Self {
        let node = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(node.0.path().join("proc")).unwrap();
        fs::create_dir_all(node.0.path().join("sys/devices")).unwrap();
        node
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn collector(&self) -> Collector {
        Collector::new(&Config {
            host_proc: self.0.path().join("proc"),
            host_sys: self.0.path().join("sys"),
            ..Config::for_node("n1")
        })
    }
}

fn reasons(sample: &v1::MetricsSnapshot) -> Vec<String> {
    let absent = &sample.availability.as_ref().unwrap().absent;
    absent
        .iter()
        .map(|why| format!("{} {}", why.source, why.reason))
        .collect()
}

fn shown(collector: &Collector) -> Vec<String> {
    let text = collector.metrics().encode().unwrap();
    text.lines()
        .filter(|line| line.starts_with("mco_node_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_node_with_nothing_reports_nothing_and_why() {
    let node = Node::new();
    let mut collector = node.collector();
    let sample = collector.sample();
    assert_eq!(
        (sample.cache, sample.block.clone(), sample.psi_io, sample.memory),
        (None, None, None, None)
    );
    assert_eq!(
        reasons(&sample),
        [
            "llc not_supported",
            "llc_occupancy not_supported",
            "bio not_supported",
            "psi_io not_supported",
            "psi_memory not_supported",
            "mem not_supported",
            "scan not_supported",
        ]
    );
    assert_eq!(shown(&collector), Vec::<String>::new(), "absent is not zero");
}

#[test]
fn sources_that_come_back_are_picked_up_without_a_restart() {
    let node = Node::new();
    let mut collector = node.collector();
    let first = collector.sample();
    node.write("proc/pressure/io", "some avg10=12.50 total=9\n");
    node.write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\n");
    node.write("proc/vmstat", "pgscan_kswapd 7\n");
    node.write("proc/diskstats", "8 0 sda 100 0 800 1000 0 0 0 0 0 0 0\n");
    let second = collector.sample();
    assert_eq!(second.psi_io.unwrap().some_avg10, Some(12.5));
    assert_eq!(
        second.psi_io.unwrap().full_avg10,
        None,
        "this kernel has no such line"
    );
    assert_eq!(second.memory.unwrap().available_ratio, Some(0.4));
    assert_eq!(
        second.memory.unwrap().page_scan_rate,
        None,
        "a rate needs two samples"
    );
    assert!(
        reasons(&second).contains(&"scan warming".to_owned()),
        "{:?}",
        reasons(&second)
    );

    node.write("proc/diskstats", "8 0 sda 104 0 832 1010 0 0 0 0 0 0 0\n");
    let third = collector.sample();
    assert_eq!(third.memory.unwrap().page_scan_rate, Some(0.0));
    let block = third.block.clone().unwrap();
    assert_eq!(
        (block.ios, block.mean_ms, block.p99_ms, block.total_buckets),
        (Some(4), Some(2.5), None, None)
    );
    assert!(
        !third.availability.as_ref().unwrap().bio,
        "a mean is no percentile"
    );
    assert!(
        shown(&collector).contains(&"mco_node_psi_io_some_avg10_raw 12.5".to_owned()),
        "{:?}",
        shown(&collector)
    );

    node.write("proc/pressure/io", "");
    let fourth = collector.sample();
    assert_eq!(fourth.psi_io, None);
    assert!(reasons(&fourth).contains(&"psi_io malformed".to_owned()));
    assert!(
        shown(&collector).iter().all(|line| !line.contains("psi_io")),
        "{:?}",
        shown(&collector)
    );

    let sequences = [&first, &second, &third, &fourth].map(|sample| sample.sequence);
    assert_eq!(sequences, [1, 2, 3, 4]);
    assert!(first.monotonic_ns < second.monotonic_ns && second.monotonic_ns < third.monotonic_ns);
    assert_eq!(first.interval_ms, 0);
    assert!(first.boot_id == fourth.boot_id && !first.boot_id.is_empty());
}

#[test]
fn cache_occupancy_is_the_share_of_the_cache_that_the_cpus_name() {
    let node = Node::new();
    for (file, text) in [
        ("level", "3"),
        ("type", "Unified"),
        ("id", "0"),
        ("size", "32768K"),
        ("shared_cpu_list", "0-1"),
    ] {
        node.write(&format!("sys/devices/system/cpu/cpu0/cache/index3/{file}"), text);
    }
    node.write("sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\n");
    node.write("sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy", "8388608\n");
    let cache = node.collector().sample().cache.unwrap();
    assert_eq!(
        (cache.occupancy_ratio, cache.llc_bytes, cache.miss_rate),
        (Some(0.25), Some(32 << 20), None)
    );
}

#[test]
fn this_machine_is_sampled_with_the_values_in_range() {
    let mut collector = Collector::new(&Config::for_node("here"));
    let _ = collector.sample();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let sample = collector.sample();
    assert!(sample.interval_ms >= 50, "{}", sample.interval_ms);
    let memory = sample.memory.expect("every Linux has /proc/meminfo");
    assert!(
        (0.0..=1.0).contains(&memory.available_ratio.unwrap()),
        "{memory:?}"
    );
    for share in sample
        .psi_io
        .into_iter()
        .chain(sample.psi_memory)
        .flat_map(|psi| [psi.some_avg10, psi.full_avg10])
    {
        assert!(
            share.is_none_or(|share| (0.0..=100.0).contains(&share)),
            "{share:?}"
        );
    }
    if let Some(v1::BlockMetrics {
        p95_ms: Some(p95),
        p99_ms: Some(p99),
        total_buckets,
        ios,
        ..
    }) = &sample.block
    {
        assert!(0.0 <= *p95 && p95 <= p99, "{p95} {p99}");
        let counted: u64 = total_buckets.as_ref().unwrap().counts.iter().sum();
        assert_eq!(Some(counted), *ios);
    }
    assert!(mco_proto_size(&sample) < mco_proto::MAX_MESSAGE_BYTES);
}

fn mco_proto_size(sample: &v1::MetricsSnapshot) -> usize {
    prost::Message::encoded_len(sample)
}

const FILES: [&str; 12] = [
    "proc/pressure/io",
    "proc/pressure/memory",
    "proc/meminfo",
    "proc/vmstat",
    "proc/diskstats",
    "sys/devices/system/cpu/cpu0/cache/index3/level",
    "sys/devices/system/cpu/cpu0/cache/index3/type",
    "sys/devices/system/cpu/cpu0/cache/index3/size",
    "sys/devices/system/cpu/cpu0/cache/index3/id",
    "sys/fs/resctrl/schemata",
    "sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy",
    "sys/fs/resctrl/info/L3_MON/mon_features",
];

/// Something like what stands in such files, cut and mixed, or nothing of the kind.
fn odd_content() -> impl Strategy<Value = Vec<u8>> {
    let known = "some avg10=50.00 avg60=1.00 avg300=0.00 total=18446744073709551615\nfull avg10=1e300\nMemTotal: 1 kB\n\
                 MemAvailable: 18446744073709551615 kB\npgscan_kswapd 18446744073709551615\npgscan_direct 9\n\
                 pgmajfault -1\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\nUnified\n3\n32768K\n99999999999999999999M\nUnavailable\n";
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        (0..known.len(), 0..known.len())
            .prop_map(move |(a, b)| known.as_bytes()[a.min(b)..a.max(b)].to_vec()),
        Just(known.as_bytes().to_vec()),
        Just(b"Unified".to_vec()),
        Just(b"3".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn odd_files_never_panic_and_never_leave_the_range(
        first in prop::collection::vec(odd_content(), FILES.len()),
        second in prop::collection::vec(odd_content(), FILES.len()),
    ) {
        let node = Node::new();
        let mut collector = node.collector();
        for contents in [first, second] {
            for (file, content) in FILES.iter().zip(contents) {
                node.write(file, content);
            }
            let sample = collector.sample();
            let ratios = [
                sample.cache.and_then(|cache| cache.miss_rate),
                sample.cache.and_then(|cache| cache.occupancy_ratio),
                sample.cache.and_then(|cache| cache.max_domain_occupancy_ratio),
                sample.memory.and_then(|memory| memory.available_ratio),
            ];
            prop_assert!(ratios.into_iter().flatten().all(|ratio| (0.0..=1.0).contains(&ratio)), "{ratios:?}");
            let rates = [
                sample.memory.and_then(|memory| memory.page_scan_rate),
                sample.memory.and_then(|memory| memory.refault_rate),
                sample.block.as_ref().and_then(|block| block.mean_ms),
            ];
            prop_assert!(rates.into_iter().flatten().all(|rate| rate >= 0.0 && rate.is_finite()), "{rates:?}");
            collector.metrics().encode().unwrap();
        }
    }
}
