//! What `/metrics` shows: Volcano's series under their own names, types, labels and buckets, and ours beside them. Dashboards
//! depend on these names: a test pins them.

mod series;
mod timing;

pub use timing::CycleTiming;

use mco_cache::Cache;
use mco_framework::close::SessionOutcome;
use mco_model::spec::Text;
use mco_model::time::Time;
use mco_model::{Cluster, Decision, JobId};
use prometheus::{Encoder, TextEncoder};
use series::Series;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// All series. Shared by the cycle thread, which sets them, and the page, which shows them.
pub struct Metrics {
    series: Series,
    per_node: bool,
    cache: OnceLock<Arc<Cache>>,
    seen: Mutex<Seen>,
    rendering: Mutex<()>,
}

/// What has series of its own, to take them away when it goes.
#[derive(Default)]
struct Seen {
    jobs: HashMap<Text, JobLabels>,
    /// Names of the jobs that lacked tasks when somebody last counted.
    lacking: HashSet<Text>,
    queues: HashSet<Text>,
    report_epoch: u64,
}

#[derive(Clone, PartialEq)]
struct JobLabels {
    name: Text,
    namespace: Text,
    queue: Text,
}

impl Metrics {
    /// Nothing has happened yet. Without `per_node`, series by node share one with an empty label.
    #[must_use]
    pub fn new(per_node: bool) -> Self {
        Self {
            series: Series::new(),
            per_node,
            cache: OnceLock::new(),
            seen: Mutex::default(),
            rendering: Mutex::default(),
        }
    }

    /// Shows what this cache writes from now on.
    pub fn follow(&self, cache: Arc<Cache>) {
        let _ = self.cache.set(cache);
    }

    /// The configuration was read, and taken or not.
    pub fn reloaded(&self, taken: bool) {
        let result = if taken { "success" } else { "failure" };
        self.series.config_reloads.with_label_values(&[result]).inc();
        self.series.config_last_reload_successful.set(i64::from(taken));
    }

    /// A pod that was created then is bound.
    pub fn bound(&self, created: Option<Time>, now: Time) {
        if let Some(created) = created {
            self.series.task_latency.observe(millis_between(created, now));
        }
    }

    /// A cycle begins.
    #[must_use]
    pub fn start_cycle(&self) -> CycleTiming {
        CycleTiming::start()
    }

    /// A cycle is over, and everything in it has been handed on.
    pub fn end_cycle(&self, timing: CycleTiming, cluster: &Cluster, outcome: &SessionOutcome, now: Time) {
        timing.observe(&self.series);
        self.placed(cluster, outcome, now);
        self.figures(cluster, outcome);
        self.report(cluster, now);
        self.forget(cluster);
    }

