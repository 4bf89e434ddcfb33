//! What we write otherwise than Volcano 1.9.0, on purpose. Each entry has a name, and turns lines of Volcano's into ours.

/// A deliberate difference on the wire.
#[derive(Debug)]
pub struct Difference {
    /// Its name.
    pub name: &'static str,
    /// What Volcano 1.9.0 does.
    pub volcano: &'static str,
    /// What happens here instead.
    pub here: &'static str,
    /// The scenarios it shows in; empty means any.
    pub scenarios: &'static [&'static str],
    /// Volcano's lines that begin so are not ours.
    pub drops: &'static [&'static str],
    /// Our lines that are not Volcano's.
    pub adds: &'static [&'static str],
}

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "events-told-once",
        volcano: "patches the count of the same event every cycle",
        here: "the same words about the same object are told once",
        scenarios: &[],
        drops: &["call patch events", "again create events"],
        adds: &[],
    },
    Difference {
        name: "queue-status-once",
        volcano: "writes a queue's status twice for one change",
        here: "once",
        scenarios: &[],
        drops: &["again update queues/status"],
        adds: &[],
    },
    Difference {
        name: "waiting-pods-stay-where-they-could-go",
        volcano: "picks another of equally good nodes each cycle for a gang that waits, and writes each pod's condition anew",
        here: "ties are broken alike each cycle, so the condition stays",
        scenarios: &["gang-short-of-room"],
        drops: &["again update pods/status"],
        adds: &[],
    },
    Difference {
        name: "gated-pods-wait",
        volcano: "binds a pod with a scheduling gate in vain each cycle (answer 409) and calls its gang running",
        here: "leaves it alone until the gate goes, and the gang says that it waits",
        scenarios: &["gated"],
        drops: &[
            "again create pods/binding",
            "call create pods/binding 409",
            "event on PodGroup gated: Normal Scheduled",
            "podgroup gated ",
            "pods of gated bound",
        ],
        adds: &[
            "event on PodGroup gated: Warning Unschedulable: 1/1 tasks in gang unschedulable: pod group is not ready, \
             1 Pending, 1 minAvailable; Pending: 1 Unschedulable (volcano)",
            "podgroup gated condition Unschedulable=True NotEnoughResources: 1/1 tasks in gang unschedulable: pod group is \
             not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable",
            "podgroup gated phase Inqueue",
        ],
    },
    Difference {
        name: "missing-queue-told",
        volcano: "leaves out a job whose queue does not exist without a word",
        here: "its pods are told",
        scenarios: &["missing-queue"],
        drops: &[],
        adds: &[
            "call create events 201",
            "event on pods of noq: Warning FailedScheduling: queue \"nowhere\" of PodGroup t/noq does not exist (volcano)",
        ],
    },
    Difference {
        name: "missing-podgroup-told",
        volcano: "leaves out a pod whose PodGroup does not exist without a word",
        here: "it is told",
        scenarios: &["annotated-missing-podgroup"],
        drops: &[],
        adds: &[
            "call create events 201",
            "event on pods of does-not-exist: Warning FailedScheduling: PodGroup t/does-not-exist does not exist (volcano)",
        ],
    },
    Difference {
        name: "no-podgroup-told",
        volcano: "leaves out a pod that names no PodGroup without a word",
        here: "it is told, once its controller has had time to name one",
        scenarios: &["no-podgroup"],
        drops: &[],
        adds: &[
            "call create events 201",
            "event on pods of lonely: Warning FailedScheduling: the pod is in no PodGroup: annotation \
             scheduling.k8s.io/group-name is missing (volcano)",
        ],
    },
    Difference {
        name: "lease-released",
        volcano: "keeps the Lease when it is stopped, so that the next one waits until it has run out",
        here: "gives it up",
        scenarios: &["stop-by-SIGTERM"],
        drops: &[],
        adds: &[
            "call update leases 200",
            "lease volcano-system/volcano of nobody, 1 s",
        ],
    },
];

/// Lines of Volcano's as they are expected here.
pub fn expected_here(scenario: &str, lines: Vec<String>) -> Vec<String> {
    let applies = |difference: &&Difference| {
        difference.scenarios.is_empty() || difference.scenarios.contains(&scenario)
    };
    let differences: Vec<&Difference> = DIFFERENCES.iter().filter(applies).collect();
    let is_dropped = |line: &String| {
        let mut drops = differences.iter().flat_map(|difference| difference.drops);
        drops.any(|start| line.starts_with(start))
    };
    let mut expected: Vec<String> = lines.into_iter().filter(|line| !is_dropped(line)).collect();
    expected.extend(
        differences
            .iter()
            .flat_map(|difference| difference.adds)
            .map(|line| (*line).to_owned()),
    );
    expected.sort();
    expected.dedup();
    expected
}
