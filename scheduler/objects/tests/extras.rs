//! What only some plugins read: annotations, quotas, budgets, cards, CPU topologies. A part that cannot be used counts as
//! said and is told by its place; nothing else is affected.

use mco_model::event::{Event, NodeRecord, PodGroupRecord, PodRecord, QueueRecord};
use mco_model::extra::*;
use mco_model::span::Span;
use mco_model::time::Time;
use mco_objects::{Kind, Options, decode, removal};
use serde_json::{Value, json};

fn read(object: &Value) -> (Event, Vec<String>) {
    let decoded = decode(object.to_string().as_bytes(), &Options::default()).unwrap();
    let problems = decoded.problems.iter().map(ToString::to_string).collect();
    (decoded.event.unwrap(), problems)
}

fn pod(annotations: Value, labels: Value, spec: Value, status: Value) -> (PodRecord, Vec<String>) {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "annotations": annotations, "labels": labels},
        "spec": spec, "status": status,
    });
    match read(&object) {
        (Event::PodSet(pod), problems) => (*pod, problems),
        (other, _) => panic!("{other:?}"),
    }
}

fn group(annotations: Value) -> (PodGroupRecord, Vec<String>) {
    let object = json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "ns", "annotations": annotations},
        "spec": {"minMember": 3, "minResources": {"requests.cpu": "1500m", "pods": 2, "cpu": "1"}},
    });
    match read(&object) {
        (Event::PodGroupSet(group), problems) => {
            assert_eq!(group.min_member, 3, "nothing else is affected");
            (*group, problems)
        }
        (other, _) => panic!("{other:?}"),
    }
}

fn node(annotations: Value, capacity: Value) -> (NodeRecord, Vec<String>) {
    let object = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n", "annotations": annotations},
        "status": {"capacity": capacity, "allocatable": {"cpu": "8"}},
    });
    match read(&object) {
        (Event::NodeSet(node), problems) => {
            assert_eq!(node.allocatable.milli_cpu, 8000.0, "nothing else is affected");
            (*node, problems)
        }
        (other, _) => panic!("{other:?}"),
    }
}

/// One problem at most, which names the object and holds the text.
fn told(name: &str, problems: &[String], text: &str) {
    match (problems, text) {
        ([], "") => {}
        ([problem], text) if !text.is_empty() => assert!(problem.contains(text), "{name}: {problem}"),
        _ => panic!("{name}: {problems:?}, not {text:?}"),
    }
}

#[test]
fn waiting_times_of_groups() {
    let rows = [
        ("absent", json!({}), None, ""),
        (
            "one",
            json!({"volcano.sh/sla-waiting-time": "1h"}),
            Some(3600),
            "",
        ),
        ("the plain one", json!({"sla-waiting-time": "2s"}), Some(2), ""),
        (
            "the first of both",
            json!({"sla-waiting-time": "2s", "volcano.sh/sla-waiting-time": "1s"}),
            Some(1),
            "",
        ),
        (
            "a broken one leaves it to the other",
            json!({"sla-waiting-time": "2s", "volcano.sh/sla-waiting-time": "soon"}),
            Some(2),
            "PodGroup ns/g: metadata.annotations[volcano.sh/sla-waiting-time]: \"soon\" is no duration",
        ),
        (
            "zero",
            json!({"sla-waiting-time": "0"}),
            None,
            "metadata.annotations[sla-waiting-time]: \"0\" is not above zero",
        ),
        (
            "below zero",
            json!({"sla-waiting-time": "-1m"}),
            None,
            "is not above zero",
        ),
    ];
    for (name, annotations, seconds, problem) in rows {
        let (group, problems) = group(annotations);
        assert_eq!(group.waiting_time, seconds.map(Span::seconds), "{name}");
        told(name, &problems, problem);
    }
}