    /// The page.
    #[must_use]
    pub fn render(&self) -> String {
        // One page at a time: two that caught up with the same counters would count twice.
        let _one = self.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        self.writes();
        let mut text = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&self.series.registry.gather(), &mut text) {
            tracing::warn!("metrics cannot be written: {error}");
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn placed(&self, cluster: &Cluster, outcome: &SessionOutcome, now: Time) {
        let series = &self.series;
        for decision in &outcome.decisions {
            let Decision::Bind { task, .. } = decision else {
                continue;
            };
            let task = cluster.task(*task);
            if let Some(created) = task.created {
                series.task_latency.observe(millis_between(created, now));
            }
            let Some((labels, created)) = task.job.and_then(|job| job_of(cluster, job)) else {
                continue;
            };
            let values = [&*labels.name, &*labels.queue, &*labels.namespace];
            if let Some(created) = created {
                let passed = millis_between(created, now);
                series.job_latency.observe(passed);
                series.job_duration.with_label_values(&values).set(passed);
                let seconds = created.seconds() as f64;
                series.job_start.with_label_values(&values).set(seconds);
            }
            series
                .job_last
                .with_label_values(&values)
                .set(now.seconds() as f64);
            let uid = format!("{}/{}", labels.namespace, labels.name);
            self.seen().jobs.insert(uid.as_str().into(), labels);
        }
    }

    fn figures(&self, cluster: &Cluster, outcome: &SessionOutcome) {
        let series = &self.series;
        let figures = &outcome.figures;
        for figure in &figures.queues {
            let queue = cluster.queue(figure.queue);
            let name = [&*queue.name];
            let set = |gauge: &prometheus::GaugeVec, value: f64| gauge.with_label_values(&name).set(value);
            set(&series.queue_allocated_cpu, figure.allocated.milli_cpu);
            set(&series.queue_allocated_memory, figure.allocated.memory);
            set(&series.queue_request_cpu, queue.totals.request.milli_cpu);
            set(&series.queue_request_memory, queue.totals.request.memory);
            set(&series.queue_deserved_cpu, figure.deserved.milli_cpu);
            set(&series.queue_deserved_memory, figure.deserved.memory);
            set(&series.queue_share, figure.share);
            set(&series.queue_weight, f64::from(queue.weight));
            set(&series.queue_overused, f64::from(u8::from(figure.overused)));
        }
        if !figures.queues.is_empty() {
            self.queues_at_rest(cluster, outcome);
        }
        for (job, unready) in figures.unready_jobs.iter().flatten() {
            let name = &cluster.job(*job).name;
            series
                .unschedule_tasks
                .with_label_values(&[name])
                .set(*unready as f64);
            series.job_retries.with_label_values(&[name]).inc();
            self.know(cluster, *job);
        }
        if let Some(unready) = &figures.unready_jobs {
            series.unschedule_jobs.set(unready.len() as f64);
            let lacking: HashSet<Text> = unready
                .iter()
                .map(|(job, _)| cluster.job(*job).name.clone())
                .collect();
            let before = std::mem::replace(&mut self.seen().lacking, lacking.clone());
            // Who lacks nothing any more says so, as long as it is there.
            for name in before.difference(&lacking) {
                series.unschedule_tasks.with_label_values(&[&**name]).set(0.0);
            }
        }
        for (job, share) in &figures.job_shares {
            let row = cluster.job(*job);
            series
                .job_share
                .with_label_values(&[&row.namespace, &row.name])
                .set(*share);
            self.know(cluster, *job);
        }
        for (node, reason, count) in &figures.rejections {
            let node = self.node_label(&cluster.nodes.row(*node).name);
            series
                .filter_rejections
                .with_label_values(&[node, reason])
                .inc_by(*count as f64);
        }
        if let Some(reason) = figures.report_fallback {
            series.report_fallbacks.with_label_values(&[reason]).inc();
        }
    }

    /// Queues without jobs hold and ask for nothing; PodGroups are counted for all.
    fn queues_at_rest(&self, cluster: &Cluster, outcome: &SessionOutcome) {
        let series = &self.series;
        let mut seen = self.seen();
        for (id, queue) in cluster.queues() {
            let name = [&*queue.name];
            seen.queues.insert(queue.name.clone());
            let set = |gauge: &prometheus::GaugeVec, value: f64| gauge.with_label_values(&name).set(value);
            if !outcome.figures.queues.iter().any(|figure| figure.queue == id) {
                set(&series.queue_allocated_cpu, 0.0);
                set(&series.queue_allocated_memory, 0.0);
                set(&series.queue_request_cpu, 0.0);
                set(&series.queue_request_memory, 0.0);
            }
            let counted = queue.counted;
            set(&series.queue_groups_inqueue, f64::from(counted.inqueue));
            set(&series.queue_groups_pending, f64::from(counted.pending));
            set(&series.queue_groups_running, f64::from(counted.running));
            set(&series.queue_groups_unknown, f64::from(counted.unknown));
        }
    }

    fn report(&self, cluster: &Cluster, now: Time) {
        let Some(report) = cluster.report() else {
            return;
        };
        if let Some(since) = report.changed_at.or(report.last_update) {
            self.series.report_age.set(now.seconds_since(since).max(0.0));
        }
        let epoch = cluster.report_epoch();
        if std::mem::replace(&mut self.seen().report_epoch, epoch) == epoch {
            return;
        }
        for (node, entry) in report.nodes.iter().filter(|(_, entry)| entry.ok) {
            let parts = [
                ("total", entry.level),
                ("cache", entry.cache_index),
                ("memory", entry.memory_index),
                ("io", entry.io_index),
            ];
            for (dimension, value) in parts {
                if let Some(value) = value {
                    self.series
                        .score_distribution
                        .with_label_values(&[self.node_label(node), dimension])
                        .observe(100.0 * (1.0 - value));
                }
            }
        }
    }

    /// What is gone has no series.
    fn forget(&self, cluster: &Cluster) {
        let series = &self.series;
        let mut seen = self.seen();
        seen.jobs.retain(|uid, labels| {
            let there = cluster.find_job(uid).is_some();
            if !there {
                series.forget_job(&labels.name, &labels.queue, &labels.namespace);
            }
            there
        });
        seen.queues.retain(|name| {
            let there = cluster.find_queue(name).is_some();
            if !there {
                series.forget_queue(name);
            }
            there
        });
    }

    fn know(&self, cluster: &Cluster, job: JobId) {
        let uid = cluster.job(job).uid.clone();
        let mut seen = self.seen();
        if !seen.jobs.contains_key(&uid)
            && let Some((labels, _)) = job_of(cluster, job)
        {
            seen.jobs.insert(uid, labels);
        }
    }

    /// Counters of the writers, which count for themselves.
    fn writes(&self) {
        let Some(cache) = self.cache.get() else { return };
        let (counters, series) = (cache.counters(), &self.series);
        let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let binds = [
            ("bound", get(&counters.bound)),
            ("failed", get(&counters.bind_failed)),
            ("looked_up", get(&counters.bind_looked_up)),
        ];
        for (result, count) in binds {
            catch_up(&series.binds.with_label_values(&[result]), count);
        }
        let writes = [
            ("eviction", "success", get(&counters.evicted)),
            ("eviction", "failure", get(&counters.evict_failed)),
            ("podgroup_status", "success", get(&counters.groups)),
            ("pod_condition", "success", get(&counters.conditions)),
            ("queue_status", "success", get(&counters.queues)),
            ("status", "failure", get(&counters.status_failed)),
            ("event", "success", get(&counters.events)),
            ("event", "dropped", get(&counters.events_dropped)),
        ];
        for (kind, result, count) in writes {
            catch_up(&series.writes.with_label_values(&[kind, result]), count);
        }
        series.binds_in_flight.set(get(&counters.binding) as f64);
    }

    fn node_label<'n>(&self, node: &'n str) -> &'n str {
        if self.per_node { node } else { "" }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn job_of(cluster: &Cluster, job: JobId) -> Option<(JobLabels, Option<Time>)> {
    let row = cluster.job(job);
    let group = row.group.as_ref()?;
    let labels = JobLabels {
        name: row.name.clone(),
        namespace: row.namespace.clone(),
        queue: group.queue.clone(),
    };
    Some((labels, group.created))
}

fn millis_between(earlier: Time, later: Time) -> f64 {
    (later.seconds_since(earlier) * 1000.0).max(0.0)
}

/// A counter that is counted elsewhere.
fn catch_up(counter: &prometheus::Counter, count: u64) {
    counter.inc_by((count as f64 - counter.get()).max(0.0));
}

#[cfg(test)]
mod tests;
