//! Files of objects: what is read, what is told, and that nothing stops the rest.

use mco_model::event::{Event, NodeRecord, PodGroupPhase, PodRecord, QueueRecord, WorkloadKind};
use mco_model::time::Time;
use mco_objects::{Kind, Options, ReadObjects, decode, read_objects, removal, yaml};
use proptest::prelude::*;

fn read(text: &str) -> ReadObjects {
    read_objects(text.as_bytes(), "f", &Options::default())
}

fn names(read: &ReadObjects) -> Vec<String> {
    read.events
        .iter()
        .map(|event| match event {
            Event::NodeSet(node) => format!("node {}", node.name),
            Event::PodSet(pod) => format!("pod {}/{}", pod.namespace, pod.name),
            Event::PodGroupSet(group) => format!("group {}/{}", group.namespace, group.name),
            Event::QueueSet(queue) => format!("queue {}", queue.name),
            other => format!("{other:?}"),
        })
        .collect()
}

fn errors(read: &ReadObjects) -> Vec<String> {
    read.errors.iter().map(ToString::to_string).collect()
}

fn pod(json: &str) -> PodRecord {
    match decode(json.as_bytes(), &Options::default()).unwrap().event {
        Some(Event::PodSet(pod)) => *pod,
        other => panic!("{other:?}"),
    }
}

fn node(json: &str) -> NodeRecord {
    match decode(json.as_bytes(), &Options::default()).unwrap().event {
        Some(Event::NodeSet(node)) => *node,
        other => panic!("{other:?}"),
    }
}

fn queue(json: &str) -> QueueRecord {
    match decode(json.as_bytes(), &Options::default()).unwrap().event {
        Some(Event::QueueSet(queue)) => *queue,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_broken_document_does_not_stop_the_others() {
    let read = read(
        "\
# nothing but a comment
---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
kind: [unclosed
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: ns
spec:
  containers:
  - name: c
    resources:
      requests:
        memory: 1Gi
        cpu: 1GB
---
just text
---
apiVersion: v1
kind: Deployment
metadata: {name: d}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
",
    );
    assert_eq!(names(&read), ["node n1", "queue q"]);
    assert_eq!(
        read.ignored
            .iter()
            .map(|(kind, n)| format!("{kind} {n}"))
            .collect::<Vec<_>>(),
        ["Deployment 1"]
    );
    let errors = errors(&read);
    assert_eq!(errors[0], "f:7: document 2: unclosed bracket '['");
    assert_eq!(
        errors[1],
        "f:20: document 3: Pod ns/p: spec.containers[0].resources.requests.cpu: `1GB` is no quantity: unexpected 'B' \
         after 2 bytes; write it like 2, 1.5, 500m, 4Gi or 1e3"
    );
    assert_eq!(
        errors[2],
        "f:22: document 4: object: invalid type: string \"just text\", expected an object"
    );
    assert_eq!(errors.len(), 3);
}

#[test]
fn lists_json_lines_and_json_in_a_row_stand_for_their_objects() {
    let node = |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{name}"}}}}"#);
    let (a, b) = (node("a"), node("b"));
    for text in [
        format!("{a}\n{b}\n"),
        format!("{a}{b}"),
        format!("\u{feff}  {a}\n\n{b}"),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{a},{b}]}}"#),
        r#"{"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}"#.into(),
        format!("---\n{a}\n---\n{b}\n"),
        "apiVersion: v1\nkind: List\nitems:\n- &n\n  apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n\
         - <<: *n\n  metadata: {name: b}\n"
            .into(),
        format!("{{apiVersion: v1, kind: List, items: [{a}, {b}]}}"),
    ] {
        let read = read(&text);
        assert_eq!((names(&read), errors(&read)), (vec!["node a".into(), "node b".into()], vec![]), "{text}");
    }
}

