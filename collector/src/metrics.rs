//! What this collector shows to Prometheus. Names are those of the user guide, verbatim; an absent source has no
//! series, because a 0 would look like a calm node.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus::core::Collector as Metric;
use prometheus::{
    Encoder, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use crate::collector::Readings;
use crate::source::SourceName;
use crate::source::block::Percentiles;

/// Why a sample never reached the analyzer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The backlog was full, and newer samples are worth more.
    BacklogFull,
    /// It waited so long that the analyzer's window is past it.
    Expired,
    /// The analyzer asked for fewer samples and did not take this one.
    Throttled,
    /// The analyzer refused it.
    Rejected,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [DropReason; 4] = [
        DropReason::BacklogFull,
        DropReason::Expired,
        DropReason::Throttled,
        DropReason::Rejected,
    ];

    /// The value of the label `reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            DropReason::BacklogFull => "backlog_full",
            DropReason::Expired => "expired",
            DropReason::Throttled => "throttled",
            DropReason::Rejected => "rejected",
        }
    }
}

/// All metrics of one collector.
pub struct Metrics {
    registry: Registry,
    cache_miss_rate: OptionalGauge,
    llc_occupancy: OptionalGauge,
    bio_p95: OptionalGauge,
    bio_p99: OptionalGauge,
    bio_mean: OptionalGauge,
    bio_device_p95: OptionalGauge,
    bio_device_p99: OptionalGauge,
    bio_requests: OptionalGauge,
    psi_io_some: OptionalGauge,
    psi_io_full: OptionalGauge,
    psi_memory_some: OptionalGauge,
    psi_memory_full: OptionalGauge,
    mem_available_ratio: OptionalGauge,
    page_scan_rate: OptionalGauge,
    refault_rate: OptionalGauge,
    major_fault_rate: OptionalGauge,
    by_device: GaugeVec,
    /// Labels that `by_device` shows.
    device_rows: Mutex<BTreeSet<[String; 3]>>,
    collect_duration: HistogramVec,
    source_available: IntGaugeVec,
    reconnects: IntCounter,
    dropped: IntCounterVec,
    acknowledged: IntCounter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// A set of metrics with a registry of its own.
    ///
    /// # Panics
    /// Never: the names are fixed, and a test registers them all.
    pub fn new() -> Self {
        let registry = Registry::new();
        let gauge = |name: &str, help: &str| {
            OptionalGauge(register(&registry, GaugeVec::new(Opts::new(name, help), &[])))
        };
        let metrics = Self {
            cache_miss_rate: gauge(
                "mco_node_cache_miss_rate",
                "Last-level cache misses / references in the last interval, 0 to 1.",
            ),
            llc_occupancy: gauge(
                "mco_node_llc_occupancy_raw",
                "Share of the last-level cache in use, 0 to 1.",
            ),
            bio_p95: gauge(
                "mco_node_bio_latency_p95_ms_raw",
                "95th percentile of block latency (queue and device) in the last interval, in milliseconds.",
            ),
            bio_p99: gauge(
                "mco_node_bio_latency_p99_ms_raw",
                "99th percentile of block latency (queue and device) in the last interval, in milliseconds.",
            ),
            bio_mean: gauge(
                "mco_node_bio_latency_mean_ms_raw",
                "Mean block latency (queue and device) in the last interval, in milliseconds.",
            ),
            bio_device_p95: gauge(
                "mco_node_bio_service_p95_ms_raw",
                "95th percentile of the device's part of block latency in the last interval, in milliseconds.",
            ),
            bio_device_p99: gauge(
                "mco_node_bio_service_p99_ms_raw",
                "99th percentile of the device's part of block latency in the last interval, in milliseconds.",
            ),
            bio_requests: gauge(
                "mco_node_bio_requests_raw",
                "Block requests completed in the last interval.",
            ),
            psi_io_some: gauge(
                "mco_node_psi_io_some_avg10_raw",
                "Share of the last 10 s in which some task waited for I/O, in percent.",
            ),
            psi_io_full: gauge(
                "mco_node_psi_io_full_avg10_raw",
                "Share of the last 10 s in which all tasks waited for I/O, in percent.",
            ),
            psi_memory_some: gauge(
                "mco_node_psi_memory_some_avg10_raw",
                "Share of the last 10 s in which some task waited for memory, in percent.",
            ),
            psi_memory_full: gauge(
                "mco_node_psi_memory_full_avg10_raw",
                "Share of the last 10 s in which all tasks waited for memory, in percent.",
            ),
            mem_available_ratio: gauge(
                "mco_node_mem_available_ratio_raw",
                "MemAvailable / MemTotal, 0 to 1.",
            ),
            page_scan_rate: gauge(
                "mco_node_page_scan_rate_raw",
                "Pages scanned by reclaim per second.",
            ),
            refault_rate: gauge(
                "mco_node_refault_rate_raw",
                "Pages read back after reclaim per second.",
            ),
            major_fault_rate: gauge("mco_node_major_fault_rate_raw", "Major page faults per second."),
            by_device: register(
                &registry,
                GaugeVec::new(
                    Opts::new(
                        "mco_node_bio_device_latency_p99_ms_raw",
                        "99th percentile of block latency by device, operation and phase (total, queue, service) in the \
                         last interval, in milliseconds.",
                    ),
                    &["device", "operation", "phase"],
                ),
            ),
            device_rows: Mutex::default(),
            collect_duration: register(
                &registry,
                HistogramVec::new(
                    HistogramOpts::new(
                        "mco_collector_collect_duration_seconds",
                        "Time to read one source once.",
                    )
                    .buckets(vec![0.000_05, 0.000_2, 0.001, 0.005, 0.05, 0.5]),
                    &["source"],
                ),
            ),
            source_available: register(
                &registry,
                IntGaugeVec::new(
                    Opts::new(
                        "mco_collector_source_available",
                        "1 when the source gave a reading at the last sample, else 0.",
                    ),
                    &["source"],
                ),
            ),
            reconnects: register(
                &registry,
                IntCounter::new(
                    "mco_collector_stream_reconnects",
                    "Tries to open the stream to the analyzer again after it failed or ended.",
                ),
            ),
            dropped: register(
                &registry,
                IntCounterVec::new(
                    Opts::new(
                        "mco_collector_samples_dropped",
                        "Samples that never counted at the analyzer.",
                    ),
                    &["reason"],
                ),
            ),
            acknowledged: register(
                &registry,
                IntCounter::new(
                    "mco_collector_samples_acknowledged",
                    "Samples that the analyzer took.",
                ),
            ),
            registry: registry.clone(),
        };
        for reason in DropReason::ALL {
            metrics.dropped.with_label_values(&[reason.as_str()]);
        }
        metrics
    }

