//! Memory figures that exist also where pressure stall information does not: `/proc/meminfo` and `/proc/vmstat`.
//!
//! Reclaim inside one container's limit moves neither the available ratio nor the scan rate; refaults and major
//! faults are read beside them because they do see it.

use std::path::Path;
use std::time::Duration;

use super::{ProcFile, Reading, Reason, Unavailable};

/// Per-second rates out of `/proc/vmstat`. A kernel may lack any of the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MemoryRates {
    /// Pages scanned by reclaim.
    pub page_scan: Option<f64>,
    /// Pages of the working set read back after they had been reclaimed.
    pub refault: Option<f64>,
    /// Major faults.
    pub major_fault: Option<f64>,
}

/// Both files of one node.
#[derive(Debug)]
pub struct MemorySource {
    meminfo: ProcFile,
    vmstat: ProcFile,
    previous: Option<(Duration, Counters)>,
}

impl MemorySource {
    /// The figures below a root of /proc.
    pub fn new(proc: &Path) -> Self {
        Self {
            meminfo: ProcFile::new(proc.join("meminfo")),
            vmstat: ProcFile::new(proc.join("vmstat")),
            previous: None,
        }
    }

    /// MemAvailable / MemTotal, 0 to 1.
    pub fn available_ratio(&mut self) -> Reading<f64> {
        let path = self.meminfo.path().display().to_string();
        let text = self
            .meminfo
            .read()
            .map_err(|error| Unavailable::from_io(&path, &error))?;
        available_ratio(&text).ok_or_else(|| {
            Unavailable::new(
                Reason::Malformed,
                format!("{path}: no usable MemAvailable and MemTotal"),
            )
        })
    }

    /// Rates since the last call. `now` is the monotonic clock.
    pub fn rates(&mut self, now: Duration) -> Reading<MemoryRates> {
        let path = self.vmstat.path().display().to_string();
        let text = match self.vmstat.read() {
            Ok(text) => text,
            Err(error) => {
                // A gap would spread over whatever is read after it.
                self.previous = None;
                return Err(Unavailable::from_io(&path, &error));
            }
        };
        let counters = Counters::parse(&text);
        if counters == Counters::default() {
            self.previous = None;
            return Err(Unavailable::new(
                Reason::Malformed,
                format!("{path}: none of the known counters"),
            ));
        }
        let Some((before, previous)) = self.previous.replace((now, counters)) else {
            return Err(Unavailable::warming(&path));
        };
        let seconds = now.saturating_sub(before).as_secs_f64();
        if seconds <= 0.0 {
            return Err(Unavailable::warming(&path));
        }
        let rate = |then: Option<u64>, now: Option<u64>| Some(now?.checked_sub(then?)? as f64 / seconds);
        Ok(MemoryRates {
            page_scan: rate(previous.page_scan, counters.page_scan),
            refault: rate(previous.refault, counters.refault),
            major_fault: rate(previous.major_fault, counters.major_fault),
        })
    }
}

/// MemAvailable / MemTotal out of a meminfo file.
fn available_ratio(text: &str) -> Option<f64> {
    let kib = |name: &str| -> Option<u64> {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let total = kib("MemTotal").filter(|&total| total > 0)?;
    let available = kib("MemAvailable")?;
    Some((available as f64 / total as f64).min(1.0))
}

/// Counters of `/proc/vmstat`, since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    page_scan: Option<u64>,
    refault: Option<u64>,
    major_fault: Option<u64>,
}

impl Counters {
    fn parse(text: &str) -> Self {
        let mut scan = None;
        let mut scan_by_zone = None;
        let mut refault = None;
        let mut major_fault = None;
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse::<u64>)) else {
                continue;
            };
            match name {
                // Not by prefix: pgscan_anon and pgscan_file count the same pages once more.
                "pgscan_kswapd" | "pgscan_direct" | "pgscan_khugepaged" | "pgscan_proactive" => {
                    add(&mut scan, value)
                }
                "workingset_refault" | "workingset_refault_anon" | "workingset_refault_file" => {
                    add(&mut refault, value)
                }
                "pgmajfault" => major_fault = Some(value),
                _ if is_zone_scan(name) => add(&mut scan_by_zone, value),
                _ => {}
            }
        }
        Self {
            page_scan: scan.or(scan_by_zone),
            refault,
            major_fault,
        }
    }
}