#[test]
fn budgets_of_groups() {
    use Count::{Number, Percent};
    use JobBudget::{MaxUnavailable, MinAvailable};
    let (min, max) = ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable");
    let rows = [
        ("absent", json!({}), None, ""),
        ("a number", json!({min: "3"}), Some(MinAvailable(Number(3))), ""),
        (
            "a part",
            json!({max: "30%"}),
            Some(MaxUnavailable(Percent(30))),
            "",
        ),
        (
            "the minimum goes before",
            json!({min: "1", max: "2"}),
            Some(MinAvailable(Number(1))),
            "",
        ),
        ("an empty minimum too", json!({min: "", max: "2"}), None, ""),
        (
            "a text",
            json!({max: "some"}),
            Some(MaxUnavailable(Number(0))),
            "metadata.annotations[volcano.sh/jdb-max-unavailable]: \"some\" is neither a whole number nor a percentage",
        ),
        (
            "half a number",
            json!({min: "1.5%"}),
            Some(MinAvailable(Number(0))),
            "jdb-min-available",
        ),
    ];
    for (name, annotations, budget, problem) in rows {
        let (group, problems) = group(annotations);
        assert_eq!(group.budget, budget, "{name}");
        told(name, &problems, problem);
    }
}

#[test]
fn groups_keep_every_name_of_their_minimum_and_what_they_wish() {
    let (group, problems) = group(json!({"volcano.sh/task-topology-affinity": "a,b;c"}));
    let named: Vec<(&str, i128)> = group
        .min_resources_named
        .iter()
        .map(|(name, nanos)| (&**name, *nanos))
        .collect();
    let cores = 1_000_000_000;
    assert_eq!(
        named,
        [
            ("cpu", cores),
            ("pods", 2 * cores),
            ("requests.cpu", cores * 3 / 2)
        ]
    );
    assert_eq!(group.topology.affinity.as_deref(), Some("a,b;c"));
    assert!(group.topology.order.is_none() && problems.is_empty());
}

#[test]
fn cooldowns_of_pods() {
    let key = "volcano.sh/cooldown-time";
    let rows = [
        ("absent", json!({}), json!({}), None, ""),
        ("annotation", json!({key: "10m"}), json!({}), Some(600), ""),
        (
            "the label goes before",
            json!({key: "10m"}),
            json!({key: "1m"}),
            Some(60),
            "",
        ),
        (
            "broken",
            json!({key: "bad"}),
            json!({}),
            None,
            "Pod ns/p: metadata.annotations[volcano.sh/cooldown-time]: \"bad\"",
        ),
        (
            "a broken label hides the annotation",
            json!({key: "1m"}),
            json!({key: "5"}),
            None,
            "metadata.labels[volcano.sh/cooldown-time]",
        ),
    ];
    for (name, annotations, labels, seconds, problem) in rows {
        let (pod, problems) = pod(annotations, labels, json!({}), json!({}));
        assert_eq!(pod.extra.cooldown, seconds.map(Span::seconds), "{name}");
        told(name, &problems, problem);
    }
}

#[test]
fn zones_queues_and_times_of_pods() {
    let rows = [
        ("nothing said", json!({}), false),
        ("any zone", json!({"volcano.sh/revocable-zone": "*"}), true),
        ("one zone", json!({"volcano.sh/revocable-zone": "z1"}), false),
        ("preemptable", json!({"volcano.sh/preemptable": "true"}), true),
        (
            "preemptable, and one zone",
            json!({"volcano.sh/preemptable": "true", "volcano.sh/revocable-zone": ""}),
            false,
        ),
        (
            "preemptable in words",
            json!({"volcano.sh/preemptable": "yes"}),
            false,
        ),
    ];
    for (name, annotations, revocable) in rows {
        let (pod, _) = pod(
            annotations,
            json!({"volcano.sh/preemptable": "true"}),
            json!({}),
            json!({}),
        );
        assert_eq!(pod.spec.revocable, revocable, "{name}");
    }
    let (label, plain, scheduling) = (
        json!({"volcano.sh/queue-name": "l"}),
        "volcano.sh/queue-name",
        "scheduling.volcano.sh/queue-name",
    );
    let rows = [
        ("nothing", json!({}), json!({}), ""),
        ("label first", json!({plain: "a", scheduling: "s"}), label, "l"),
        (
            "annotation next",
            json!({plain: "a", scheduling: "s"}),
            json!({}),
            "a",
        ),
        (
            "the other annotation last",
            json!({scheduling: "s"}),
            json!({}),
            "s",
        ),
    ];
    for (name, annotations, labels, queue) in rows {
        let (pod, _) = pod(annotations, labels, json!({}), json!({}));
        assert_eq!(&*pod.spec.named_queue, queue, "{name}");
    }
    let conditions = json!({"conditions": [
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": "1970-01-01T00:00:07Z"},
    ]});
    let (pod, _) = pod(json!({}), json!({}), json!({"priority": -5}), conditions);
    assert_eq!(pod.extra.scheduled_at, Some(Time(7000)));
    assert_eq!(pod.extra.given_priority, Some(-5));
}

