//! The last seconds of one node: a bounded ring of samples and their means.

use std::collections::VecDeque;
use std::time::Duration;

use mco_proto::latency::Histogram;
use mco_proto::v1::LatencyBuckets;

use crate::metric::{Mean, Metric, Readings};
use crate::time::{ClockOffset, Moment, nanos};

/// The most samples a node may send in a second, on average.
pub const SAMPLES_PER_SECOND: u32 = 5;

/// One sample as it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The node's monotonic clock, in nanoseconds.
    pub node_nanos: i64,
    /// When it came in.
    pub arrived: Moment,
    /// What it says.
    pub readings: Readings,
    /// The latency histogram behind its percentiles, where there is one.
    pub buckets: Option<LatencyBuckets>,
}

/// Which P99 of block latency is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum P99Source {
    /// The mean over the window of the samples' P99s.
    #[default]
    Mean,
    /// The P99 of all requests in the window, where the samples carry histograms.
    Window,
}

/// What a window holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The means; `None` when no sample is inside.
    pub readings: Option<Readings>,
    /// How many samples are inside.
    pub samples: u32,
    /// When the newest sample that ever came in was taken.
    pub newest: Option<Moment>,
}

/// The mean of the samples with 0 ≤ `now` − taken < `span` nanoseconds, and how many there are.
pub fn mean<'s>(
    samples: impl IntoIterator<Item = (i64, &'s Readings)>,
    now: i64,
    span: i64,
) -> (Option<Readings>, u32) {
    let mut mean = Mean::default();
    let mut count = 0;
    for (_, readings) in samples.into_iter().filter(|(taken, _)| inside(*taken, now, span)) {
        mean.add(readings);
        count += 1;
    }
    ((count > 0).then(|| mean.readings()), count)
}

fn inside(taken: i64, now: i64, span: i64) -> bool {
    (0..span).contains(&now.saturating_sub(taken))
}

/// One node's samples.
#[derive(Clone, Debug)]
pub struct Window {
    samples: VecDeque<Sample>,
    offset: ClockOffset,
    span: i64,
    limit: usize,
}

impl Window {
    /// An empty window of this length.
    pub fn new(span: Duration) -> Self {
        let limit = (span.as_secs_f64() * f64::from(SAMPLES_PER_SECOND)).ceil() as usize + 1;
        Self {
            samples: VecDeque::new(),
            offset: ClockOffset::default(),
            span: nanos(span),
            limit,
        }
    }