#[test]
fn a_broken_json_line_or_item_does_not_stop_the_others() {
    let read = read(
        r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}
{"apiVersion":"v1","kind":"Node","metadata":{"name":}}
{"apiVersion":"v1","kind":"Node","metadata":{"name":5}}
{"apiVersion":"v1","kind":"List","items":[
  {"apiVersion":"v1","kind":"Node","metadata":{}},
  {"kind":"Node"},
  {"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}]}
"#,
    );
    assert_eq!(names(&read), ["node a", "node b"]);
    assert_eq!(
        errors(&read),
        [
            "f:2: document 2: expected value",
            "f:3: document 3: Node: metadata.name: invalid type: integer `5`, expected a string",
            "f:5: document 4: Node: metadata.name: an object needs a name",
            "f:6: document 4: Node: `apiVersion` is missing, so this is no Kubernetes object",
        ]
    );
}

#[test]
fn text_that_is_no_utf_8_is_an_error_with_its_line() {
    let read = read_objects(b"a: 1\nb: \xff\n", "f", &Options::default());
    assert_eq!(errors(&read), ["f:2: document 1: this is no UTF-8 text"]);
}

#[test]
fn a_bomb_of_aliases_is_refused_quickly() {
    let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..30 {
        let prior = format!("*a{},", level - 1).repeat(10);
        text += &format!("a{level}: &a{level} [{prior}]\n");
    }
    assert!(yaml::to_json(&text).unwrap_err().problem.contains("too large"));
    let deep = yaml::to_json(&"[".repeat(100_000)).unwrap_err();
    assert!(!deep.problem.is_empty());
    assert!(yaml::to_json("a: &a [*a]").is_err());
}

#[test]
fn a_pod_is_read_as_the_scheduler_sees_it() {
    let pod = pod(r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "p", "namespace": "ns", "creationTimestamp": "2024-01-01T00:00:01.5Z",
        "deletionTimestamp": "2024-01-02T00:00:00Z", "labels": {"app": "x"}, "managedFields": [{"odd": true}],
        "annotations": {"scheduling.k8s.io/group-name": "g", "volcano.sh/task-spec": "worker", "other": 5,
            "volcano.sh/task-priority": "-3", "volcano.sh/preemptable": "maybe", "volcano.sh/template-uid": "t"},
        "ownerReferences": [{"kind": "Job", "name": "j"}, {"kind": "ReplicaSet", "name": "rs", "controller": true}]},
      "spec": {"schedulerName": "volcano", "nodeName": "n", "priority": 7, "runtimeClassName": "kata-qemu",
        "nodeSelector": {"disk": "ssd"}, "priorityClassName": "high", "schedulingGates": [{"name": "gate"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        "tolerations": [{"operator": "Exists"}], "volumes": [
          {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "e", "ephemeral": {}},
          {"name": "x", "emptyDir": {}}],
        "initContainers": [{"name": "s", "restartPolicy": "Always", "ports": [{"hostPort": 80}]},
          {"name": "i", "ports": [{"hostPort": 81}]}],
        "containers": [{"name": "c", "image": "img:1", "ports": [{"containerPort": 5},
            {"hostPort": 82, "hostIP": "127.0.0.1", "protocol": "UDP"}],
          "resources": {"requests": {"cpu": 1, "nvidia.com/gpu": "1", "pods": null}}}]},
      "status": {"phase": "Running", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}]}}"#);
    assert_eq!((&*pod.namespace, &*pod.name, &*pod.uid), ("ns", "p", "ns/p"));
    assert_eq!(pod.created, Some(Time(1_704_067_201_500)));
    assert!(pod.deleting && pod.ours && !pod.preemptable && !pod.best_effort);
    assert_eq!(
        (&*pod.group, &*pod.role, &*pod.template_uid, pod.priority),
        ("g", "worker", "t", -3)
    );
    assert_eq!(pod.controller, Some((WorkloadKind::ReplicaSet, "rs".into())));
    assert_eq!(pod.spec.node_affinity.required, Some(vec![]));
    assert_eq!(pod.spec.claims.len(), 2);
    let ports: Vec<_> = pod
        .spec
        .host_ports
        .iter()
        .map(|p| format!("{}:{}/{}", p.ip, p.port, p.protocol))
        .collect();
    // Kubernetes 1.29 looks at the ports of no init container.
    assert_eq!(ports, ["127.0.0.1:82/UDP"]);
    assert_eq!(pod.spec.runtime_class.as_deref(), Some("kata-qemu"));
    assert_eq!(pod.request.milli_cpu, 1000.0);
    let scalars: Vec<_> = pod
        .request
        .scalars
        .iter()
        .map(|(name, amount)| (&**name, *amount))
        .collect();
    assert_eq!(scalars, [("nvidia.com/gpu", 1000.0), ("pods", 1.0)]);
    // One sidecar and one container without memory; the init container beside the sidecar asks for less than the sum.
    assert_eq!(
        (pod.spec.non_zero_milli_cpu, pod.spec.non_zero_memory),
        (1100, 400 << 20)
    );
    assert_eq!(
        pod.scheduled_condition,
        Some((false, "Unschedulable".into(), "m".into()))
    );
}

#[test]
fn absent_and_null_fields_take_their_defaults() {
    let bare = pod(r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}"#);
    let null = pod(
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": null, "labels": null,
            "annotations": null, "ownerReferences": null, "creationTimestamp": null},
            "spec": {"containers": null, "priority": null, "affinity": null, "overhead": null}, "status": null}"#,
    );
    for pod in [bare, null] {
        assert_eq!((&*pod.namespace, pod.priority, pod.created), ("default", 1, None));
        assert!(pod.preemptable && pod.best_effort && !pod.ours && !pod.deleting);
    }
    let queue = queue(
        r#"{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"},
        "spec": {"capability": {}, "deserved": {"cpu": "2"}, "guarantee": {"resource": {"memory": "1Ki"}}}}"#,
    );
    assert!(queue.reclaimable && !queue.capability.given);
    assert_eq!(
        (queue.weight, queue.deserved.milli_cpu, queue.guarantee.memory),
        (0, 2000.0, 1024.0)
    );
}

