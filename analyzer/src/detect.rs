//! From a window's means to indices, detections and penalties. Imports nothing but std and this crate's other
//! arithmetic.

use crate::level::{self, Dimensions, Penalty};
use crate::metric::{Metric, Readings};
use crate::rules::values::{Rules, Saturation};

/// What can be said about a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// Whether the figures below count.
    pub status: Status,
    /// Which sources gave data.
    pub availability: Availability,
    /// True when memory is judged by available memory and page scans, for want of memory pressure figures.
    pub degraded: bool,
    /// True when the cache's occupancy is unknown and its threshold was taken instead.
    pub occupancy_assumed: bool,
    /// The index of each dimension that has data, 0 to 1.
    pub indices: Dimensions,
    /// The weight of each dimension that has data, after redistribution and penalties; empty without a level.
    pub weights: Dimensions,
    /// How strong the interference is, 0 to 1; `None` unless `status` is ok.
    pub level: Option<f64>,
    /// What crossed its thresholds, sorted by name.
    pub detections: Vec<Detection>,
}

/// Whether an assessment counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is a level.
    Ok,
    /// There was no sample in the window.
    Stale,
    /// There were samples, but no dimension with a weight has data.
    Error,
}

/// Which sources gave data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// Cache miss rate.
    pub llc: bool,
    /// Block I/O latency.
    pub bio_latency: bool,
    /// I/O pressure.
    pub psi_io: bool,
    /// Memory pressure.
    pub psi_memory: bool,
    /// Available memory.
    pub mem_available: bool,
    /// Page scans.
    pub page_scan: bool,
}

impl Availability {
    /// True when pressure figures of both I/O and memory are present.
    pub fn psi(self) -> bool {
        self.psi_io && self.psi_memory
    }
}

/// A kind of interference. Ordered by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DetectionKind {
    /// Many misses in a full cache.
    CachePollution,
    /// Slow requests while tasks wait for I/O.
    IoQueueCongestion,
    /// Tasks wait for memory, or it runs short.
    MemoryPressure,
}

impl DetectionKind {
    /// Every kind, by name.
    pub const ALL: [DetectionKind; 3] = [
        DetectionKind::CachePollution,
        DetectionKind::IoQueueCongestion,
        DetectionKind::MemoryPressure,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            DetectionKind::CachePollution => "CachePollution",
            DetectionKind::IoQueueCongestion => "IOQueueCongestion",
            DetectionKind::MemoryPressure => "MemoryPressure",
        }
    }
}

/// Interference that crossed its thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Which kind.
    pub kind: DetectionKind,
    /// How far towards saturation, 0 to 1.
    pub severity: f64,
    /// The values that crossed.
    pub crossings: Vec<Crossing>,
}

/// A value on the wrong side of its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Which metric.
    pub metric: Metric,
    /// Its mean over the window.
    pub value: f64,
    /// The threshold it is above, or below for available memory.
    pub threshold: f64,
}

/// Judges a window's means; `None` when the window holds no sample.
pub fn assess(window: Option<&Readings>, rules: &Rules) -> Assessment {
    let Some(readings) = window else {
        return nothing(Status::Stale);
    };
    let availability = availability(readings);
    let indices = Dimensions {
        cache: cache_index(readings, rules),
        memory: memory_index(readings, rules),
        io: io_index(readings, rules),
    };
    let weighed = level::weigh(&rules.weights, &indices, &penalties(readings, rules));
    Assessment {
        status: if weighed.is_some() {
            Status::Ok
        } else {
            Status::Error
        },
        availability,
        degraded: !availability.psi_memory && indices.memory.is_some(),
        occupancy_assumed: availability.llc && readings.get(Metric::LlcOccupancy).is_none(),
        indices,
        weights: weighed.map(|weighed| weighed.weights).unwrap_or_default(),
        level: weighed.map(|weighed| weighed.level),
        detections: DetectionKind::ALL
            .into_iter()
            .filter_map(|kind| detect(kind, readings, rules))
            .collect(),
    }
}

fn nothing(status: Status) -> Assessment {
    Assessment {
        status,
        availability: Availability::default(),
        degraded: false,
        occupancy_assumed: false,
        indices: Dimensions::default(),
        weights: Dimensions::default(),
        level: None,
        detections: Vec::new(),
    }
}

fn availability(readings: &Readings) -> Availability {
    let has = |metric| readings.get(metric).is_some();
    Availability {
        llc: has(Metric::LlcMissRate),
        bio_latency: has(Metric::BioLatencyP99Ms),
        psi_io: has(Metric::PsiIoSomeAvg10),
        psi_memory: has(Metric::PsiMemorySomeAvg10) || has(Metric::PsiMemoryFullAvg10),
        mem_available: has(Metric::MemAvailableRatio),
        page_scan: has(Metric::PageScanRate),
    }
}

fn cache_index(readings: &Readings, rules: &Rules) -> Option<f64> {
    let occupancy = readings
        .get(Metric::LlcOccupancy)
        .unwrap_or(rules.thresholds.llc_occupancy);
    Some(share(
        readings.get(Metric::LlcMissRate)? * occupancy,
        rules.saturation.cache_product,
    ))
}

fn memory_index(readings: &Readings, rules: &Rules) -> Option<f64> {
    let worst = largest(
        readings.get(Metric::PsiMemorySomeAvg10),
        readings.get(Metric::PsiMemoryFullAvg10),
    );
    if let Some(worst) = worst {
        return Some(share(worst, rules.saturation.psi_memory));
    }
    let short_below = rules.degraded_memory.mem_available_ratio_threshold;
    let missing = readings
        .get(Metric::MemAvailableRatio)
        .map(|ratio| share(short_below - ratio, short_below));
    let scanning = readings
        .get(Metric::PageScanRate)
        .map(|rate| share(rate, rules.degraded_memory.page_scan_rate_threshold));
    largest(missing, scanning)
}