/// Kernels before 4.8 count scans by zone.
fn is_zone_scan(name: &str) -> bool {
    let zone = name
        .strip_prefix("pgscan_kswapd_")
        .or_else(|| name.strip_prefix("pgscan_direct_"));
    matches!(zone, Some("dma" | "dma32" | "normal" | "high" | "movable"))
}

fn add(sum: &mut Option<u64>, value: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(value));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn available_ratio_needs_both_figures() {
        for (name, text, ratio) in [
            (
                "usual",
                "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable: 250 kB\n",
                Some(0.25),
            ),
            ("before 3.14", "MemTotal: 1000 kB\nMemFree: 10 kB\n", None),
            ("no total", "MemAvailable: 250 kB\n", None),
            ("total 0", "MemTotal: 0 kB\nMemAvailable: 250 kB\n", None),
            (
                "more than total",
                "MemTotal: 100 kB\nMemAvailable: 250 kB\n",
                Some(1.0),
            ),
            ("not a number", "MemTotal: 100 kB\nMemAvailable: lots\n", None),
            (
                "longer names do not match",
                "MemTotalX: 100 kB\nMemAvailable: 50 kB\n",
                None,
            ),
            ("empty", "", None),
        ] {
            assert_eq!(available_ratio(text), ratio, "{name}");
        }
    }

    #[test]
    fn scan_counters_are_summed_without_counting_pages_twice() {
        for (name, text, scan) in [
            (
                "current",
                "pgscan_kswapd 1\npgscan_direct 10\npgscan_khugepaged 100\npgscan_proactive 1000\n\
                 pgscan_direct_throttle 5\npgscan_anon 600\npgscan_file 511\n",
                Some(1111),
            ),
            ("older", "pgscan_kswapd 1\npgscan_direct 10\n", Some(11)),
            (
                "by zone",
                "pgscan_kswapd_dma 1\npgscan_kswapd_normal 2\npgscan_direct_dma32 4\npgscan_direct_throttle 9\n",
                Some(7),
            ),
            ("none", "pgmajfault 3\n", None),
        ] {
            assert_eq!(Counters::parse(text).page_scan, scan, "{name}");
        }
        assert_eq!(
            Counters::parse("workingset_refault_anon 2\nworkingset_refault_file 3").refault,
            Some(5)
        );
        assert_eq!(Counters::parse("workingset_refault 4").refault, Some(4));
    }

    #[test]
    fn rates_are_differences_over_the_time_between_two_reads() {
        let proc = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(proc.path().join("vmstat"), text).unwrap();
        let at = Duration::from_millis;
        let mut source = MemorySource::new(proc.path());
        assert_eq!(source.rates(at(0)).unwrap_err().reason, Reason::NotSupported);

        write("pgscan_kswapd 100\npgmajfault 5\n");
        assert_eq!(source.rates(at(1000)).unwrap_err().reason, Reason::Warming);
        write("pgscan_kswapd 300\npgmajfault 5\n");
        let rates = source.rates(at(1500)).unwrap();
        assert_eq!(
            rates,
            MemoryRates {
                page_scan: Some(400.0),
                refault: None,
                major_fault: Some(0.0)
            }
        );

        // A counter that went back started over: no rate of it this time, and the others are not lost.
        write("pgscan_kswapd 10\npgmajfault 7\n");
        let rates = source.rates(at(2500)).unwrap();
        assert_eq!(
            rates,
            MemoryRates {
                page_scan: None,
                refault: None,
                major_fault: Some(2.0)
            }
        );

        assert_eq!(
            source.rates(at(2500)).unwrap_err().reason,
            Reason::Warming,
            "no time passed"
        );
        write("nothing known here\n");
        assert_eq!(source.rates(at(3500)).unwrap_err().reason, Reason::Malformed);
    }

    proptest! {
        #[test]
        fn odd_text_never_panics(text in "(MemTotal:|MemAvailable:|pgscan_kswapd |[0-9]{0,30}|[ -~]|\n){0,60}") {
            if let Some(ratio) = available_ratio(&text) {
                prop_assert!((0.0..=1.0).contains(&ratio));
            }
            Counters::parse(&text);
        }
    }
}