#[test]
fn quality_is_what_limits_make_it() {
    let list = |cpu: &str, memory: &str| {
        let mut list = json!({});
        for (name, amount) in [("cpu", cpu), ("memory", memory)] {
            if !amount.is_empty() {
                list[name] = amount.into();
            }
        }
        list
    };
    let both = list("2", "1Gi");
    let rows = [
        ("nothing", json!({}), "", Quality::BestEffort),
        (
            "zero",
            json!({"requests": list("0", "0")}),
            "",
            Quality::BestEffort,
        ),
        (
            "other kinds alone",
            json!({"requests": {"x.io/y": 1}}),
            "",
            Quality::BestEffort,
        ),
        ("requests", json!({"requests": both}), "", Quality::Burstable),
        (
            "limits are requests",
            json!({"requests": both, "limits": both}),
            "",
            Quality::Guaranteed,
        ),
        (
            "in other words",
            json!({"requests": both, "limits": list("2000m", "1024Mi")}),
            "",
            Quality::Guaranteed,
        ),
        (
            "limits above",
            json!({"requests": list("1", "1Gi"), "limits": both}),
            "",
            Quality::Burstable,
        ),
        (
            "one limit is missing",
            json!({"requests": list("2", ""), "limits": list("2", "")}),
            "",
            Quality::Burstable,
        ),
        (
            "as the API server says",
            json!({}),
            "Guaranteed",
            Quality::Guaranteed,
        ),
    ];
    for (name, resources, said, quality) in rows {
        let spec = json!({"containers": [{"name": "c", "resources": resources}]});
        let (pod, _) = pod(json!({}), json!({}), spec, json!({"qosClass": said}));
        assert_eq!(pod.spec.quality, quality, "{name}");
        assert_eq!(pod.spec.cpus.is_some(), quality == Quality::Guaranteed, "{name}");
    }
}

#[test]
fn whole_cpus_of_guaranteed_pods() {
    let container = |cpu: &str| {
        let list = json!({"cpu": cpu, "memory": "1Gi"});
        json!({"resources": {"requests": list, "limits": list}})
    };
    let spec = json!({"containers": [container("2"), container("1500m"), container("3000m")]});
    let (pod, _) = pod(
        json!({"volcano.sh/numa-topology-policy": "restricted"}),
        json!({}),
        spec,
        json!({}),
    );
    let cpus = pod.spec.cpus.unwrap();
    assert_eq!(
        (&*cpus.policy, &cpus.containers[..]),
        ("restricted", &[Some(2), Some(0), Some(3)][..])
    );
}

fn limits(list: Value) -> Value {
    json!({"resources": {"limits": list}})
}