    /// Takes a sample. The caller sees to it that the node's clock rises from one to the next.
    pub fn push(&mut self, sample: Sample) {
        self.offset.observe(sample.arrived, sample.node_nanos);
        let now = sample.arrived;
        while self.samples.len() >= self.limit
            || self
                .samples
                .front()
                .is_some_and(|front| now.nanos_since(self.taken(front)) >= self.span)
        {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// Forgets everything, for a node whose clock started anew.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.offset = ClockOffset::default();
    }

    /// What is inside at this moment.
    pub fn view(&self, now: Moment, p99: P99Source) -> View {
        let taken = self
            .samples
            .iter()
            .map(|sample| (self.taken(sample).0, &sample.readings));
        let (mut readings, samples) = mean(taken, now.0, self.span);
        if let (Some(readings), Some(value)) = (&mut readings, self.window_p99(now)) {
            // A percentile of valid histograms is always in range.
            let _ = readings.set(Metric::BioLatencyWindowP99Ms, value);
            if p99 == P99Source::Window {
                let _ = readings.set(Metric::BioLatencyP99Ms, value);
            }
        }
        View {
            readings,
            samples,
            newest: self.samples.back().map(|sample| self.taken(sample)),
        }
    }

    /// The P99 over all requests of the samples inside; 0 when there was none, `None` without any histogram.
    fn window_p99(&self, now: Moment) -> Option<f64> {
        let mut all: Option<Histogram> = None;
        for sample in &self.samples {
            let Some(buckets) = &sample.buckets else { continue };
            if inside(self.taken(sample).0, now.0, self.span) {
                all.get_or_insert_default().add_buckets(buckets);
            }
        }
        Some(all?.quantile_ms(0.99).unwrap_or(0.0))
    }

    fn taken(&self, sample: &Sample) -> Moment {
        self.offset.place(sample.arrived, sample.node_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn sample(second: i64, value: f64) -> Sample {
        let mut readings = Readings::NONE;
        readings.set(Metric::PsiIoSomeAvg10, value).unwrap();
        Sample {
            node_nanos: second * SECOND,
            arrived: Moment(second * SECOND),
            readings,
            buckets: None,
        }
    }

    fn value(window: &Window, second: i64) -> Option<f64> {
        window
            .view(Moment(second * SECOND), P99Source::Mean)
            .readings?
            .get(Metric::PsiIoSomeAvg10)
    }

    #[test]
    fn a_sample_counts_from_its_moment_until_ten_seconds_later() {
        let readings = Readings::NONE;
        let span = 10 * SECOND;
        for (age, counts) in [(-1, 0), (0, 1), (span - 1, 1), (span, 0)] {
            assert_eq!(mean([(0, &readings)], age, span).1, counts, "age {age} ns");
        }
    }

    #[test]
    fn the_window_slides_and_ends_empty() {
        let mut window = Window::new(Duration::from_secs(10));
        for second in 1..=20 {
            window.push(sample(second, if second <= 10 { 0.0 } else { 10.0 }));
        }
        assert_eq!(value(&window, 20), Some(10.0));
        assert_eq!(value(&window, 29), Some(10.0), "one sample is left");
        assert_eq!(value(&window, 30), None);
        assert_eq!(
            window.view(Moment(40 * SECOND), P99Source::Mean).newest,
            Some(Moment(20 * SECOND))
        );
    }

    #[test]
    fn a_late_burst_counts_only_what_is_recent() {
        let mut window = Window::new(Duration::from_secs(10));
        for second in 1..=30 {
            let mut late = sample(second, f64::from(second as i32));
            late.arrived = Moment(130 * SECOND);
            window.push(late);
        }
        let view = window.view(Moment(130 * SECOND), P99Source::Mean);
        assert_eq!((view.samples, value(&window, 130)), (10, Some(25.5)));
    }

    #[test]
    fn memory_is_bounded_however_fast_samples_come() {
        let mut window = Window::new(Duration::from_secs(10));
        for milli in 0..10_000 {
            let mut fast = sample(0, 1.0);
            (fast.node_nanos, fast.arrived) = (milli * 1_000_000, Moment(milli * 1_000_000));
            window.push(fast);
        }
        assert_eq!(window.samples.len(), 51);
    }

    #[test]
    fn the_windows_own_p99_stands_beside_the_mean_or_takes_its_place() {
        let mut window = Window::new(Duration::from_secs(10));
        for second in 1..=2 {
            let mut histogram = Histogram::new();
            // 999 fast requests and, in the second sample only, 30 slow ones.
            (0..999).for_each(|_| histogram.record(8));
            if second == 2 {
                (0..30).for_each(|_| histogram.record(100_000));
            }
            let mut one = sample(second, 0.0);
            one.readings
                .set(Metric::BioLatencyP99Ms, histogram.quantile_ms(0.99).unwrap())
                .unwrap();
            one.buckets = Some(histogram.to_buckets());
            window.push(one);
        }
        let read = |p99| window.view(Moment(2 * SECOND), p99).readings.unwrap();
        let true_p99 = read(P99Source::Mean).get(Metric::BioLatencyWindowP99Ms).unwrap();
        assert!((90.0..110.0).contains(&true_p99), "{true_p99}");
        let mean = read(P99Source::Mean).get(Metric::BioLatencyP99Ms).unwrap();
        assert!(mean < 60.0, "{mean}");
        assert_eq!(
            read(P99Source::Window).get(Metric::BioLatencyP99Ms),
            Some(true_p99)
        );
    }
}
