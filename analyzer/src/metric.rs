//! What is measured on a node: the metrics by name, the range of each, and one set of readings. Imports only std.

/// One figure of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Metric {
    /// Last-level cache misses over references, 0 to 1.
    LlcMissRate,
    /// Last-level cache bytes in use over its size, 0 to 1.
    LlcOccupancy,
    /// Block I/O latency, 95th percentile, milliseconds.
    BioLatencyP95Ms,
    /// Block I/O latency, 99th percentile, milliseconds.
    BioLatencyP99Ms,
    /// I/O pressure `some avg10`, percent.
    PsiIoSomeAvg10,
    /// I/O pressure `full avg10`, percent.
    PsiIoFullAvg10,
    /// Memory pressure `some avg10`, percent.
    PsiMemorySomeAvg10,
    /// Memory pressure `full avg10`, percent.
    PsiMemoryFullAvg10,
    /// MemAvailable over MemTotal, 0 to 1.
    MemAvailableRatio,
    /// Pages scanned for reclaim per second.
    PageScanRate,
    /// Pages of the working set read back after reclaim, per second. Shown, not judged: it sees reclaim inside one
    /// container's limit, which the two figures above do not.
    RefaultRate,
    /// Major page faults per second. Shown, not judged.
    MajorFaultRate,
    /// Block I/O latency, 99th percentile over all requests of the window, milliseconds. Computed from the samples'
    /// histograms; stands beside the mean of P99s, or takes its place when so configured.
    BioLatencyWindowP99Ms,
}

impl Metric {
    /// Every metric, in the order of its discriminant.
    pub const ALL: [Metric; 13] = [
        Metric::LlcMissRate,
        Metric::LlcOccupancy,
        Metric::BioLatencyP95Ms,
        Metric::BioLatencyP99Ms,
        Metric::PsiIoSomeAvg10,
        Metric::PsiIoFullAvg10,
        Metric::PsiMemorySomeAvg10,
        Metric::PsiMemoryFullAvg10,
        Metric::MemAvailableRatio,
        Metric::PageScanRate,
        Metric::RefaultRate,
        Metric::MajorFaultRate,
        Metric::BioLatencyWindowP99Ms,
    ];

    /// The name in reports and cases.
    pub fn name(self) -> &'static str {
        match self {
            Metric::LlcMissRate => "llcMissRate",
            Metric::LlcOccupancy => "llcOccupancy",
            Metric::BioLatencyP95Ms => "bioLatencyP95Ms",
            Metric::BioLatencyP99Ms => "bioLatencyP99Ms",
            Metric::PsiIoSomeAvg10 => "psiIoSomeAvg10",
            Metric::PsiIoFullAvg10 => "psiIoFullAvg10",
            Metric::PsiMemorySomeAvg10 => "psiMemorySomeAvg10",
            Metric::PsiMemoryFullAvg10 => "psiMemoryFullAvg10",
            Metric::MemAvailableRatio => "memAvailableRatio",
            Metric::PageScanRate => "pageScanRate",
            Metric::RefaultRate => "refaultRate",
            Metric::MajorFaultRate => "majorFaultRate",
            Metric::BioLatencyWindowP99Ms => "bioLatencyWindowP99Ms",
        }
    }

    /// The value, if this metric can have it: finite, not negative, and within the metric's upper end.
    pub fn admit(self, value: f64) -> Option<f64> {
        let upper = match self {
            Metric::LlcMissRate | Metric::LlcOccupancy | Metric::MemAvailableRatio => 1.0,
            Metric::PsiIoSomeAvg10
            | Metric::PsiIoFullAvg10
            | Metric::PsiMemorySomeAvg10
            | Metric::PsiMemoryFullAvg10 => 100.0,
            Metric::BioLatencyP95Ms
            | Metric::BioLatencyP99Ms
            | Metric::BioLatencyWindowP99Ms
            | Metric::PageScanRate
            | Metric::RefaultRate
            | Metric::MajorFaultRate => f64::MAX,
        };
        (0.0..=upper).contains(&value).then_some(value)
    }
}

