//! One sample of the node: all sources read, put into the message for the analyzer and into the metrics.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mco_proto::v1;
use rustix::time::{ClockId, clock_gettime};

use crate::availability::Availability;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::source::block::{BlockReading, BlockSource};
use crate::source::llc::{CacheDomains, MissRateSource, Occupancy, OccupancySource};
use crate::source::memory::{MemoryRates, MemorySource};
use crate::source::psi::{Psi, PsiSource};
use crate::source::{Reading, Reason, SourceName, Unavailable};

/// Samples after which the cache sizes are read again; CPUs may come and go.
const SIZES_EVERY: u64 = 600;

/// Senses one node.
pub struct Collector {
    node_name: String,
    boot_id: String,
    sequence: u64,
    last: Option<Duration>,
    psi_io: PsiSource,
    psi_memory: PsiSource,
    memory: MemorySource,
    block: BlockSource,
    miss_rate: MissRateSource,
    occupancy: OccupancySource,
    sys: std::path::PathBuf,
    sizes: Reading<CacheDomains>,
    availability: Availability,
    metrics: Arc<Metrics>,
}

impl Collector {
    /// A collector for the node that `config` describes, with metrics of its own. Nothing is read yet.
    pub fn new(config: &Config) -> Self {
        Self::with_metrics(config, Arc::new(Metrics::new()))
    }

    /// As [`Collector::new`], publishing into metrics that are shown elsewhere.
    pub fn with_metrics(config: &Config, metrics: Arc<Metrics>) -> Self {
        let (proc, sys) = (&config.host_proc, &config.host_sys);
        let kernel_boot = std::fs::read_to_string(proc.join("sys/kernel/random/boot_id")).unwrap_or_default();
        Self {
            node_name: config.node_name.clone(),
            // The counters of a collector start over with it, so its start belongs to the name.
            boot_id: format!("{}.{:x}", kernel_boot.trim(), monotonic().as_nanos()),
            sequence: 0,
            last: None,
            psi_io: PsiSource::new(proc, "io"),
            psi_memory: PsiSource::new(proc, "memory"),
            memory: MemorySource::new(proc),
            block: BlockSource::new(proc, sys),
            miss_rate: MissRateSource::new(proc, sys),
            occupancy: OccupancySource::new(sys),
            sys: sys.clone(),
            sizes: Err(Unavailable::warming("cache sizes")),
            availability: Availability::new(),
            metrics,
        }
    }

    /// Where this collector publishes.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Reads all sources. Takes a fraction of a millisecond, the first call up to half a second: it loads the probe.
    /// Rates cover the time since the last call, so the first sample has none.
    pub fn sample(&mut self) -> v1::MetricsSnapshot {
        if self.sequence.is_multiple_of(SIZES_EVERY) {
            self.sizes = CacheDomains::read(&self.sys);
        }
        let now = monotonic();
        let sampled_at = SystemTime::now();
        let metrics = Arc::clone(&self.metrics);
        let readings = Readings {
            psi_io: timed(&metrics, SourceName::PsiIo, || self.psi_io.read()),
            psi_memory: timed(&metrics, SourceName::PsiMemory, || self.psi_memory.read()),
            available_ratio: timed(&metrics, SourceName::Mem, || self.memory.available_ratio()),
            rates: timed(&metrics, SourceName::Scan, || self.memory.rates(monotonic())),
            block: timed(&metrics, SourceName::Bio, || self.block.read(monotonic())),
            miss_rate: timed(&metrics, SourceName::Llc, || self.miss_rate.read()),
            occupancy: timed(&metrics, SourceName::LlcOccupancy, || match &self.sizes {
                Ok(sizes) => self.occupancy.read(sizes),
                Err(why) => Err(why.clone()),
            }),
            llc_bytes: self.sizes.as_ref().ok().map(CacheDomains::total_bytes),
        };
        for source in SourceName::ALL {
            let absent = readings.absence(source);
            self.metrics.set_available(source, absent.is_none());
            self.availability.observe(source, absent.as_ref());
        }
        self.metrics.publish(&readings);

        self.sequence += 1;
        let interval = self.last.map_or(Duration::ZERO, |last| now.saturating_sub(last));
        self.last = Some(now);
        v1::MetricsSnapshot {
            node_name: self.node_name.clone(),
            boot_id: self.boot_id.clone(),
            collector_version: env!("CARGO_PKG_VERSION").to_owned(),
            sequence: self.sequence,
            sampled_at: Some(sampled_at.into()),
            monotonic_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
            interval_ms: u32::try_from(interval.as_millis()).unwrap_or(u32::MAX),
            spooled_ms: 0,
            cache: readings.cache(),
            block: readings.block.as_ref().ok().map(block_message),
            psi_io: readings.psi_io.as_ref().ok().map(psi_message),
            psi_memory: readings.psi_memory.as_ref().ok().map(psi_message),
            memory: readings.memory(),
            availability: Some(readings.availability()),
        }
    }
}

