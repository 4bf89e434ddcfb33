//! Every series: its name, its help, its labels, its buckets.

use prometheus::core::Collector;
use prometheus::{
    Counter, CounterVec, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntGauge, Opts, Registry,
    exponential_buckets,
};

pub(super) struct Series {
    pub(super) registry: Registry,
    pub(super) e2e: Histogram,
    pub(super) plugin: HistogramVec,
    pub(super) action: HistogramVec,
    pub(super) task_latency: Histogram,
    pub(super) job_latency: Histogram,
    pub(super) job_duration: GaugeVec,
    pub(super) job_start: GaugeVec,
    pub(super) job_last: GaugeVec,
    pub(super) unschedule_tasks: GaugeVec,
    pub(super) unschedule_jobs: Gauge,
    pub(super) job_share: GaugeVec,
    pub(super) job_retries: CounterVec,
    pub(super) queue_allocated_cpu: GaugeVec,
    pub(super) queue_allocated_memory: GaugeVec,
    pub(super) queue_request_cpu: GaugeVec,
    pub(super) queue_request_memory: GaugeVec,
    pub(super) queue_deserved_cpu: GaugeVec,
    pub(super) queue_deserved_memory: GaugeVec,
    pub(super) queue_share: GaugeVec,
    pub(super) queue_weight: GaugeVec,
    pub(super) queue_overused: GaugeVec,
    pub(super) queue_groups_inqueue: GaugeVec,
    pub(super) queue_groups_pending: GaugeVec,
    pub(super) queue_groups_running: GaugeVec,
    pub(super) queue_groups_unknown: GaugeVec,
    pub(super) filter_rejections: CounterVec,
    pub(super) score_distribution: HistogramVec,
    pub(super) report_age: Gauge,
    pub(super) report_fallbacks: CounterVec,
    pub(super) config_reloads: CounterVec,
    pub(super) config_last_reload_successful: IntGauge,
    pub(super) binds: CounterVec,
    pub(super) binds_in_flight: Gauge,
    pub(super) writes: CounterVec,
    pub(super) session: HistogramVec,
}

impl Series {
    pub(super) fn new() -> Self {
        let registry = Registry::new();
        let r = &registry;
        let queue = |name, help| gauge_vec(r, name, help, &["queue_name"]);
        let job = |name, help| gauge_vec(r, name, help, &["job_name", "queue", "job_namespace"]);
        let short = || buckets(5.0);
        // Nothing preempts yet; dashboards look for them all the same.
        gauge(
            r,
            "volcano_pod_preemption_victims",
            "Victims of the last preemption",
        );
        counter(
            r,
            "volcano_total_preemption_attempts",
            "Nodes that were looked at for preemption",
        );
        Self {
            e2e: histogram(
                r,
                "volcano_e2e_scheduling_latency_milliseconds",
                "How long a cycle took",
                short(),
            ),
            plugin: histogram_vec(
                r,
                "volcano_plugin_scheduling_latency_microseconds",
                "How long a plugin took to open or close a session",
                &["plugin", "OnSession"],
                short(),
            ),
            action: histogram_vec(
                r,
                "volcano_action_scheduling_latency_microseconds",
                "How long an action took",
                &["action"],
                short(),
            ),
            task_latency: histogram(
                r,
                "volcano_task_scheduling_latency_milliseconds",
                "From the creation of a pod to its placement, and once more to its binding",
                short(),
            ),
            job_latency: histogram(
                r,
                "volcano_e2e_job_scheduling_latency_milliseconds",
                "From the creation of a PodGroup to the placement of each of its pods",
                buckets(32.0),
            ),
            job_duration: job(
                "volcano_e2e_job_scheduling_duration",
                "Milliseconds to the last placement of a job",
            ),
            job_start: job(
                "volcano_e2e_job_scheduling_start_time",
                "Unix seconds of the creation of a job",
            ),
            job_last: job(
                "volcano_e2e_job_scheduling_last_time",
                "Unix seconds of the last placement of a job",
            ),
            unschedule_tasks: gauge_vec(
                r,
                "volcano_unschedule_task_count",
                "Tasks that a job lacks to its minimum",
                &["job_id"],
            ),
            unschedule_jobs: gauge(
                r,
                "volcano_unschedule_job_count",
                "Jobs that lack tasks to their minimum",
            ),
            job_share: gauge_vec(
                r,
                "volcano_job_share",
                "Dominant share of a job",
                &["job_ns", "job_id"],
            ),
            job_retries: counter_vec(
                r,
                "volcano_job_retry_counts",
                "Cycles in which a job lacked tasks to its minimum",
                &["job_id"],
            ),
            queue_allocated_cpu: queue("volcano_queue_allocated_milli_cpu", "CPU that a queue holds"),
            queue_allocated_memory: queue(
                "volcano_queue_allocated_memory_bytes",
                "Memory that a queue holds",
            ),
            queue_request_cpu: queue(
                "volcano_queue_request_milli_cpu",
                "CPU that a queue holds and asks for",
            ),
            queue_request_memory: queue(
                "volcano_queue_request_memory_bytes",
                "Memory that a queue holds and asks for",
            ),
            queue_deserved_cpu: queue("volcano_queue_deserved_milli_cpu", "CPU that a queue deserves"),
            queue_deserved_memory: queue(
                "volcano_queue_deserved_memory_bytes",
                "Memory that a queue deserves",
            ),
            queue_share: queue(
                "volcano_queue_share",
                "Largest part of what it deserves that a queue holds",
            ),
            queue_weight: queue("volcano_queue_weight", "Weight of a queue"),
            queue_overused: queue(
                "volcano_queue_overused",
                "1 when a queue has all that it deserves",
            ),
            queue_groups_inqueue: queue(
                "volcano_queue_pod_group_inqueue_count",
                "Admitted PodGroups of a queue",
            ),
            queue_groups_pending: queue(
                "volcano_queue_pod_group_pending_count",
                "Pending PodGroups of a queue",
            ),
            queue_groups_running: queue(
                "volcano_queue_pod_group_running_count",
                "Running PodGroups of a queue",
            ),
            queue_groups_unknown: queue(
                "volcano_queue_pod_group_unknown_count",
                "PodGroups of a queue in phase Unknown",
            ),
            filter_rejections: counter_vec(
                r,
                "mco_scheduler_filter_rejections",
                "Nodes that mco-plugin filtered out",
                &["node", "reason"],
            ),
            score_distribution: histogram_vec(
                r,
                "mco_scheduler_score_distribution",
                "Scores of nodes, by every change of the interference report",
                &["node", "dimension"],
                vec![10.0, 25.0, 50.0, 75.0, 90.0, 100.0],
            ),
            report_age: gauge(
                r,
                "mco_scheduler_report_age_seconds",
                "Since the interference report was seen to change",
            ),
            report_fallbacks: counter_vec(
                r,
                "mco_scheduler_report_fallbacks",
                "Sessions without a report to go by",
                &["reason"],
            ),
            config_reloads: counter_vec(
                r,
                "mco_scheduler_config_reloads",
                "Contents of the configuration file",
                &["result"],
            ),
            config_last_reload_successful: int_gauge(
                r,
                "mco_scheduler_config_last_reload_successful",
                "1 when what the file says is in force",
            ),
            binds: counter_vec(r, "mco_scheduler_binds", "Binds", &["result"]),
            binds_in_flight: gauge(r, "mco_scheduler_binds_in_flight", "Binds under way"),
            writes: counter_vec(
                r,
                "mco_scheduler_writes",
                "Writes other than binds",
                &["kind", "result"],
            ),
            session: histogram_vec(
                r,
                "mco_scheduler_session_duration_seconds",
                "How long the parts of a cycle took",
                &["phase"],
                vec![0.0001, 0.001, 0.01, 0.1, 1.0, 10.0],
            ),
            registry,
        }
    }

