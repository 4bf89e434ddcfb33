//! Simulated collectors: the figures that a node's annotations give, streamed to the analyzer like those of a real one.

use mco_proto::v1::analyzer_service_client::AnalyzerServiceClient;
use mco_proto::v1::{Availability, BlockMetrics, CacheMetrics, MemoryMetrics, MetricsSnapshot, PsiMetrics};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

/// How often a simulated collector sends, like a real one.
const INTERVAL: Duration = Duration::from_secs(1);
/// Pause before a lost stream is opened again.
const RETRY: Duration = Duration::from_millis(500);

/// What one simulated collector sends.
#[derive(Clone, Debug)]
pub struct Profile {
    sample: MetricsSnapshot,
}

/// A figure by its annotation: the largest value there is, and where it goes.
struct Figure {
    key: &'static str,
    largest: f64,
    set: fn(&mut MetricsSnapshot, f64),
}

const FIGURES: [Figure; 10] = [
    Figure {
        key: "llc-miss-rate",
        largest: 1.0,
        set: |sample, value| cache(sample).miss_rate = Some(value),
    },
    Figure {
        key: "llc-occupancy",
        largest: 1.0,
        set: |sample, value| cache(sample).occupancy_ratio = Some(value),
    },
    Figure {
        key: "bio-latency-p95-ms",
        largest: 1e6,
        set: |sample, value| block(sample).p95_ms = Some(value),
    },
    Figure {
        key: "bio-latency-p99-ms",
        largest: 1e6,
        set: |sample, value| block(sample).p99_ms = Some(value),
    },
    Figure {
        key: "psi-io-some-avg10",
        largest: 100.0,
        set: |sample, value| psi(&mut sample.psi_io).some_avg10 = Some(value),
    },
    Figure {
        key: "psi-io-full-avg10",
        largest: 100.0,
        set: |sample, value| psi(&mut sample.psi_io).full_avg10 = Some(value),
    },
    Figure {
        key: "psi-memory-some-avg10",
        largest: 100.0,
        set: |sample, value| psi(&mut sample.psi_memory).some_avg10 = Some(value),
    },
    Figure {
        key: "psi-memory-full-avg10",
        largest: 100.0,
        set: |sample, value| psi(&mut sample.psi_memory).full_avg10 = Some(value),
    },
    Figure {
        key: "mem-available-ratio",
        largest: 1.0,
        set: |sample, value| memory(sample).available_ratio = Some(value),
    },
    Figure {
        key: "page-scan-rate",
        largest: 1e12,
        set: |sample, value| memory(sample).page_scan_rate = Some(value),
    },
];

impl Profile {
    /// The profile that these annotations (without their prefix) give, if they give any figure; and the annotations that
    /// cannot be used, each with what is wrong with it.
    pub fn read(node: &str, notes: &BTreeMap<String, String>) -> (Option<Self>, Vec<(String, String)>) {
        let mut sample = MetricsSnapshot {
            node_name: node.to_owned(),
            boot_id: "simulated".to_owned(),
            collector_version: "simulated".to_owned(),
            ..MetricsSnapshot::default()
        };
        let mut problems = Vec::new();
        let mut figures = 0;
        for (key, text) in notes {
            let Some(figure) = FIGURES.iter().find(|figure| figure.key == key) else {
                let known: Vec<_> = FIGURES.iter().map(|figure| figure.key).collect();
                problems.push((
                    key.clone(),
                    format!("is not known; known are {}", known.join(", ")),
                ));
                continue;
            };
            match text.trim().parse::<f64>() {
                Ok(value) if (0.0..=figure.largest).contains(&value) => {
                    (figure.set)(&mut sample, value);
                    figures += 1;
                }
                _ => {
                    let problem = format!("is `{text}`; write a number from 0 to {}", figure.largest);
                    problems.push((key.clone(), problem));
                }
            }
        }
        sample.availability = Some(availability(&sample));
        ((figures > 0).then_some(Self { sample }), problems)
    }