/// A value that its metric cannot have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// Which metric.
    pub metric: Metric,
    /// The value that was dropped.
    pub value: f64,
}

/// What is known of a node at one moment, or over one window. Absent is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    values: [Option<f64>; Metric::ALL.len()],
}

impl Readings {
    /// Nothing known.
    pub const NONE: Readings = Readings {
        values: [None; Metric::ALL.len()],
    };

    /// The value of one metric, if known.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values[metric as usize]
    }

    /// Takes a value over.
    ///
    /// # Errors
    /// A value out of range, NaN or infinite: the metric is then absent.
    pub fn set(&mut self, metric: Metric, value: f64) -> Result<(), OutOfRange> {
        self.values[metric as usize] = metric.admit(value);
        match self.values[metric as usize] {
            Some(_) => Ok(()),
            None => Err(OutOfRange { metric, value }),
        }
    }

    /// Every known metric with its value.
    pub fn known(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL
            .into_iter()
            .filter_map(|metric| Some((metric, self.get(metric)?)))
    }
}

/// Adds readings up to a mean: of each metric over those that have it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sums: [Sum; Metric::ALL.len()],
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f64,
    count: u32,
    lowest: f64,
    highest: f64,
}

impl Mean {
    /// Counts one set of readings in.
    pub fn add(&mut self, readings: &Readings) {
        for (metric, value) in readings.known() {
            let sum = &mut self.sums[metric as usize];
            if sum.count == 0 {
                (sum.lowest, sum.highest) = (value, value);
            }
            sum.total += value;
            sum.count += 1;
            sum.lowest = sum.lowest.min(value);
            sum.highest = sum.highest.max(value);
        }
    }

    /// The means so far.
    pub fn readings(&self) -> Readings {
        let mut readings = Readings::NONE;
        for (value, sum) in readings.values.iter_mut().zip(&self.sums) {
            // Rounding must not carry a mean past its own inputs: ten samples exactly at a threshold are not
            // above it. This also keeps a sum that overflowed finite.
            *value =
                (sum.count > 0).then(|| (sum.total / f64::from(sum.count)).clamp(sum.lowest, sum.highest));
        }
        readings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_absent() {
        let rows = [
            (Metric::LlcMissRate, 1.0, true),
            (Metric::LlcMissRate, 1.0000001, false),
            (Metric::MemAvailableRatio, -0.1, false),
            (Metric::PsiIoSomeAvg10, 100.0, true),
            (Metric::PsiIoSomeAvg10, 100.1, false),
            (Metric::BioLatencyP99Ms, 1e12, true),
            (Metric::BioLatencyP99Ms, -1.0, false),
            (Metric::PageScanRate, f64::INFINITY, false),
            (Metric::PageScanRate, f64::NAN, false),
            (Metric::PageScanRate, 0.0, true),
        ];
        for (metric, value, admitted) in rows {
            let mut readings = Readings::NONE;
            assert_eq!(
                readings.set(metric, value).is_ok(),
                admitted,
                "{metric:?} {value}"
            );
            assert_eq!(readings.get(metric), admitted.then_some(value));
        }
    }

    #[test]
    fn a_mean_is_over_the_samples_that_have_the_metric() {
        let mut mean = Mean::default();
        for value in [Some(10.0), None, Some(20.0)] {
            let mut readings = Readings::NONE;
            if let Some(value) = value {
                readings.set(Metric::PsiIoSomeAvg10, value).unwrap();
            }
            mean.add(&readings);
        }
        assert_eq!(mean.readings().get(Metric::PsiIoSomeAvg10), Some(15.0));
        assert_eq!(mean.readings().get(Metric::PsiIoFullAvg10), None);
    }

    #[test]
    fn a_mean_stays_between_its_inputs() {
        for (value, count) in [(0.7, 10), (0.1, 10), (f64::MAX, 10), (0.2, 3)] {
            let mut mean = Mean::default();
            for _ in 0..count {
                let mut readings = Readings::NONE;
                readings.set(Metric::PageScanRate, value).unwrap();
                mean.add(&readings);
            }
            assert_eq!(mean.readings().get(Metric::PageScanRate), Some(value));
        }
    }
}