/// What all sources said at one sample.
#[derive(Debug, Clone)]
pub struct Readings {
    /// I/O pressure.
    pub psi_io: Reading<Psi>,
    /// Memory pressure.
    pub psi_memory: Reading<Psi>,
    /// MemAvailable / MemTotal.
    pub available_ratio: Reading<f64>,
    /// Rates of reclaim and faults.
    pub rates: Reading<MemoryRates>,
    /// Block latency.
    pub block: Reading<BlockReading>,
    /// Misses / references of the last-level cache.
    pub miss_rate: Reading<f64>,
    /// Use of the last-level cache.
    pub occupancy: Reading<Occupancy>,
    /// Size of the last-level cache in bytes.
    pub llc_bytes: Option<u64>,
}

impl Readings {
    /// Why a source has no reading; none when it has one.
    pub fn absence(&self, source: SourceName) -> Option<Unavailable> {
        match source {
            SourceName::Llc => self.miss_rate.as_ref().err().cloned(),
            SourceName::LlcOccupancy => self.occupancy.as_ref().err().cloned(),
            SourceName::Bio => match &self.block {
                Ok(block) => block.percentiles.as_ref().err().cloned(),
                Err(why) => Some(why.clone()),
            },
            SourceName::PsiIo => self.psi_io.as_ref().err().cloned(),
            SourceName::PsiMemory => self.psi_memory.as_ref().err().cloned(),
            SourceName::Mem => self.available_ratio.as_ref().err().cloned(),
            SourceName::Scan => match &self.rates {
                Ok(MemoryRates {
                    page_scan: Some(_), ..
                }) => None,
                Ok(_) => Some(Unavailable::new(
                    Reason::Busy,
                    "vmstat: no page scan counter to compare with",
                )),
                Err(why) => Some(why.clone()),
            },
        }
    }

    fn cache(&self) -> Option<v1::CacheMetrics> {
        let occupancy = self.occupancy.as_ref().ok();
        let cache = v1::CacheMetrics {
            miss_rate: self.miss_rate.as_ref().ok().copied(),
            occupancy_ratio: occupancy.map(|occupancy| occupancy.ratio),
            llc_bytes: self.llc_bytes,
            max_domain_occupancy_ratio: occupancy.map(|occupancy| occupancy.max_domain_ratio),
        };
        (cache != v1::CacheMetrics::default()).then_some(cache)
    }

    fn memory(&self) -> Option<v1::MemoryMetrics> {
        let rates = self.rates.as_ref().copied().unwrap_or_default();
        let memory = v1::MemoryMetrics {
            available_ratio: self.available_ratio.as_ref().ok().copied(),
            page_scan_rate: rates.page_scan,
            refault_rate: rates.refault,
            major_fault_rate: rates.major_fault,
        };
        (memory != v1::MemoryMetrics::default()).then_some(memory)
    }

    fn availability(&self) -> v1::Availability {
        let has = |source| self.absence(source).is_none();
        let absent = |source| {
            let why: Unavailable = self.absence(source)?;
            let (reason, message) = (why.reason.as_str().to_owned(), why.message);
            Some(v1::Unavailable {
                source: SourceName::as_str(source).to_owned(),
                reason,
                message,
            })
        };
        v1::Availability {
            llc: has(SourceName::Llc),
            bio: has(SourceName::Bio),
            psi_io: has(SourceName::PsiIo),
            psi_memory: has(SourceName::PsiMemory),
            mem: has(SourceName::Mem),
            scan: has(SourceName::Scan),
            llc_occupancy: has(SourceName::LlcOccupancy),
            absent: SourceName::ALL.into_iter().filter_map(absent).collect(),
        }
    }
}

fn psi_message(psi: &Psi) -> v1::PsiMetrics {
    v1::PsiMetrics {
        some_avg10: psi.some_avg10,
        full_avg10: psi.full_avg10,
        some_total_us: psi.some_total_us,
        full_total_us: psi.full_total_us,
    }
}

fn block_message(block: &BlockReading) -> v1::BlockMetrics {
    let percentiles = block.percentiles.as_ref().ok();
    v1::BlockMetrics {
        p95_ms: percentiles.map(|p| p.p95_ms),
        p99_ms: percentiles.map(|p| p.p99_ms),
        ios: Some(block.ios),
        mean_ms: Some(block.mean_ms),
        device_p95_ms: percentiles.map(|p| p.device_p95_ms),
        device_p99_ms: percentiles.map(|p| p.device_p99_ms),
        total_buckets: percentiles.map(|p| p.total.to_buckets()),
    }
}

fn timed<T>(metrics: &Metrics, source: SourceName, read: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let reading = read();
    metrics.observe_duration(source, start.elapsed());
    reading
}

/// Time on the node's monotonic clock.
fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(
        now.tv_sec.try_into().unwrap_or(0),
        now.tv_nsec.try_into().unwrap_or(0),
    )
}
