//! Latency of block requests, over all real devices.
//!
//! Two rungs: a probe in the kernel that keeps histograms, and, where it cannot be loaded, the mean out of
//! `/proc/diskstats`, from which no percentile can be had: percentiles are then absent, never 0. (A rung between
//! them, the classic tracepoints for kernels without type information, is not there yet.)

mod devices;
mod diskstats;
mod probe;

pub use devices::{DeviceId, Devices};
pub use diskstats::{DiskCounters, parse as parse_diskstats};
pub use probe::{Operation, PhaseCounts, Probe, RequestCounts, RequestKey};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mco_proto::latency::Histogram;

use super::{ProcFile, Reading, Unavailable};
use diskstats::MeanSource;

/// Block latency of one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockReading {
    /// Reads, writes and flushes completed in the interval.
    pub ios: u64,
    /// Mean of queue and device time in milliseconds; 0 without a request.
    pub mean_ms: f64,
    /// What only the probe knows, or why it is not there.
    pub percentiles: Reading<Percentiles>,
}

/// Percentiles of one interval, in milliseconds; all 0 when the interval had no request.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// Queue and device: what an application waits for.
    pub p95_ms: f64,
    /// As `p95_ms`.
    pub p99_ms: f64,
    /// From issue to completion only.
    pub device_p95_ms: f64,
    /// As `device_p95_ms`.
    pub device_p99_ms: f64,
    /// The histogram behind `p95_ms` and `p99_ms`.
    pub total: Histogram,
    /// By device and operation, discards included; those that ever had a request, 0 when not in this interval.
    pub by_device: Vec<DeviceLatency>,
}

/// Latency of one operation of one device in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceLatency {
    /// The device's name, or `major:minor` when the system does not name it.
    pub device: String,
    /// What was asked of it.
    pub operation: Operation,
    /// Requests completed.
    pub ios: u64,
    /// Queue and device, in milliseconds.
    pub p99_ms: f64,
    /// Time before the device got the request, in milliseconds.
    pub queue_p99_ms: f64,
    /// Time the device took, in milliseconds.
    pub device_p99_ms: f64,
}

/// Block latency of one node.
pub struct BlockSource {
    sys: PathBuf,
    devices: Devices,
    probe: Rung,
    /// Cumulative counts at the last read, which the next read is compared with.
    previous: BTreeMap<RequestKey, RequestCounts>,
    fallback: MeanSource,
    reads: u32,
}

/// Reads after which devices are looked up anew: numbers are given to other devices after a removal.
const FORGET_EVERY: u32 = 60;

enum Rung {
    Untried,
    Loaded(Box<Probe>),
    /// Loading failed; tried again after some reads, ever more of them.
    Refused {
        why: Unavailable,
        reads_left: u32,
        next_wait: u32,
    },
}

/// Reads between the first and the second try to load the probe, and at most.
const FIRST_WAIT: u32 = 10;
const LONGEST_WAIT: u32 = 600;

impl BlockSource {
    /// Latency below roots of /proc and /sys. The probe is loaded at the first read, and only where `sys` has the
    /// running kernel's type information.
    pub fn new(proc: &Path, sys: &Path) -> Self {
        Self {
            sys: sys.to_owned(),
            devices: Devices::new(sys),
            probe: Rung::Untried,
            previous: BTreeMap::new(),
            fallback: MeanSource::new(ProcFile::new(proc.join("diskstats"))),
            reads: 0,
        }
    }

    /// What was completed since the last call. `now` is the monotonic clock.
    pub fn read(&mut self, now: Duration) -> Reading<BlockReading> {
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(FORGET_EVERY) {
            self.devices.forget();
        }
        let why = match self.read_probe() {
            Ok((ios, mean_ms, percentiles)) => {
                return Ok(BlockReading {
                    ios,
                    mean_ms,
                    percentiles: Ok(percentiles),
                });
            }
            Err(why) => why,
        };
        match self.fallback.read(now, &mut self.devices) {
            Ok((ios, mean_ms)) => Ok(BlockReading {
                ios,
                mean_ms,
                percentiles: Err(why),
            }),
            // The better rung's reason is the one worth telling.
            Err(_) => Err(why),
        }
    }

    fn read_probe(&mut self) -> Reading<(u64, f64, Percentiles)> {
        let probe = self.loaded()?;
        let now = match probe.read() {
            Ok(now) => now,
            Err(why) => {
                self.refuse(why.clone(), FIRST_WAIT);
                return Err(why);
            }
        };
        let deltas: Vec<_> = now
            .iter()
            .map(|(key, counts)| (*key, counts.since(self.previous.get(key))))
            .collect();
        self.previous = now;
        Ok(summarize(&deltas, &mut self.devices))
    }

    fn loaded(&mut self) -> Reading<&Probe> {
        let wait = match &mut self.probe {
            Rung::Refused { why, reads_left, .. } if *reads_left > 0 => {
                *reads_left -= 1;
                return Err(why.clone());
            }
            Rung::Refused { next_wait, .. } => *next_wait,
            _ => FIRST_WAIT,
        };
        if !matches!(self.probe, Rung::Loaded(_)) {
            match Probe::load(&self.sys) {
                Ok(probe) => {
                    self.previous.clear();
                    self.probe = Rung::Loaded(Box::new(probe));
                }
                Err(why) => self.refuse(why, wait),
            }
        }
        match &self.probe {
            Rung::Loaded(probe) => Ok(probe),
            Rung::Refused { why, .. } => Err(why.clone()),
            Rung::Untried => Err(Unavailable::warming("block latency")),
        }
    }

