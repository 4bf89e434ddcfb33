//! The log-linear layout of latency histograms: slot of a latency, bounds of a slot, percentiles over counts.
//!
//! Powers of two alone are too coarse for a P99 (up to twice the true value); 16 slots per octave bound the error
//! of a slot's width to 1/16 of the value.

use crate::v1::LatencyBuckets;

/// Slots in a histogram: 16 exact ones below 16 µs, then 16 per octave up to 2^27 µs (134 s).
pub const SLOTS: usize = 384;

const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;

/// The slot a latency in microseconds falls into. Whatever is longer than the last slot is counted there.
pub fn slot_of(micros: u64) -> usize {
    if micros < SUB {
        return micros as usize;
    }
    let octave = micros.ilog2();
    let shift = octave - SUB_BITS;
    let within = (micros >> shift) & (SUB - 1);
    let slot = u64::from(shift + 1) * SUB + within;
    (slot as usize).min(SLOTS - 1)
}

/// Lower (inclusive) and upper (exclusive) bound of a slot in microseconds. The upper bound of the last slot is where
/// it would end if it did not also hold everything longer. A slot beyond the last one is taken as the last.
pub fn bounds(slot: usize) -> (u64, u64) {
    let slot = slot.min(SLOTS - 1) as u64;
    if slot < SUB {
        return (slot, slot + 1);
    }
    let shift = slot / SUB - 1;
    let lower = (SUB + slot % SUB) << shift;
    (lower, lower + (1 << shift))
}