#[test]
fn a_node_is_read_with_its_oversubscription_and_readiness() {
    let node = node(
        r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",
        "labels": {"volcano.sh/revocable-zone": "z"},
        "annotations": {"volcano.sh/oversubscription-cpu": "500", "volcano.sh/oversubscription-memory": "lots"}},
      "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
      "status": {"allocatable": {"cpu": "3500m", "memory": "1Gi", "pods": "110", "storage": "1"},
        "conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": "Unknown"}],
        "images": [{"names": ["a", "b"], "sizeBytes": 7}]}}"#,
    );
    assert_eq!(
        (node.allocatable.milli_cpu, node.max_pods, node.oversubscription),
        (3500.0, 110, (500.0, 0.0))
    );
    assert!(node.unschedulable && !node.ready);
    assert_eq!(node.images, [("a".into(), 7), ("b".into(), 7)]);
    assert_eq!(
        (
            &*node.revocable_zone,
            node.taints.len(),
            node.allocatable.scalars.len()
        ),
        ("z", 1, 1)
    );
}

#[test]
fn groups_and_the_rest_are_read() {
    let read = read(
        "\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns, annotations: {volcano.sh/preemptable: 'true'}}
spec: {minMember: 2, minTaskMember: {ps: 1}, queue: q, minResources: {cpu: 500m, memory: 1Gi, storage: 1500m}}
status: {phase: Inqueue, conditions: [{type: Unschedulable, status: 'True', transitionID: t}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 10
globalDefault: true
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: ns}
spec: {selector: {app: x}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: ns}
spec: {selector: {matchExpressions: [{key: a, operator: Exists}]}}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: other}
",
    );
    assert_eq!(errors(&read), Vec::<String>::new());
    assert_eq!(read.ignored.get("Service"), Some(&1));
    let [
        Event::PodGroupSet(group),
        Event::PriorityClassSet(class),
        Event::WorkloadSet(service),
        Event::WorkloadSet(set),
    ] = read.events.as_slice()
    else {
        panic!("{:?}", read.events)
    };
    assert!(
        group.preemptable
            && group.status.phase == PodGroupPhase::Inqueue
            && group.status.conditions[0].status
    );
    assert_eq!(group.min_task_member.get("ps"), Some(&1));
    assert_eq!(group.min_resources.as_ref().unwrap().milli_cpu, 500.0);
    let whole: Vec<_> = group
        .min_resources_whole
        .iter()
        .map(|(name, amount)| (&**name, *amount))
        .collect();
    assert_eq!(whole, [("cpu", 1.0), ("memory", 1073741824.0), ("storage", 2.0)]);
    assert!(class.value == 10 && class.global_default);
    assert_eq!(service.selector.as_ref().unwrap().labels.len(), 1);
    assert_eq!(set.selector.as_ref().unwrap().expressions.len(), 1);
}