    /// Everything in Prometheus text format 0.0.4.
    ///
    /// # Errors
    /// When the encoder fails, which only a broken registry could cause.
    pub fn encode(&self) -> prometheus::Result<String> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The content type that belongs to [`Metrics::encode`].
    pub fn content_type() -> &'static str {
        prometheus::TEXT_FORMAT
    }

    /// Shows the readings of one sample, and takes away the series of sources that have none.
    pub fn publish(&self, readings: &Readings) {
        self.cache_miss_rate
            .set(readings.miss_rate.as_ref().ok().copied());
        self.llc_occupancy
            .set(readings.occupancy.as_ref().ok().map(|occupancy| occupancy.ratio));
        let block = readings.block.as_ref().ok();
        self.bio_mean.set(block.map(|block| block.mean_ms));
        self.bio_requests.set(block.map(|block| block.ios as f64));
        self.publish_percentiles(block.and_then(|block| block.percentiles.as_ref().ok()));
        let psi_io = readings.psi_io.as_ref().ok();
        self.psi_io_some.set(psi_io.and_then(|psi| psi.some_avg10));
        self.psi_io_full.set(psi_io.and_then(|psi| psi.full_avg10));
        let psi_memory = readings.psi_memory.as_ref().ok();
        self.psi_memory_some
            .set(psi_memory.and_then(|psi| psi.some_avg10));
        self.psi_memory_full
            .set(psi_memory.and_then(|psi| psi.full_avg10));
        self.mem_available_ratio
            .set(readings.available_ratio.as_ref().ok().copied());
        let rates = readings.rates.as_ref().ok();
        self.page_scan_rate.set(rates.and_then(|rates| rates.page_scan));
        self.refault_rate.set(rates.and_then(|rates| rates.refault));
        self.major_fault_rate
            .set(rates.and_then(|rates| rates.major_fault));
    }

    fn publish_percentiles(&self, percentiles: Option<&Percentiles>) {
        self.bio_p95.set(percentiles.map(|p| p.p95_ms));
        self.bio_p99.set(percentiles.map(|p| p.p99_ms));
        self.bio_device_p95.set(percentiles.map(|p| p.device_p95_ms));
        self.bio_device_p99.set(percentiles.map(|p| p.device_p99_ms));
        let mut shown = BTreeSet::new();
        for row in percentiles
            .into_iter()
            .flat_map(|percentiles| &percentiles.by_device)
        {
            let operation = row.operation.as_str();
            for (phase, value) in [
                ("total", row.p99_ms),
                ("queue", row.queue_p99_ms),
                ("service", row.device_p99_ms),
            ] {
                let labels = [row.device.as_str(), operation, phase];
                self.by_device.with_label_values(&labels).set(value);
                shown.insert(labels.map(str::to_owned));
            }
        }
        // Only what is gone is removed, so that a scrape in this moment misses nothing.
        let mut before = self.device_rows.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in before.difference(&shown) {
            let _ = self
                .by_device
                .remove_label_values(&gone.each_ref().map(String::as_str));
        }
        *before = shown;
    }

    /// Shows whether a source gave a reading.
    pub fn set_available(&self, source: SourceName, available: bool) {
        self.source_available
            .with_label_values(&[source.as_str()])
            .set(available.into());
    }

    /// Counts the time one source took.
    pub fn observe_duration(&self, source: SourceName, took: Duration) {
        self.collect_duration
            .with_label_values(&[source.as_str()])
            .observe(took.as_secs_f64());
    }

    /// Counts a try to open the stream again.
    pub fn reconnected(&self) {
        self.reconnects.inc();
    }

    /// Tries so far to open the stream again.
    pub fn reconnects(&self) -> u64 {
        self.reconnects.get()
    }

    /// Counts samples that were lost.
    pub fn dropped(&self, reason: DropReason, count: u64) {
        self.dropped.with_label_values(&[reason.as_str()]).inc_by(count);
    }

    /// Samples lost so far for one reason.
    pub fn dropped_so_far(&self, reason: DropReason) -> u64 {
        self.dropped.with_label_values(&[reason.as_str()]).get()
    }

    /// Counts a sample that the analyzer took.
    pub fn acknowledged(&self, count: u64) {
        self.acknowledged.inc_by(count);
    }

    /// Samples the analyzer took so far.
    pub fn acknowledged_so_far(&self) -> u64 {
        self.acknowledged.get()
    }
}

/// A gauge without labels that can be absent.
struct OptionalGauge(GaugeVec);

impl OptionalGauge {
    fn set(&self, value: Option<f64>) {
        match value {
            Some(value) => self.0.with_label_values::<&str>(&[]).set(value),
            None => self.0.reset(),
        }
    }
}

fn register<M: Metric + Clone + 'static>(registry: &Registry, metric: prometheus::Result<M>) -> M {
    let metric = metric.expect("names and labels are fixed and valid");
    registry
        .register(Box::new(metric.clone()))
        .expect("each name is registered once");
    metric
}

#[cfg(test)]
mod tests;