/// Counts of one or several intervals, by slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; SLOTS].into_boxed_slice(),
        }
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one latency in microseconds.
    pub fn record(&mut self, micros: u64) {
        self.add(slot_of(micros), 1);
    }

    /// Adds to the count of one slot; a slot beyond the last one is taken as the last.
    pub fn add(&mut self, slot: usize, count: u64) {
        let cell = &mut self.counts[slot.min(SLOTS - 1)];
        *cell = cell.saturating_add(count);
    }

    /// Adds the sparse buckets of one sample. Returns false, adding nothing, when they are malformed: lists of
    /// different length, a slot out of range, or slots that do not rise.
    pub fn add_buckets(&mut self, buckets: &LatencyBuckets) -> bool {
        let LatencyBuckets { slots, counts } = buckets;
        let well_formed = slots.len() == counts.len()
            && slots.iter().all(|&slot| (slot as usize) < SLOTS)
            && slots.windows(2).all(|pair| pair[0] < pair[1]);
        if well_formed {
            for (&slot, &count) in slots.iter().zip(counts) {
                self.add(slot as usize, count);
            }
        }
        well_formed
    }

    /// Takes out the counts of one sample again, as a sliding window needs. Never goes below zero.
    pub fn remove_buckets(&mut self, buckets: &LatencyBuckets) {
        for (&slot, &count) in buckets.slots.iter().zip(&buckets.counts) {
            if let Some(cell) = self.counts.get_mut(slot as usize) {
                *cell = cell.saturating_sub(count);
            }
        }
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (slot, &count) in other.counts.iter().enumerate() {
            self.add(slot, count);
        }
    }

    /// The counts by slot, [`SLOTS`] of them.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Requests counted.
    pub fn total(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The latency in milliseconds that a share `quantile` (0 to 1) of the requests did not exceed, with linear
    /// interpolation inside a slot. Absent when nothing was counted or `quantile` is not a share.
    ///
    /// The error against the exact rank statistic is at most the width of a slot: 1 µs below 32 µs, 1/16 of the
    /// value above.
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 || !(0.0..=1.0).contains(&quantile) {
            return None;
        }
        let rank = (quantile * total as f64).ceil().max(1.0);
        let mut below = 0u64;
        let mut last_used = 0;
        for (slot, &count) in self.counts.iter().enumerate() {
            if count == 0 {
                continue;
            }
            last_used = slot;
            if (below.saturating_add(count)) as f64 >= rank {
                let (lower, upper) = bounds(slot);
                let within = ((rank - below as f64) / count as f64).clamp(0.0, 1.0);
                return Some((lower as f64 + within * (upper - lower) as f64) / 1000.0);
            }
            below = below.saturating_add(count);
        }
        // Only rounding of very large counts leads here.
        Some(bounds(last_used).1 as f64 / 1000.0)
    }

    /// The sparse form for the wire.
    pub fn to_buckets(&self) -> LatencyBuckets {
        let mut buckets = LatencyBuckets::default();
        for (slot, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            buckets.slots.push(slot as u32);
            buckets.counts.push(count);
        }
        buckets
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slots_tile_the_axis_without_gap_or_overlap() {
        let mut next = 0;
        for slot in 0..SLOTS {
            let (lower, upper) = bounds(slot);
            assert_eq!(lower, next, "slot {slot} starts where the one before ends");
            assert_eq!(
                (slot_of(lower), slot_of(upper - 1)),
                (slot, slot),
                "edges of slot {slot}"
            );
            next = upper;
        }
        assert_eq!(next, 1 << 27);
        assert_eq!(slot_of(1 << 27), SLOTS - 1);
        assert_eq!(slot_of(u64::MAX), SLOTS - 1);
    }

    #[test]
    fn slot_of_known_latencies() {
        for (micros, slot) in [
            (0, 0),
            (15, 15),
            (16, 16),
            (31, 31),
            (32, 32),
            (33, 32),
            (34, 33),
            (1024, 112),
        ] {
            assert_eq!(slot_of(micros), slot, "{micros} us");
        }
    }

    #[test]
    fn nothing_counted_has_no_quantile() {
        assert_eq!(Histogram::new().quantile_ms(0.99), None);
        let mut one = Histogram::new();
        one.record(5);
        assert_eq!(one.quantile_ms(f64::NAN), None);
        assert_eq!(one.quantile_ms(1.5), None);
    }

    #[test]
    fn malformed_buckets_are_refused_whole() {
        let buckets = |slots: &[u32], counts: &[u64]| LatencyBuckets {
            slots: slots.into(),
            counts: counts.into(),
        };
        for (name, bad) in [
            ("lengths differ", buckets(&[1, 2], &[1])),
            ("slot out of range", buckets(&[384], &[1])),
            ("slots fall", buckets(&[2, 1], &[1, 1])),
            ("slot twice", buckets(&[2, 2], &[1, 1])),
        ] {
            let mut histogram = Histogram::new();
            assert!(!histogram.add_buckets(&bad), "{name}");
            assert_eq!(histogram.total(), 0, "{name}");
        }
    }

    proptest! {
        #[test]
        fn quantile_error_is_at_most_one_slot(
            mut micros in prop::collection::vec(0u64..(1 << 27), 1..400),
            quantile in 0.0f64..=1.0,
        ) {
            let mut histogram = Histogram::new();
            micros.iter().for_each(|&value| histogram.record(value));
            micros.sort_unstable();
            let rank = ((quantile * micros.len() as f64).ceil() as usize).max(1);
            let exact = micros[rank - 1] as f64;
            let got = histogram.quantile_ms(quantile).expect("not empty") * 1000.0;
            prop_assert!((got - exact).abs() <= (exact / 16.0).max(1.0) + 1e-6, "exact {exact}, got {got}");
        }

        #[test]
        fn quantiles_never_fall(micros in prop::collection::vec(0u64..u64::MAX, 1..200)) {
            let mut histogram = Histogram::new();
            micros.iter().for_each(|&value| histogram.record(value));
            let steps: Vec<f64> = (0..=100).filter_map(|q| histogram.quantile_ms(f64::from(q) / 100.0)).collect();
            prop_assert_eq!(steps.len(), 101);
            prop_assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]));
        }

        #[test]
        fn buckets_carry_a_histogram_unchanged(micros in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut histogram = Histogram::new();
            micros.iter().for_each(|&value| histogram.record(value));
            let mut back = Histogram::new();
            prop_assert!(back.add_buckets(&histogram.to_buckets()));
            prop_assert_eq!(&back, &histogram);
            back.remove_buckets(&histogram.to_buckets());
            prop_assert_eq!(back.total(), 0);
        }
    }
}