#[test]
fn a_broken_entry_of_the_report_leaves_one_node_without_data() {
    let json = r#"{"apiVersion": "mco.many-core.io/v1alpha1", "kind": "NodeInterferenceReport",
        "metadata": {"name": "cluster"}, "status": {"lastUpdateTime": "2024-01-01T00:00:00Z", "nodes": {
        "a": {"status": "ok", "interferenceLevel": 0.5, "psiAvailable": true, "metrics": {"psiIoSomeAvg10": 3}},
        "b": {"status": "ok", "interferenceLevel": 1.5}, "c": {"status": "ok", "interferenceLevel": "x"}}}}"#;
    let decoded = decode(json.as_bytes(), &Options::default()).unwrap();
    let Some(Event::ReportSet(report)) = decoded.event else {
        panic!("{:?}", decoded.event)
    };
    assert_eq!(
        (report.nodes["a"].level, report.nodes["a"].psi_io_some_avg10),
        (Some(0.5), Some(3.0))
    );
    assert_eq!((report.nodes["b"].level, report.nodes.get("c")), (None, None));
    assert_eq!(report.last_update, Some(Time(1_704_067_200_000)));
    assert!(
        decoded.problems[0]
            .to_string()
            .starts_with("NodeInterferenceReport cluster: status.nodes[\"c\"]")
    );
    let other = json.replace(r#""cluster""#, r#""cluster-1""#);
    assert!(
        decode(other.as_bytes(), &Options::default())
            .unwrap()
            .event
            .is_none()
    );
}

#[test]
fn wrong_types_are_told_with_their_field_and_only_where_they_matter() {
    for (change, problem) in [
        (
            r#""spec": {"priority": "7"}"#,
            "spec.priority: invalid type: string \"7\", expected i32",
        ),
        (
            r#""spec": {"priority": 2147483648}"#,
            "spec.priority: invalid value: integer `2147483648`, expected i32",
        ),
        (
            r#""spec": {"nodeSelector": {"a": true}}"#,
            "spec.nodeSelector.a: invalid type: boolean `true`, expected a string",
        ),
        (
            r#""spec": {"containers": {}}"#,
            "spec.containers: invalid type: map, expected a list",
        ),
        (
            r#""spec": {"overhead": {"cpu": [1]}}"#,
            "spec.overhead.cpu: `[1]` is no quantity: unexpected '[' after 0 bytes; \
          write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
        (
            r#""spec": ["volcano"]"#,
            "spec: invalid type: sequence, expected an object",
        ),
        (
            r#""spec": {"containers": [["c"]]}"#,
            "spec.containers[0]: invalid type: sequence, expected an object",
        ),
        (
            r#""spec": {"affinity": 1}"#,
            "spec.affinity: invalid type: integer `1`, expected an object",
        ),
        (r#""spec": {"dnsPolicy": 5, "volumes": [{"emptyDir": []}]}"#, ""),
    ] {
        let json = format!(r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}}, {change}}}"#);
        match decode(json.as_bytes(), &Options::default()) {
            Ok(_) => assert_eq!(problem, "", "{change}"),
            Err(error) => assert_eq!(error.to_string(), format!("Pod p: {problem}")),
        }
    }
    let late =
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "creationTimestamp": "soon"}}"#;
    assert_eq!(
        decode(late.as_bytes(), &Options::default())
            .unwrap_err()
            .to_string(),
        "Pod p: metadata.creationTimestamp: \"soon\" is no time; write it like 2006-01-02T15:04:05Z"
    );
}

#[test]
fn every_kind_has_a_group_and_a_removal() {
    for (api_version, kind) in [
        ("v1", "Node"),
        ("v1", "Pod"),
        ("scheduling.volcano.sh/v1beta1", "PodGroup"),
        ("scheduling.volcano.sh/v1beta1", "Queue"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("v1", "Namespace"),
        ("v1", "Service"),
        ("v1", "ReplicationController"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("mco.many-core.io/v1alpha1", "NodeInterferenceReport"),
    ] {
        let known = Kind::of(api_version, kind).unwrap();
        assert_eq!(known.name(), kind);
        let text = format!("{:?}", removal(known, "ns", "x"));
        assert!(text.contains("Removed"), "{text}");
    }
    assert_eq!(Kind::of("v1", "ConfigMap"), None);
    assert_eq!(Kind::of("example.com/v1", "Pod"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_objects(&bytes, "f", &Options::default());
    }

    #[test]
    fn no_yaml_panics(text in "([-:?&*!|>'\"%@`{}\\[\\], \n\t#a1~.<]|---\n|kind: Pod\n|apiVersion: v1\n|  metadata: ){0,60}") {
        let _ = read(&text);
        let _ = read(&format!("{{{text}"));
    }

    #[test]
    fn texts_come_through_yaml_unchanged(text in "\\PC{0,40}") {
        let quoted = serde_json::to_string(&text).unwrap();
        let json = yaml::to_json(&format!("a: {quoted}\n")).unwrap().json;
        let object: serde_json::Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(object["a"].as_str(), Some(text.as_str()));
    }
}
