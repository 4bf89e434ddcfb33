use super::*;
use crate::picture::{add_group, add_node, add_pod, cluster, cycle};
use mco_registry::Phase;
use std::collections::BTreeMap;

/// The page after a cycle in which `g` is bound and `h` fits nowhere.
fn page_after_a_cycle() -> (Metrics, Cluster, String) {
    let metrics = Metrics::new(true);
    let mut cluster = cluster();
    add_node(&mut cluster, "n1", 4.0);
    add_group(&mut cluster, "g", 1, "");
    add_pod(&mut cluster, "g-0", "g", 1.0, "");
    add_group(&mut cluster, "h", 2, "");
    add_pod(&mut cluster, "h-0", "h", 8.0, "");
    add_pod(&mut cluster, "h-1", "h", 8.0, "");
    let mut timing = metrics.start_cycle();
    let outcome = cycle(&mut cluster);
    for phase in [
        Phase::PluginOpen("gang"),
        Phase::Open,
        Phase::Action("allocate"),
        Phase::PluginClose("gang"),
        Phase::Close,
    ] {
        timing.lap(phase);
    }
    metrics.end_cycle(timing, &cluster, &outcome, Time::from_seconds(10));
    metrics.bound(Some(Time::from_seconds(2)), Time::from_seconds(11));
    metrics.reloaded(true);
    let page = metrics.render();
    (metrics, cluster, page)
}

#[test]
fn what_happened_is_shown() {
    let (_, _, page) = page_after_a_cycle();
    for line in [
        "volcano_e2e_scheduling_latency_milliseconds_count 1",
        "volcano_task_scheduling_latency_milliseconds_count 2",
        "volcano_e2e_job_scheduling_latency_milliseconds_sum 9000",
        "volcano_e2e_job_scheduling_duration{job_name=\"g\",job_namespace=\"t\",queue=\"default\"} 9000",
        "volcano_e2e_job_scheduling_start_time{job_name=\"g\",job_namespace=\"t\",queue=\"default\"} 1",
        "volcano_unschedule_job_count 1",
        "volcano_unschedule_task_count{job_id=\"h\"} 2",
        "volcano_job_retry_counts{job_id=\"h\"} 1",
        "volcano_job_share{job_id=\"g\",job_ns=\"t\"} 0.25",
        "volcano_queue_allocated_milli_cpu{queue_name=\"default\"} 1000",
        "volcano_queue_request_milli_cpu{queue_name=\"default\"} 17000",
        "volcano_queue_deserved_milli_cpu{queue_name=\"default\"} 4000",
        "volcano_queue_weight{queue_name=\"default\"} 1",
        "mco_scheduler_config_last_reload_successful 1",
        "mco_scheduler_config_reloads{result=\"success\"} 1",
    ] {
        assert!(
            page.lines().any(|found| found == line),
            "{line} is not in\n{page}"
        );
    }
}

#[test]
fn a_job_that_lacks_nothing_any_more_says_so() {
    let (metrics, mut cluster, page) = page_after_a_cycle();
    assert!(page.contains("volcano_unschedule_task_count{job_id=\"h\"} 2"));
    for pod in ["h-0", "h-1"] {
        add_pod(&mut cluster, pod, "h", 1.0, "n1");
    }
    let outcome = cycle(&mut cluster);
    metrics.end_cycle(metrics.start_cycle(), &cluster, &outcome, Time::from_seconds(11));
    let page = metrics.render();
    assert!(
        page.contains("volcano_unschedule_task_count{job_id=\"h\"} 0"),
        "{page}"
    );
    assert!(page.contains("volcano_unschedule_job_count 0"), "{page}");
}

#[test]
fn what_is_gone_is_not_shown() {
    let (metrics, mut cluster, page) = page_after_a_cycle();
    assert!(page.contains("job_name=\"g\"") && page.contains("job_id=\"h\""));
    for job in ["g", "h"] {
        cluster.apply(mco_model::Event::PodGroupRemoved {
            namespace: "t".into(),
            name: job.into(),
        });
    }
    for pod in ["g-0", "h-0", "h-1"] {
        cluster.apply(mco_model::Event::PodRemoved {
            namespace: "t".into(),
            name: pod.into(),
        });
    }
    cluster.apply(mco_model::Event::QueueRemoved {
        name: "default".into(),
    });
    let outcome = cycle(&mut cluster);
    metrics.end_cycle(metrics.start_cycle(), &cluster, &outcome, Time::from_seconds(11));
    let page = metrics.render();
    for label in ["job_name=", "job_id=", "queue_name="] {
        assert!(!page.contains(label), "{label} is still in\n{page}");
    }
}

