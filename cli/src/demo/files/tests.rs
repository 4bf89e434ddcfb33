//! What the demo makes of files, good and bad.

use super::*;

fn scenario(text: &str) -> Scenario {
    let mut scenario = Scenario::default();
    scenario.take("own.yaml", text, "this-host");
    scenario
}

fn pods(gang: &Gang) -> Vec<String> {
    let pods = gang.events.iter().filter_map(|event| match event {
        Event::PodSet(pod) => Some(pod.name.to_string()),
        _ => None,
    });
    pods.collect()
}

#[test]
fn built_in_files_read_without_a_word() {
    let scenario = load(&[], "this-host").expect("they are ours");
    assert_eq!(scenario.problems, [""; 0]);
    assert_eq!(
        scenario.nodes,
        ["sim-calm", "sim-fair", "sim-polluted", "sim-hot"]
    );
    assert_eq!(scenario.profiles.len(), 4);
    let acts: Vec<_> = scenario
        .gangs
        .values()
        .map(|gang| (gang.uid.as_str(), gang.act, pods(gang).len()))
        .collect();
    assert_eq!(
        acts,
        [
            ("demo/first", Act::Calm, 2),
            ("demo/second", Act::Hot, 2),
            ("demo/third", Act::Last, 4)
        ]
    );
}

#[test]
fn a_pod_with_copies_becomes_that_many() {
    let scenario = scenario(
        "apiVersion: v1\nkind: List\nitems:\n\
         - apiVersion: scheduling.volcano.sh/v1beta1\n  kind: PodGroup\n  metadata: {name: g, namespace: ns, annotations: {demo.mco.many-core.io/arrives: '2'}}\n\
         - apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: ns, annotations: {scheduling.k8s.io/group-name: g, demo.mco.many-core.io/copies: '3'}}\n  spec: {schedulerName: volcano}\n  status: {phase: Pending}\n",
    );
    let gang = &scenario.gangs["ns/g"];
    assert_eq!(
        (gang.act, pods(gang)),
        (Act::Hot, vec!["p-0".into(), "p-1".into(), "p-2".into()])
    );
    assert_eq!(scenario.problems, [""; 0]);
}

#[test]
fn a_broken_object_is_told_with_its_place_and_stops_nothing_else() {
    let scenario = scenario(
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 1e400}}\n---\n\
         apiVersion: v1\nkind: Node\nmetadata:\n  name: b\n  annotations: {demo.mco.many-core.io/psi-io-some-avg10: much, demo.mco.many-core.io/colour: red}\n---\n\
         apiVersion: v1\nkind: Node\nmetadata: {name: c\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {demo.mco.many-core.io/copies: '-1', demo.mco.many-core.io/arrives: '1'}}\n---\n\
         apiVersion: v1\nkind: Node\nmetadata: {name: this-host}\n---\n\
         apiVersion: v1\nkind: Node\nmetadata: {name: d}\n",
    );
    let told = scenario.problems.join("\n");
    for part in [
        "own.yaml:10: Node b: annotation `demo.mco.many-core.io/psi-io-some-avg10` is `much`; write a number from 0 to 100",
        "own.yaml:10: Node b: annotation `demo.mco.many-core.io/colour` is not known; known are",
        "own.yaml:18: Pod p: annotation `demo.mco.many-core.io/copies` is `-1`; write a number from 1 to 1000",
        "own.yaml:22: Node this-host has the name of this machine",
        "document 3",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    assert!(scenario.nodes.contains(&"b".to_owned()) && scenario.nodes.contains(&"d".to_owned()));
    assert!(
        scenario.profiles.is_empty(),
        "a collector without a figure sends nothing"
    );
}

#[test]
fn pods_without_their_group_are_no_gang() {
    let dir = std::env::temp_dir().join(format!("mcoctl-demo-files-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder for the test");
    let file = dir.join("pods.yaml");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {scheduling.k8s.io/group-name: g}}\nspec: {schedulerName: volcano}\nstatus: {phase: Pending}\n";
    std::fs::write(&file, pod).expect("a file for the test");
    let error = load(&[file], "this-host")
        .expect_err("nothing to place")
        .to_string();
    std::fs::remove_dir_all(&dir).expect("our own folder");
    assert!(
        error.contains("default/g: its pods name a PodGroup that no file has"),
        "{error}"
    );
    assert!(error.contains("give files with at least one PodGroup"), "{error}");
    let missing = load(&["/nowhere/x.yaml".into()], "this-host")
        .expect_err("no such file")
        .to_string();
    assert!(missing.contains("--cluster /nowhere/x.yaml"), "{missing}");
}