#[test]
fn pods_ask_for_plain_cards_by_their_limits() {
    let gpu = |memory: i64, number: i64| {
        limits(json!({"volcano.sh/gpu-memory": memory, "volcano.sh/gpu-number": number}))
    };
    let rows = [
        ("nothing", json!({"containers": [{}]}), None),
        (
            "the sum of containers",
            json!({"containers": [gpu(5, 1), gpu(6, 2)]}),
            Some((11, 3)),
        ),
        (
            "or the most of starting ones",
            json!({"containers": [gpu(5, 1)], "initContainers": [gpu(9, 0), gpu(2, 4)]}),
            Some((9, 4)),
        ),
        (
            "below zero is nothing",
            json!({"containers": [gpu(-5, -1)]}),
            None,
        ),
        (
            "requests alone do not count",
            json!({"containers": [{"resources": {"requests": {"volcano.sh/gpu-memory": 5}}}]}),
            None,
        ),
    ];
    for (name, spec, expected) in rows {
        let (pod, _) = pod(json!({}), json!({}), spec, json!({}));
        let found = pod.spec.cards.map(|needs| (needs.memory, needs.number));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn pods_ask_for_shares_of_registered_cards() {
    let key = |part: &str| format!("volcano.sh/vgpu-{part}");
    let (number, memory, percent, cores) = (
        key("number"),
        key("memory"),
        key("memory-percentage"),
        key("cores"),
    );
    let share = |number, memory, percent, cores| CardShare {
        number,
        memory,
        percent,
        cores,
    };
    let rows = [
        (
            "a number takes all memory",
            json!({&number: 2}),
            json!({}),
            Some(share(2, 0, Some(100), 0)),
        ),
        (
            "memory alone is of one card",
            json!({&memory: 300}),
            json!({}),
            Some(share(1, 300, None, 0)),
        ),
        (
            "a part",
            json!({&number: 1, &percent: 20, &cores: 30}),
            json!({}),
            Some(share(1, 0, Some(20), 30)),
        ),
        (
            "a part of 101 is none",
            json!({&number: 1, &percent: 101, &memory: 7}),
            json!({}),
            Some(share(1, 7, None, 0)),
        ),
        (
            "details may be requests",
            json!({&number: 1}),
            json!({&memory: 9, &cores: 5}),
            Some(share(1, 9, None, 5)),
        ),
        (
            "a number that is not whole is 0",
            json!({&number: "1500m", &memory: 7}),
            json!({}),
            Some(share(0, 7, None, 0)),
        ),
        ("cores alone ask for nothing", json!({&cores: 5}), json!({}), None),
    ];
    for (name, limits, requests, expected) in rows {
        let spec = json!({"containers": [{"resources": {"limits": limits, "requests": requests}}]});
        let (pod, _) = pod(
            json!({"nvidia.com/use-gputype": "A100"}),
            json!({}),
            spec,
            json!({}),
        );
        let needs = pod.spec.cards;
        assert_eq!(needs.as_ref().map(|needs| needs.shares[0]), expected, "{name}");
        assert_eq!(
            needs.and_then(|needs| needs.use_kinds).is_some(),
            expected.is_some(),
            "{name}"
        );
    }
}

#[test]
fn pods_have_the_cards_that_their_annotations_say() {
    let share = |uuid: &str, memory, cores| HeldShare {
        uuid: uuid.into(),
        memory,
        cores,
    };
    let rows = [
        ("nothing", json!({}), None, ""),
        (
            "numbers",
            json!({"volcano.sh/gpu-index": "0,3"}),
            Some((vec![0, 3], vec![])),
            "",
        ),
        (
            "no numbers",
            json!({"volcano.sh/gpu-index": "0,x"}),
            None,
            "metadata.annotations[volcano.sh/gpu-index]: \"0,x\"",
        ),
        (
            "shares of two containers",
            json!({"volcano.sh/vgpu-ids-new": "a,NVIDIA,10,20:b,NVIDIA,1,2:;c,NVIDIA,3,0:"}),
            Some((
                vec![],
                vec![share("a", 10, 20), share("b", 1, 2), share("c", 3, 0)],
            )),
            "",
        ),
        (
            "a broken share is passed over",
            json!({"volcano.sh/vgpu-ids-new": "a,NVIDIA:b,NVIDIA,1,2:"}),
            Some((vec![], vec![share("b", 1, 2)])),
            "metadata.annotations[volcano.sh/vgpu-ids-new]: \"a,NVIDIA\" is no share of a card",
        ),
    ];
    for (name, annotations, expected, problem) in rows {
        let (pod, problems) = pod(annotations, json!({}), json!({}), json!({}));
        let held = pod.extra.cards.map(|cards| (cards.numbers, cards.shares));
        assert_eq!(held, expected, "{name}");
        told(name, &problems, problem);
    }
}

#[test]
fn nodes_have_plain_cards_by_capacity() {
    let gpus =
        |memory: i64, number: i64| json!({"volcano.sh/gpu-memory": memory, "volcano.sh/gpu-number": number});
    let unhealthy = |ids: &str| json!({"volcano.sh/gpu-unhealthy-ids": ids});
    let rows = [
        ("none", json!({}), json!({}), None, ""),
        (
            "both are needed",
            json!({}),
            json!({"volcano.sh/gpu-memory": 9}),
            None,
            "",
        ),
        ("no card", json!({}), gpus(0, 0), None, ""),
        ("some", json!({}), gpus(9001, 2), Some((4500, vec![0, 1])), ""),
        (
            "without the broken ones",
            unhealthy("1,9"),
            gpus(9, 3),
            Some((3, vec![0, 2])),
            "",
        ),
        (
            "a text is passed over",
            unhealthy("x,0"),
            gpus(9, 3),
            Some((3, vec![1, 2])),
            "Node n: metadata.annotations[volcano.sh/gpu-unhealthy-ids]: \"x\"",
        ),
        (
            "too many",
            json!({}),
            gpus(9, 1_000_000_000),
            None,
            "status.capacity[volcano.sh/gpu-number]",
        ),
        (
            "below zero",
            json!({}),
            gpus(9, -1),
            None,
            "status.capacity[volcano.sh/gpu-number]",
        ),
    ];
    for (name, annotations, capacity, expected, problem) in rows {
        let (node, problems) = node(annotations, capacity);
        let cards = node.cards.and_then(|cards| cards.plain);
        assert_eq!(
            cards.map(|cards| (cards.memory, cards.numbers)),
            expected,
            "{name}"
        );
        told(name, &problems, problem);
    }
}

#[test]
fn nodes_have_registered_cards_by_annotation() {
    let register = |text: &str| json!({"volcano.sh/node-vgpu-register": text});
    let rows = [
        ("none", json!({}), vec![], ""),
        (
            "two",
            register("a,5,100,NVIDIA-T4,true:b,1,7,MLU,false:"),
            vec![("a", 5, 100), ("b", 1, 7)],
            "",
        ),
        (
            "no card",
            register("nothing"),
            vec![],
            "metadata.annotations[volcano.sh/node-vgpu-register]: there is no card",
        ),
        (
            "half a card",
            register("a,5:b,1,7,MLU,true:"),
            vec![("b", 1, 7)],
            "\"a,5\" is no card",
        ),
        (
            "no number",
            register("a,five,7,T4,true:"),
            vec![("a", 0, 7)],
            "\"five\" of card a is no number",
        ),
    ];
    for (name, annotations, expected, problem) in rows {
        let (node, problems) = node(annotations, json!({}));
        let cards = node.cards.map(|cards| cards.registered).unwrap_or_default();
        let found: Vec<_> = cards
            .iter()
            .map(|card| (&*card.uuid, card.shares, card.memory))
            .collect();
        assert_eq!(found, expected, "{name}");
        told(name, &problems, problem);
    }
    let rows = [
        ("Reported 2024.01.01 00:00:00", Handshake::Reported, ""),
        (
            "Requesting_1970.01.01 00:01:00",
            Handshake::Requested(Some(Time(60_000))),
            "",
        ),
        (
            "Requesting",
            Handshake::Requested(None),
            "metadata.annotations[volcano.sh/node-vgpu-handshake]",
        ),
        ("Requesting_soon", Handshake::Requested(None), "names no time"),
        ("Deleted_1970.01.01 00:01:00", Handshake::Deleted, ""),
    ];
    for (text, handshake, problem) in rows {
        let annotations = json!({"volcano.sh/node-vgpu-register": "a,5,100,NVIDIA-T4,true:", "volcano.sh/node-vgpu-handshake": text});
        let (node, problems) = node(annotations, json!({}));
        assert_eq!(node.cards.unwrap().handshake, handshake, "{text}");
        told(text, &problems, problem);
    }
}

#[test]
fn queues_want_and_avoid_node_groups() {
    let terms = |required: &str, preferred: &str| {
        json!({
            "requiredDuringSchedulingIgnoredDuringExecution": [required],
            "preferredDuringSchedulingIgnoredDuringExecution": [preferred],
        })
    };
    let queue = |affinity: Value| -> QueueRecord {
        let object = json!({
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"},
            "spec": {"affinity": affinity},
        });
        match read(&object).0 {
            Event::QueueSet(queue) => *queue,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(queue(json!({})).node_groups, None);
    assert_eq!(queue(json!({"nodeGroupAffinity": {}})).node_groups, None);
    let groups =
        queue(json!({"nodeGroupAffinity": terms("a", "b"), "nodeGroupAntiAffinity": terms("c", "d")}))
            .node_groups;
    let texts = groups.map(|groups| {
        [groups.required, groups.preferred, groups.refused, groups.avoided]
            .concat()
            .join("")
    });
    assert_eq!(texts.as_deref(), Some("abcd"));
}

#[test]
fn quotas_and_budgets() {
    let object = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ns"},
        "spec": {"hard": {"pods": 9}}, "status": {"hard": {"pods": 5, "limits.cpu": "1m"}, "used": {"pods": 1}},
    });
    let (Event::QuotaSet(quota), problems) = read(&object) else {
        panic!()
    };
    assert!(problems.is_empty());
    assert_eq!(
        (quota.hard["pods"], quota.hard["limits.cpu"], quota.used["pods"]),
        (5_000_000_000, 1_000_000, 1_000_000_000)
    );
    let object = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 2, "disruptedPods": {"p": "2024-01-01T00:00:00Z"}},
    });
    let (Event::DisruptionBudgetSet(budget), _) = read(&object) else {
        panic!()
    };
    assert_eq!(
        (budget.allowed, &*budget.disrupted[0], budget.selector.is_some()),
        (2, "p", true)
    );
    let broken = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"},
        "status": {"disruptionsAllowed": "two"},
    });
    let error = decode(broken.to_string().as_bytes(), &Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("PodDisruptionBudget ns/b: status.disruptionsAllowed: "),
        "{error}"
    );
    for kind in [Kind::ResourceQuota, Kind::PodDisruptionBudget, Kind::Numatopology] {
        let text = format!("{:?}", removal(kind, "ns", "x"));
        assert!(text.contains("Removed") && text.contains("\"x\""), "{text}");
    }
}

