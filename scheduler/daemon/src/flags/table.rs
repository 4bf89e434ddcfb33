//! Every flag there is, with its default.

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `--flag`, `--flag=true`, `--flag=false`.
    Bool,
    Int,
    Float,
    Duration,
    /// The last one counts, except where it may be repeated.
    Text,
    /// Repeated, or parted by commas.
    List,
}

pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) default: &'static str,
    /// Empty for what is accepted and does nothing here.
    pub(super) help: &'static str,
    /// Why it does nothing, for those who give it; empty for what does something, or need not be told.
    pub(super) idle: &'static str,
}

const fn flag(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        kind,
        default,
        help,
        idle: "",
    }
}

/// Accepted, does nothing, and says so.
const fn idle(name: &'static str, kind: Kind, idle: &'static str) -> Flag {
    Flag {
        name,
        kind,
        default: "",
        help: "",
        idle,
    }
}

const ALL_NODES: &str = "all nodes are looked at, which costs less here than a sample does there";
const LATER: &str = "it belongs to a later Volcano release and has no effect here";
const KLOG: &str = "";

use Kind::{Bool, Duration, Float, Int, List, Text};

pub(super) const FLAGS: &[Flag] = &[
    flag(
        "master",
        Text,
        "",
        "URL of the API server, in the place of the kubeconfig's",
    ),
    flag(
        "kubeconfig",
        Text,
        "",
        "kubeconfig file; with --master empty too, the pod's service account is used",
    ),
    flag(
        "ca-cert-file",
        Text,
        "",
        "who may come as a client of the health pages",
    ),
    flag("tls-cert-file", Text, "", "certificate of the health pages"),
    flag("tls-private-key-file", Text, "", "its key"),
    flag(
        "scheduler-name",
        Text,
        "volcano",
        "schedulerName of the pods to schedule; may be repeated",
    ),
    flag(
        "scheduler-conf",
        Text,
        "",
        "the configuration file; it is read again when it changes",
    ),
    flag("schedule-period", Duration, "1s", "pause between cycles"),
    flag(
        "default-queue",
        Text,
        "default",
        "queue of PodGroups that name none; created at the start",
    ),
    flag("leader-elect", Bool, "true", "write only while holding the Lease"),
    flag(
        "lock-object-namespace",
        Text,
        "volcano-system",
        "namespace of the Lease",
    ),
    flag("version", Bool, "false", "print the version"),
    flag("help", Bool, "false", "print this"),
    flag("listen-address", Text, ":8080", "address of /metrics"),
    flag(
        "healthz-address",
        Text,
        ":11251",
        "address of /healthz, /livez and /readyz",
    ),
    flag("enable-metrics", Bool, "false", "serve /metrics"),
    flag("enable-healthz", Bool, "false", "serve the health pages"),
    flag("priority-class", Bool, "true", "read PriorityClasses"),
    flag("kube-api-qps", Float, "2000", "writes a second"),
    flag("kube-api-burst", Int, "2000", "writes at once"),
    flag(
        "node-selector",
        List,
        "",
        "use only nodes with one of these labels, as label:value",
    ),
    flag(
        "cache-dumper",
        Bool,
        "true",
        "dump the cache on SIGUSR1 (file) and SIGUSR2 (log)",
    ),
    flag("cache-dump-dir", Text, "/tmp", "where dumps go"),
    flag("metrics-per-node", Bool, "true", "label series with node names"),
    flag("v", Int, "0", "verbosity: 4 and more for details; RUST_LOG wins"),
    idle("minimum-feasible-nodes", Int, ALL_NODES),
    idle("minimum-percentage-nodes-to-find", Int, ALL_NODES),
    idle("percentage-nodes-to-find", Int, ALL_NODES),
    idle(
        "plugins-dir",
        Text,
        "Go plugins cannot be loaded, and loading code from a directory would run it with the scheduler's rights",
    ),
    idle("csi-storage", Bool, "it has no effect in Volcano 1.9 either"),
    idle("node-worker-threads", Int, "nodes are read by one watch"),
    idle("ignored-provisioners", List, "volumes are not looked at yet"),
    idle("log-flush-frequency", Duration, KLOG),
    idle("disable-default-scheduler-config", Bool, LATER),
    idle("enable-pprof", Bool, LATER),
    idle("gate-removal-worker-num", Int, LATER),
    idle("resource-sync-timeout", Duration, LATER),
    idle("resync-period", Duration, LATER),
    idle("scheduler-sharding-mode", Text, LATER),
    idle("scheduler-sharding-name", Text, LATER),
    idle("feature-gates", Text, LATER),
    idle("leader-elect-lease-duration", Duration, "the Lease lasts 15 s"),
    idle(
        "leader-elect-renew-deadline",
        Duration,
        "the Lease is renewed within 10 s",
    ),
    idle(
        "leader-elect-retry-period",
        Duration,
        "the Lease is tried every 5 s",
    ),
    idle("leader-elect-resource-lock", Text, "only Leases are used"),
    idle(
        "leader-elect-resource-name",
        Text,
        "the Lease is named after the scheduler",
    ),
    idle("leader-elect-resource-namespace", Text, KLOG),
    idle("logtostderr", Bool, KLOG),
    idle("alsologtostderr", Bool, KLOG),
    idle("stderrthreshold", Text, KLOG),
    idle("log_dir", Text, "the log goes to standard error"),
    idle("log_file", Text, "the log goes to standard error"),
    idle("log_file_max_size", Int, KLOG),
    idle("log_backtrace_at", Text, KLOG),
    idle("vmodule", Text, "use RUST_LOG for levels by module"),
    idle("skip_headers", Bool, KLOG),
    idle("skip_log_headers", Bool, KLOG),
    idle("add_dir_header", Bool, KLOG),
    idle("one_output", Bool, KLOG),
];

/// The flag of that name; `-` and `_` are the same.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| {
        flag.name.len() == name.len()
            && flag
                .name
                .bytes()
                .zip(name.bytes())
                .all(|(l, r)| l == r || matches!((l, r), (b'-', b'_') | (b'_', b'-')))
    })
}

/// The closest name, for who mistyped it.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.replace('_', "-");
    FLAGS
        .iter()
        .map(|flag| (distance(flag.name, &name), flag.name))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, name)| name)
}

/// Letters to be added, taken or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let changed = before + usize::from(l != *r);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