    fn refuse(&mut self, why: Unavailable, reads_left: u32) {
        self.probe = Rung::Refused {
            why,
            reads_left,
            next_wait: (reads_left * 2).min(LONGEST_WAIT),
        };
    }
}

/// The node's figures over real devices, and the table by device.
fn summarize(deltas: &[(RequestKey, RequestCounts)], devices: &mut Devices) -> (u64, f64, Percentiles) {
    let mut total = Histogram::new();
    let mut device = Histogram::new();
    let (mut ios, mut sum_us) = (0u64, 0u64);
    let mut by_device = Vec::new();
    for (key, counts) in deltas {
        // Once a device is gone, its zeroes go too.
        let is_shown = counts.total.count > 0 || devices.is_known(key.device);
        if !is_shown || !devices.is_real(key.device) {
            continue;
        }
        by_device.push(DeviceLatency {
            device: devices.name(key.device),
            operation: key.operation,
            ios: counts.total.count,
            p99_ms: counts.total.histogram.quantile_ms(0.99).unwrap_or(0.0),
            queue_p99_ms: counts.queue.histogram.quantile_ms(0.99).unwrap_or(0.0),
            device_p99_ms: counts.device.histogram.quantile_ms(0.99).unwrap_or(0.0),
        });
        if key.operation.is_waited_for() {
            ios = ios.saturating_add(counts.total.count);
            sum_us = sum_us.saturating_add(counts.total.sum_us);
            total.merge(&counts.total.histogram);
            device.merge(&counts.device.histogram);
        }
    }
    // No request is "no I/O", which is 0 and not absent.
    let at = |histogram: &Histogram, quantile| histogram.quantile_ms(quantile).unwrap_or(0.0);
    let percentiles = Percentiles {
        p95_ms: at(&total, 0.95),
        p99_ms: at(&total, 0.99),
        device_p95_ms: at(&device, 0.95),
        device_p99_ms: at(&device, 0.99),
        total,
        by_device,
    };
    let mean_ms = if ios == 0 {
        0.0
    } else {
        sum_us as f64 / ios as f64 / 1000.0
    };
    (ios, mean_ms, percentiles)
}

#[cfg(test)]
mod tests {
    use super::super::Reason;
    use super::*;

    fn phase(micros: &[u64]) -> PhaseCounts {
        let mut phase = PhaseCounts::default();
        for &us in micros {
            phase.count += 1;
            phase.sum_us += us;
            phase.histogram.record(us);
        }
        phase
    }

    fn requests(major: u32, operation: Operation, total: &[u64]) -> (RequestKey, RequestCounts) {
        let key = RequestKey {
            device: DeviceId { major, minor: 0 },
            operation,
        };
        let half: Vec<u64> = total.iter().map(|us| us / 2).collect();
        (
            key,
            RequestCounts {
                total: phase(total),
                queue: phase(&half),
                device: phase(&half),
            },
        )
    }

    #[test]
    fn no_request_is_zero_and_not_absent() {
        let sys = tempfile::tempdir().unwrap();
        let (ios, mean_ms, percentiles) = summarize(&[], &mut Devices::new(sys.path()));
        assert_eq!((ios, mean_ms), (0, 0.0));
        assert_eq!(
            (percentiles.p95_ms, percentiles.p99_ms, percentiles.device_p99_ms),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(percentiles.total.total(), 0);
    }

    #[test]
    fn discards_show_by_device_but_nobody_waits_for_them() {
        let sys = tempfile::tempdir().unwrap();
        let deltas = [
            requests(8, Operation::Read, &[1000; 99]),
            requests(8, Operation::Write, &[3000]),
            requests(8, Operation::Discard, &[5_000_000; 50]),
        ];
        let (ios, mean_ms, percentiles) = summarize(&deltas, &mut Devices::new(sys.path()));
        assert_eq!((ios, mean_ms), (100, 1.02));
        assert!(percentiles.p99_ms < 3.3, "{}", percentiles.p99_ms);
        assert!(
            (0.45..=0.55).contains(&percentiles.device_p95_ms),
            "{}",
            percentiles.device_p95_ms
        );
        let rows: Vec<_> = percentiles
            .by_device
            .iter()
            .map(|row| (row.device.as_str(), row.operation, row.ios))
            .collect();
        assert_eq!(
            rows,
            [
                ("8:0", Operation::Read, 99),
                ("8:0", Operation::Write, 1),
                ("8:0", Operation::Discard, 50)
            ]
        );
    }

    #[test]
    fn without_the_probe_the_mean_stands_and_percentiles_are_absent() {
        let root = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(root.path().join("diskstats"), text).unwrap();
        let at = Duration::from_secs;
        let mut source = BlockSource::new(root.path(), root.path());
        write("8 0 sda 100 0 800 1000 0 0 0 0 0 0 0\n");
        assert_eq!(
            source.read(at(1)).unwrap_err().reason,
            Reason::NotSupported,
            "no type information below this root"
        );
        write("8 0 sda 110 0 880 1050 10 0 80 150 0 0 0\n");
        let reading = source.read(at(2)).unwrap();
        assert_eq!((reading.ios, reading.mean_ms), (20, 10.0));
        assert_eq!(reading.percentiles.unwrap_err().reason, Reason::NotSupported);
        let idle = source.read(at(3)).unwrap();
        assert_eq!((idle.ios, idle.mean_ms), (0, 0.0));
    }
}