    /// Streams to the analyzer at this address until cancelled.
    pub async fn stream(self, address: String, stop: CancellationToken) {
        let started = Instant::now();
        let mut sequence = 0;
        while !stop.is_cancelled() {
            let streaming = self.stream_once(&address, started, &mut sequence);
            // A lost stream shows in the report as a stale node.
            if stop.run_until_cancelled(streaming).await.is_none()
                || stop
                    .run_until_cancelled(tokio::time::sleep(RETRY))
                    .await
                    .is_none()
            {
                return;
            }
        }
    }

    /// One stream until it breaks.
    async fn stream_once(&self, address: &str, started: Instant, sequence: &mut u64) {
        let Ok(mut client) = AnalyzerServiceClient::connect(address.to_owned()).await else {
            return;
        };
        let (samples, outgoing) = mpsc::channel(1);
        let mut ticks = tokio::time::interval(INTERVAL);
        let send = async {
            loop {
                ticks.tick().await;
                *sequence += 1;
                if samples
                    .send(self.sample_at(started.elapsed(), *sequence))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        };
        let answer = async {
            let Ok(answers) = client.stream_metrics(ReceiverStream::new(outgoing)).await else {
                return;
            };
            let mut answers = answers.into_inner();
            while let Ok(Some(_)) = answers.message().await {}
        };
        tokio::select! {
            () = send => {}
            () = answer => {}
        }
    }

    fn sample_at(&self, uptime: Duration, sequence: u64) -> MetricsSnapshot {
        MetricsSnapshot {
            sequence,
            sampled_at: Some(SystemTime::now().into()),
            monotonic_ns: u64::try_from(uptime.as_nanos()).unwrap_or(u64::MAX),
            interval_ms: if sequence == 1 { 0 } else { 1000 },
            ..self.sample.clone()
        }
    }
}

fn cache(sample: &mut MetricsSnapshot) -> &mut CacheMetrics {
    sample.cache.get_or_insert_default()
}

fn block(sample: &mut MetricsSnapshot) -> &mut BlockMetrics {
    sample.block.get_or_insert_default()
}

fn memory(sample: &mut MetricsSnapshot) -> &mut MemoryMetrics {
    sample.memory.get_or_insert_default()
}

fn psi(metrics: &mut Option<PsiMetrics>) -> &mut PsiMetrics {
    metrics.get_or_insert_default()
}

fn availability(sample: &MetricsSnapshot) -> Availability {
    let (cache, block, memory) = (
        sample.cache.as_ref(),
        sample.block.as_ref(),
        sample.memory.as_ref(),
    );
    Availability {
        llc: cache.is_some_and(|cache| cache.miss_rate.is_some()),
        llc_occupancy: cache.is_some_and(|cache| cache.occupancy_ratio.is_some()),
        bio: block.is_some_and(|block| block.p99_ms.is_some()),
        psi_io: sample.psi_io.is_some(),
        psi_memory: sample.psi_memory.is_some(),
        mem: memory.is_some_and(|memory| memory.available_ratio.is_some()),
        scan: memory.is_some_and(|memory| memory.page_scan_rate.is_some()),
        absent: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_lands_in_a_field_of_its_own() {
        let mut seen = Vec::new();
        for figure in &FIGURES {
            let notes = BTreeMap::from([(figure.key.to_owned(), "0.5".to_owned())]);
            let (profile, problems) = Profile::read("n", &notes);
            let mut sample = profile.expect("there is a figure").sample;
            assert!(problems.is_empty(), "{problems:?}");
            sample.availability = None;
            assert!(!seen.contains(&sample), "{}", figure.key);
            seen.push(sample);
        }
        assert!(Profile::read("n", &BTreeMap::new()).0.is_none());
    }

    #[test]
    fn values_that_do_not_exist_are_refused() {
        for bad in ["NaN", "inf", "-1", "100.1", "", "12%"] {
            let notes = BTreeMap::from([("psi-io-some-avg10".to_owned(), bad.to_owned())]);
            let (profile, problems) = Profile::read("n", &notes);
            assert!(profile.is_none() && problems.len() == 1, "{bad}: {problems:?}");
        }
    }
}