    pub(super) fn forget_job(&self, name: &str, queue: &str, namespace: &str) {
        for gauge in [&self.job_duration, &self.job_start, &self.job_last] {
            let _ = gauge.remove_label_values(&[name, queue, namespace]);
        }
        let _ = self.unschedule_tasks.remove_label_values(&[name]);
        let _ = self.job_share.remove_label_values(&[namespace, name]);
        let _ = self.job_retries.remove_label_values(&[name]);
    }

    pub(super) fn forget_queue(&self, name: &str) {
        for gauge in [
            &self.queue_allocated_cpu,
            &self.queue_allocated_memory,
            &self.queue_request_cpu,
            &self.queue_request_memory,
            &self.queue_deserved_cpu,
            &self.queue_deserved_memory,
            &self.queue_share,
            &self.queue_weight,
            &self.queue_overused,
            &self.queue_groups_inqueue,
            &self.queue_groups_pending,
            &self.queue_groups_running,
            &self.queue_groups_unknown,
        ] {
            let _ = gauge.remove_label_values(&[name]);
        }
    }
}

/// Ten, each twice the one before.
fn buckets(first: f64) -> Vec<f64> {
    exponential_buckets(first, 2.0, 10).expect("a first bucket above zero")
}

/// Names are constants of this file, so a name that is no good or there twice shows in any test.
fn register<C: Collector + Clone + 'static>(registry: &Registry, collector: prometheus::Result<C>) -> C {
    let collector = collector.expect("a name and labels that are allowed");
    registry
        .register(Box::new(collector.clone()))
        .expect("a name that is there once");
    collector
}

fn gauge(registry: &Registry, name: &str, help: &str) -> Gauge {
    register(registry, Gauge::new(name, help))
}

fn int_gauge(registry: &Registry, name: &str, help: &str) -> IntGauge {
    register(registry, IntGauge::new(name, help))
}

fn counter(registry: &Registry, name: &str, help: &str) -> Counter {
    register(registry, Counter::new(name, help))
}

fn gauge_vec(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
    register(registry, GaugeVec::new(Opts::new(name, help), labels))
}

fn counter_vec(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> CounterVec {
    register(registry, CounterVec::new(Opts::new(name, help), labels))
}

fn histogram(registry: &Registry, name: &str, help: &str, buckets: Vec<f64>) -> Histogram {
    register(
        registry,
        Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets)),
    )
}

fn histogram_vec(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: Vec<f64>,
) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets);
    register(registry, HistogramVec::new(options, labels))
}
