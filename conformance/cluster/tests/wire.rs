//! What the scheduler writes to the API server, against what Volcano 1.9.0 was seen to write.
//!
//! `data/wire.json` has the scenarios with the lines that are expected here. That those are Volcano's own but for the named
//! differences is checked where the recording is at hand; that the scheduler writes them, always.

use mco_cluster_tests::tools::shared;
use mco_cluster_tests::users::SCHEDULER;
use mco_cluster_tests::wait::{QUIET, SOON, always, until};
use mco_cluster_tests::wire::{DIFFERENCES, Scenario, Scenarios, Write, expected_here, lines};
use mco_cluster_tests::{Cluster, Mark, Object, Scheduler, Setup, kinds, kubelet, priority_class};
use std::path::Path;

/// Scenarios of the recording that need actions which do not exist yet.
const NOT_YET: [(&str, &str); 2] = [
    ("preempt-higher-priority", "the action preempt"),
    ("reclaim-from-other-queue", "the action reclaim"),
];

fn ours() -> Scenarios {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/wire.json");
    Scenarios::read(&path).expect("our own copy can be read")
}

fn recording() -> Option<Scenarios> {
    let path = shared("conformance/wire/volcano-1.9.0.json");
    if path.is_none() {
        println!("the folder of shared cases is not here: not compared with Volcano's recording");
    }
    Some(Scenarios::read(&path?).expect("the recording can be read"))
}

#[test]
fn what_is_expected_is_volcanos_recording_but_for_the_named_differences() {
    let (ours, Some(recording)) = (ours(), recording()) else {
        return;
    };
    assert_eq!(ours.nodes, recording.nodes);
    assert_eq!(ours.priority_classes, recording.priority_classes);
    for (name, theirs) in &recording.scenarios {
        if let Some((_, needed)) = NOT_YET.iter().find(|(waiting, _)| waiting == name) {
            println!("not covered yet: {name}, which needs {needed}");
            continue;
        }
        let expected = ours
            .scenarios
            .get(name)
            .unwrap_or_else(|| panic!("no copy of {name}"));
        assert_eq!(expected.objects, theirs.objects, "{name}");
        let lines = expected_here(name, lines(theirs, &theirs.calls));
        assert_eq!(
            expected.lines,
            lines,
            "{name}:\n{}",
            serde_json::to_string_pretty(&lines).unwrap_or_default()
        );
    }
}

#[test]
fn each_named_difference_shows_in_the_recording() {
    let Some(recording) = recording() else {
        return;
    };
    for difference in DIFFERENCES {
        let shows = recording.scenarios.iter().any(|(name, scenario)| {
            let applies = difference.scenarios.is_empty() || difference.scenarios.contains(&name.as_str());
            let lines = lines(scenario, &scenario.calls);
            let drops = difference
                .drops
                .iter()
                .any(|start| lines.iter().any(|line| line.starts_with(start)));
            let adds = difference
                .adds
                .iter()
                .any(|line| !lines.iter().any(|other| other == line));
            applies && (drops || adds)
        });
        assert!(shows, "{}", difference.name);
    }
}

/// Starts a scheduler on the recording's cluster and waits until it is done with starting.
async fn stage(cluster: &Cluster<'_>, setup: Setup) -> (Scheduler, Mark) {
    let ours = ours();
    let nodes: Vec<Object> = ours.nodes.into_iter().map(Object).collect();
    cluster.create_all(&nodes).await;
    let classes: Vec<Object> = ours
        .priority_classes
        .iter()
        .map(|(name, value)| priority_class(name, *value))
        .collect();
    cluster.create_all(&classes).await;
    let scheduler = Scheduler::start_with(cluster.server, setup).await;
    let audit = cluster.server.audit();
    let is_first_status = |call: &mco_cluster_tests::Call| call.target() == "queues/status";
    audit
        .until(
            "the first queue status",
            cluster.start(),
            &SCHEDULER,
            is_first_status,
        )
        .await;
    (scheduler, audit.mark())
}

fn told(cluster: &Cluster<'_>, scenario: &Scenario, since: Mark) -> Vec<String> {
    let calls = cluster.server.audit().writes_since(since, &SCHEDULER);
    let writes: Vec<Write> = calls.iter().map(Write::from).collect();
    lines(scenario, &writes)
}

/// Nothing, or how they differ.
fn compare(expected: &[String], told: &[String]) -> Result<(), String> {
    let mut differences: Vec<String> = Vec::new();
    differences.extend(
        expected
            .iter()
            .filter(|line| !told.contains(line))
            .map(|line| format!("- {line}")),
    );
    differences.extend(
        told.iter()
            .filter(|line| !expected.contains(line))
            .map(|line| format!("+ {line}")),
    );
    if differences.is_empty() {
        Ok(())
    } else {
        Err(format!("(- expected, + written)\n{}", differences.join("\n")))
    }
}