/// Every series that Volcano 1.9.0 shows with these plugins and actions: type, labels, first bucket.
const VOLCANO: [(&str, &str, &[&str], Option<&str>); 28] = [
    (
        "action_scheduling_latency_microseconds",
        "histogram",
        &["action"],
        Some("5"),
    ),
    (
        "e2e_job_scheduling_duration",
        "gauge",
        &["job_name", "job_namespace", "queue"],
        None,
    ),
    (
        "e2e_job_scheduling_last_time",
        "gauge",
        &["job_name", "job_namespace", "queue"],
        None,
    ),
    (
        "e2e_job_scheduling_latency_milliseconds",
        "histogram",
        &[],
        Some("32"),
    ),
    (
        "e2e_job_scheduling_start_time",
        "gauge",
        &["job_name", "job_namespace", "queue"],
        None,
    ),
    ("e2e_scheduling_latency_milliseconds", "histogram", &[], Some("5")),
    ("job_retry_counts", "counter", &["job_id"], None),
    ("job_share", "gauge", &["job_id", "job_ns"], None),
    (
        "plugin_scheduling_latency_microseconds",
        "histogram",
        &["OnSession", "plugin"],
        Some("5"),
    ),
    ("pod_preemption_victims", "gauge", &[], None),
    ("queue_allocated_memory_bytes", "gauge", &["queue_name"], None),
    ("queue_allocated_milli_cpu", "gauge", &["queue_name"], None),
    ("queue_deserved_memory_bytes", "gauge", &["queue_name"], None),
    ("queue_deserved_milli_cpu", "gauge", &["queue_name"], None),
    ("queue_overused", "gauge", &["queue_name"], None),
    ("queue_pod_group_inqueue_count", "gauge", &["queue_name"], None),
    ("queue_pod_group_pending_count", "gauge", &["queue_name"], None),
    ("queue_pod_group_running_count", "gauge", &["queue_name"], None),
    ("queue_pod_group_unknown_count", "gauge", &["queue_name"], None),
    ("queue_request_memory_bytes", "gauge", &["queue_name"], None),
    ("queue_request_milli_cpu", "gauge", &["queue_name"], None),
    ("queue_share", "gauge", &["queue_name"], None),
    ("queue_weight", "gauge", &["queue_name"], None),
    ("schedule_attempts_total", "counter", &["result"], None),
    (
        "task_scheduling_latency_milliseconds",
        "histogram",
        &[],
        Some("5"),
    ),
    ("total_preemption_attempts", "counter", &[], None),
    ("unschedule_job_count", "gauge", &[], None),
    ("unschedule_task_count", "gauge", &["job_id"], None),
];

#[test]
fn volcanos_series_have_its_names_types_labels_and_buckets() {
    let (_, _, page) = page_after_a_cycle();
    let types: BTreeMap<&str, &str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .collect();
    for (name, kind, labels, bucket) in VOLCANO {
        let full = format!("volcano_{name}");
        // A series with labels is there once something happened to it, and nothing ever happens to this one.
        if name == "schedule_attempts_total" {
            assert_eq!(types.get(&*full), None);
            continue;
        }
        assert_eq!(types.get(&*full), Some(&kind), "{full}");
        let line = page
            .lines()
            .find(|line| line.starts_with(&full) && !line[full.len()..].starts_with("_sum"))
            .unwrap_or_else(|| panic!("{full} has no value"));
        let inside = line.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let mut found: Vec<&str> = inside
            .map(|(inside, _)| inside)
            .unwrap_or_default()
            .split(',')
            .filter_map(|pair| Some(pair.split_once('=')?.0))
            .filter(|label| *label != "le")
            .collect();
        found.sort_unstable();
        assert_eq!(found, labels, "{line}");
        if let Some(first) = bucket {
            let buckets: std::collections::BTreeSet<&str> = page
                .lines()
                .filter(|line| line.starts_with(&format!("{full}_bucket")))
                .filter_map(|line| line.split_once("le=\"")?.1.split_once('"'))
                .map(|(bucket, _)| bucket)
                .collect();
            assert_eq!(buckets.len(), 11, "{full}");
            assert!(line.contains(&format!("le=\"{first}\"")), "{line}");
        }
    }
    let unknown: Vec<&&str> = types
        .keys()
        .filter(|name| {
            name.strip_prefix("volcano_")
                .is_some_and(|rest| VOLCANO.iter().all(|(known, ..)| *known != rest))
        })
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