#[test]
fn topologies_of_cpus() {
    let topology = |spec: Value| {
        let object = json!({
            "apiVersion": "nodeinfo.volcano.sh/v1alpha1", "kind": "Numatopology", "metadata": {"name": "n"}, "spec": spec,
        });
        match read(&object) {
            (Event::NumatopologySet(record), problems) => (*record, problems),
            (other, _) => panic!("{other:?}"),
        }
    };
    let (record, problems) = topology(json!({
        "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": "restricted"},
        "resReserved": {"cpu": "1500m", "memory": "1Gi"},
        "numares": {"cpu": {"allocatable": "0-2,5", "capacity": 8}},
        "cpuDetail": {"0": {}, "5": {"numa": 1, "socket": 1, "core": 2}},
    }));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(
        (
            &*record.cpu_policy,
            &*record.topology_policy,
            record.reserved_milli_cpu
        ),
        ("static", "restricted", Some(1500))
    );
    assert_eq!(record.free["cpu"].to_string(), "0,1,2,5");
    assert_eq!(
        (record.cpus[&0], record.cpus[&5]),
        (
            CpuPlace::default(),
            CpuPlace {
                numa: 1,
                socket: 1,
                core: 2
            }
        )
    );
    let rows = [
        (
            "no set",
            json!({"numares": {"cpu": {"allocatable": "a-b"}}}),
            "Numatopology n: spec.numares[cpu].allocatable: \"a-b\"",
        ),
        ("no CPU", json!({"cpuDetail": {"x": {}}}), "spec.cpuDetail[x]"),
        (
            "nothing to keep back",
            json!({"resReserved": {"x.io/y": "1"}}),
            "spec.resReserved[x.io/y]",
        ),
        (
            "below zero",
            json!({"resReserved": {"cpu": "-1"}}),
            "spec.resReserved[cpu]: \"-1\" is below zero",
        ),
        (
            "no quantity",
            json!({"resReserved": {"cpu": "one"}}),
            "spec.resReserved[cpu]",
        ),
    ];
    for (name, spec, problem) in rows {
        let (record, problems) = topology(spec);
        told(name, &problems, problem);
        assert!(
            record.reserved_milli_cpu.is_none() && record.cpus.is_empty(),
            "{name}"
        );
        assert!(record.free.values().all(|set| set.is_empty()), "{name}");
    }
}