async fn until_as_expected(cluster: &Cluster<'_>, name: &str, scenario: &Scenario, since: Mark) {
    let what = format!("{name} is written as expected");
    until(&what, SOON, async || {
        compare(&scenario.lines, &told(cluster, scenario, since))
    })
    .await;
    let written = cluster.server.audit().writes_since(since, &SCHEDULER).len();
    always("no more is written", QUIET, async || {
        compare(&scenario.lines, &told(cluster, scenario, since))?;
        let calls = cluster.server.audit().writes_since(since, &SCHEDULER);
        let more: Vec<String> = calls
            .iter()
            .skip(written)
            .map(|call| format!("{} {}", call.line(), call.body))
            .collect();
        let is_renewal = |line: &String| line.starts_with("update leases");
        if more.iter().all(is_renewal) {
            Ok(())
        } else {
            Err(more.join("\n"))
        }
    })
    .await;
}

/// Plays a scenario under the stock conf. One recorded under `ci` is among these only if the actions that make the
/// difference have nothing to do in it.
async fn play(name: &str) {
    let mut ours = ours();
    let scenario = ours.scenarios.remove(name).expect("our own copy has it");
    let cluster = Cluster::shared().await;
    let (_scheduler, mark) = stage(&cluster, Setup::default()).await;
    let before: Vec<Object> = scenario.objects();
    cluster.create_in_order(&before).await;
    if scenario.pods_run {
        cluster.until_all_bound().await;
        kubelet::turn(&cluster.client)
            .await
            .expect("pods are set Running");
    }
    until_as_expected(&cluster, name, &scenario, mark).await;
    nothing_is_lost_by_whole_updates(&cluster, &before).await;
}

/// A PodGroup is written by an update of the whole object: what others wrote there must still be there.
async fn nothing_is_lost_by_whole_updates(cluster: &Cluster<'_>, created: &[Object]) {
    for object in created.iter().filter(|object| object.0["kind"] == "PodGroup") {
        let now = cluster
            .get(kinds::POD_GROUP, "t", object.name())
            .await
            .expect("it is there");
        assert_eq!(now["spec"], object.0["spec"], "{}", object.name());
    }
}

macro_rules! scenarios {
    ($($test:ident = $name:literal;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                play($name).await;
            }
        )*

        #[test]
        fn every_scenario_of_ours_is_played() {
            let played = [$($name,)* "start", "stop-by-SIGTERM"];
            let ours = ours();
            let missing: Vec<&String> = ours.scenarios.keys().filter(|name| !played.contains(&name.as_str())).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    };
}

scenarios! {
    gang_fits = "gang-fits";
    gang_too_big_for_nodes = "gang-too-big-for-nodes";
    gang_short_of_room = "gang-short-of-room";
    not_enough_pods = "not-enough-pods";
    enqueue_refused = "enqueue-refused";
    best_effort = "best-effort";
    taint_and_selector = "taint-and-selector";
    missing_queue = "missing-queue";
    no_podgroup = "no-podgroup";
    annotated_missing_podgroup = "annotated-missing-podgroup";
    gated = "gated";
    fill_with_low = "fill-with-low";
}

#[tokio::test(flavor = "multi_thread")]
async fn start_and_stop_by_sigterm() {
    let ours = ours();
    let cluster = Cluster::shared().await;
    let nodes: Vec<Object> = ours.nodes.into_iter().map(Object).collect();
    cluster.create_all(&nodes).await;
    let mut scheduler =
        Scheduler::start_with(cluster.server, Setup::default().flag("--leader-elect=true")).await;
    until_as_expected(&cluster, "start", &ours.scenarios["start"], cluster.start()).await;
    let mark = cluster.server.audit().mark();
    scheduler.stop();
    let scenario = &ours.scenarios["stop-by-SIGTERM"];
    until("the stop is written as expected", SOON, async || {
        // The lease may have been renewed in between.
        compare(&scenario.lines, &told(&cluster, scenario, mark))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_wrote_on_a_podgroup_stays() {
    let cluster = Cluster::shared().await;
    let (_scheduler, _) = stage(&cluster, Setup::default()).await;
    let group = mco_cluster_tests::pod_group("t", "g", 1)
        .label("team", "a")
        .annotation("example.com/note", "keep me")
        .with(
            &["metadata", "finalizers"],
            serde_json::json!(["example.com/hold"]),
        )
        .with(&["spec", "minTaskMember"], serde_json::json!({"worker": 1}))
        .with(&["spec", "priorityClassName"], "low");
    cluster.create(&group).await;
    let written = until("a status is written", SOON, async || {
        let group = cluster.get(kinds::POD_GROUP, "t", "g").await.ok_or("no group")?;
        if group["status"]["phase"].is_string() {
            Ok(group)
        } else {
            Err(group.to_string())
        }
    })
    .await;
    for field in ["labels", "annotations", "finalizers"] {
        assert_eq!(written["metadata"][field], group.0["metadata"][field], "{field}");
    }
    assert_eq!(written["spec"], group.0["spec"]);
    let none = serde_json::json!({"metadata": {"finalizers": null}});
    cluster.patch(kinds::POD_GROUP, "t", "g", none).await;
}