fn io_index(readings: &Readings, rules: &Rules) -> Option<f64> {
    let latency = readings
        .get(Metric::BioLatencyP99Ms)
        .map(|value| share(value, rules.saturation.bio_latency_p99_ms));
    let pressure = readings
        .get(Metric::PsiIoSomeAvg10)
        .map(|value| share(value, rules.saturation.psi_io));
    match (latency, pressure) {
        (Some(latency), Some(pressure)) => Some((latency + pressure) / 2.0),
        (one, other) => one.or(other),
    }
}

fn detect(kind: DetectionKind, readings: &Readings, rules: &Rules) -> Option<Detection> {
    let crossings = match kind {
        DetectionKind::CachePollution => cache_crossings(readings, rules),
        DetectionKind::IoQueueCongestion => io_crossings(readings, rules),
        DetectionKind::MemoryPressure => memory_crossings(readings, rules),
    };
    if crossings.is_empty() {
        return None;
    }
    let severity = match kind {
        // The cache has one saturation, for the product of its two inputs.
        DetectionKind::CachePollution => share(
            crossings.iter().map(|crossing| crossing.value).product(),
            rules.saturation.cache_product,
        ),
        _ => crossings
            .iter()
            .map(|crossing| severity(crossing, &rules.saturation))
            .fold(0.0, f64::max),
    };
    Some(Detection {
        kind,
        severity,
        crossings,
    })
}

fn severity(crossing: &Crossing, saturation: &Saturation) -> f64 {
    match crossing.metric {
        Metric::BioLatencyP99Ms => share(crossing.value, saturation.bio_latency_p99_ms),
        Metric::PsiIoSomeAvg10 => share(crossing.value, saturation.psi_io),
        Metric::PsiMemorySomeAvg10 | Metric::PsiMemoryFullAvg10 => {
            share(crossing.value, saturation.psi_memory)
        }
        _ => 1.0,
    }
}

/// Both known and both above.
fn cache_crossings(readings: &Readings, rules: &Rules) -> Vec<Crossing> {
    let both = [
        above(readings, Metric::LlcMissRate, rules.thresholds.cache_miss_rate),
        above(readings, Metric::LlcOccupancy, rules.thresholds.llc_occupancy),
    ];
    all_of(&both)
}

/// Every known input above; one absent, the other decides.
fn io_crossings(readings: &Readings, rules: &Rules) -> Vec<Crossing> {
    let inputs = [
        (Metric::BioLatencyP99Ms, rules.thresholds.bio_latency_p99_ms),
        (Metric::PsiIoSomeAvg10, rules.thresholds.psi_io),
    ];
    let known: Vec<_> = inputs
        .into_iter()
        .filter(|(metric, _)| readings.get(*metric).is_some())
        .map(|(metric, threshold)| above(readings, metric, threshold))
        .collect();
    all_of(&known)
}

/// Any input on the wrong side.
fn memory_crossings(readings: &Readings, rules: &Rules) -> Vec<Crossing> {
    let thresholds = &rules.thresholds;
    let degraded = &rules.degraded_memory;
    let crossings = if availability(readings).psi_memory {
        [
            above(readings, Metric::PsiMemorySomeAvg10, thresholds.psi_memory_some),
            above(readings, Metric::PsiMemoryFullAvg10, thresholds.psi_memory_full),
        ]
    } else {
        [
            below(
                readings,
                Metric::MemAvailableRatio,
                degraded.mem_available_ratio_threshold,
            ),
            above(readings, Metric::PageScanRate, degraded.page_scan_rate_threshold),
        ]
    };
    crossings.into_iter().flatten().collect()
}

fn penalties(readings: &Readings, rules: &Rules) -> Penalty {
    let thresholds = &rules.thresholds;
    let exceeds = |metric, threshold| above(readings, metric, threshold).is_some();
    let io = exceeds(Metric::BioLatencyP99Ms, thresholds.io_penalty_p99_ms)
        && exceeds(Metric::PsiIoSomeAvg10, thresholds.io_penalty_psi_io);
    let memory_and_io = exceeds(Metric::PsiMemorySomeAvg10, thresholds.mem_io_penalty_memory)
        && exceeds(Metric::PsiIoSomeAvg10, thresholds.mem_io_penalty_psi_io);
    Penalty {
        io: if io { rules.penalties.io_multiplier } else { 1.0 },
        memory_and_io: if memory_and_io {
            rules.penalties.mem_io_multiplier
        } else {
            1.0
        },
    }
}

fn above(readings: &Readings, metric: Metric, threshold: f64) -> Option<Crossing> {
    let value = readings.get(metric)?;
    (value > threshold).then_some(Crossing {
        metric,
        value,
        threshold,
    })
}

fn below(readings: &Readings, metric: Metric, threshold: f64) -> Option<Crossing> {
    let value = readings.get(metric)?;
    (value < threshold).then_some(Crossing {
        metric,
        value,
        threshold,
    })
}

/// All crossings, or none when one of them is missing.
fn all_of(crossings: &[Option<Crossing>]) -> Vec<Crossing> {
    crossings
        .iter()
        .copied()
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}

fn largest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// `value / whole`, clamped to 0..1. `whole` is above 0 in every valid rule.
fn share(value: f64, whole: f64) -> f64 {
    (value / whole).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
