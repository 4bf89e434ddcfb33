//! From objects to events, a kind at a time.

use super::*;
use crate::command::{GroupRef, PodRef};
use serde_json::{Value, json};

/// A kind under test, and what came out of it as lines.
struct Bench {
    track: Track,
    store: Arc<Store>,
    out: Vec<String>,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        Self::with(kind, NodeSelector::default())
    }

    fn with(kind: Kind, selector: NodeSelector) -> Self {
        let store = Arc::new(Store::default());
        Self {
            track: Track::new(kind, Options::default(), selector, Arc::clone(&store)),
            store,
            out: Vec::new(),
        }
    }

    fn list(&mut self, objects: &[Value]) -> Vec<String> {
        self.track.begin();
        for object in objects {
            self.set_from(object, Source::List);
        }
        let out = &mut self.out;
        self.track.end(&mut |event| out.push(line(&event)));
        std::mem::take(&mut self.out)
    }

    fn set(&mut self, object: &Value) -> Vec<String> {
        self.set_from(object, Source::Watch);
        std::mem::take(&mut self.out)
    }

    fn set_from(&mut self, object: &Value, source: Source) {
        let out = &mut self.out;
        self.track
            .set(&object.to_string(), source, &mut |event| out.push(line(&event)));
    }

    fn unset(&mut self, object: &Value) -> Vec<String> {
        let out = &mut self.out;
        self.track
            .unset(&object.to_string(), &mut |event| out.push(line(&event)));
        std::mem::take(&mut self.out)
    }
}

fn line(event: &Event) -> String {
    match event {
        Event::NodeSet(node) => format!("node {}", node.name),
        Event::NodeRemoved { name } => format!("no node {name}"),
        Event::PodSet(pod) => format!("pod {}/{} {} on '{}'", pod.namespace, pod.name, pod.uid, pod.node),
        Event::PodRemoved { namespace, name } => format!("no pod {namespace}/{name}"),
        Event::PodGroupSet(group) => {
            format!(
                "group {}/{} {}",
                group.namespace,
                group.name,
                group.status.phase.as_str()
            )
        }
        Event::PodGroupRemoved { namespace, name } => format!("no group {namespace}/{name}"),
        Event::ReportSet(report) => {
            let (stamp, seen) = (report.last_update.map(Time::seconds), report.changed_at.is_some());
            format!("report {stamp:?} seen {seen}")
        }
        Event::ReportRemoved => "no report".to_owned(),
        other => format!("{other:?}"),
    }
}

fn node(name: &str, version: u32) -> Value {
    json!({
        "metadata": {"name": name, "uid": format!("uid-{name}"), "resourceVersion": version.to_string()},
        "status": {"allocatable": {"cpu": "4"}},
    })
}

fn pod(name: &str, uid: &str, version: u32) -> Value {
    json!({
        "metadata": {"namespace": "t", "name": name, "uid": uid, "resourceVersion": version.to_string()},
        "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Pending"},
    })
}

fn bound(mut pod: Value, node: &str, version: u32) -> Value {
    pod["spec"]["nodeName"] = node.into();
    pod["metadata"]["resourceVersion"] = version.to_string().into();
    pod
}

fn pod_ref(name: &str, uid: &str) -> PodRef {
    PodRef {
        namespace: "t".into(),
        name: name.into(),
        uid: uid.into(),
    }
}

#[test]
fn a_list_tells_only_what_changed_and_removes_what_vanished() {
    let mut bench = Bench::new(Kind::Node);
    assert_eq!(
        bench.list(&[node("a", 1), node("b", 2), node("c", 3)]),
        ["node a", "node b", "node c"]
    );
    assert_eq!(bench.list(&[node("a", 1), node("c", 9)]), ["node c", "no node b"]);
    assert!(bench.store.node_exists("a") && !bench.store.node_exists("b"));
    assert_eq!(bench.track.objects(), 2);
}

#[test]
fn a_list_that_breaks_off_removes_nothing() {
    let mut bench = Bench::new(Kind::Node);
    bench.list(&[node("a", 1), node("b", 2)]);
    bench.track.begin();
    bench.set_from(&node("b", 2), Source::List);
    assert_eq!(bench.list(&[node("a", 1), node("b", 2)]), Vec::<String>::new());
}

#[test]
fn a_pod_made_anew_under_its_name_replaces_the_old_one() {
    let mut bench = Bench::new(Kind::Pod);
    bench.set(&pod("p", "old", 1));
    bench.set(&bound(pod("p", "old", 1), "n", 2));
    // Nobody saw the old one go.
    assert_eq!(
        bench.list(&[pod("p", "new", 9)]),
        ["no pod t/p", "pod t/p new on ''"]
    );
    assert_eq!(
        bench.unset(&pod("p", "old", 3)),
        Vec::<String>::new(),
        "the new one stays"
    );
    assert!(bench.store.pod(&pod_ref("p", "new")).is_some());
    assert!(bench.store.pod(&pod_ref("p", "old")).is_none());
    assert_eq!(bench.unset(&pod("p", "new", 10)), ["no pod t/p"]);
    assert!(bench.store.pod(&pod_ref("p", "new")).is_none());
}

#[test]
fn pods_are_kept_for_writes_while_they_wait_and_no_longer() {
    let mut bench = Bench::new(Kind::Pod);
    let kept = |bench: &Bench| bench.store.pod(&pod_ref("p", "u")).is_some();
    bench.set(&pod("p", "u", 1));
    assert!(kept(&bench));
    bench.set(&bound(pod("p", "u", 1), "n", 2));
    assert!(!kept(&bench), "bound");
    let mut over = pod("p", "u", 3);
    over["status"]["phase"] = "Failed".into();
    bench.set(&over);
    assert!(!kept(&bench), "terminated");
    let mut other = pod("q", "v", 4);
    other["spec"]["schedulerName"] = "default-scheduler".into();
    assert_eq!(
        bench.set(&other),
        Vec::<String>::new(),
        "another's pod that is nowhere"
    );
    assert!(bench.store.pod(&pod_ref("q", "v")).is_none());
    assert_eq!(bench.set(&bound(other.clone(), "n", 5)), ["pod t/q v on 'n'"]);
    let mut over = bound(other, "n", 6);
    over["status"]["phase"] = "Succeeded".into();
    assert_eq!(bench.set(&over), ["no pod t/q"]);
}

#[test]
fn what_cannot_be_read_stays_as_it_was_and_stops_nothing_else() {
    let mut bench = Bench::new(Kind::Node);
    bench.list(&[node("a", 1)]);
    let mut broken = node("a", 2);
    broken["status"]["allocatable"]["cpu"] = "four".into();
    let mut unseen = broken.clone();
    unseen["metadata"]["name"] = "b".into();
    assert_eq!(
        bench.list(&[broken.clone(), unseen.clone(), node("c", 4)]),
        ["node c"]
    );
    assert!(bench.store.node_exists("a") && !bench.store.node_exists("b"));
    assert_eq!((bench.track.objects(), bench.track.unreadable()), (3, 2));
    assert_eq!(bench.set(&node("a", 5)), ["node a"]);
    assert_eq!(bench.track.unreadable(), 1);
    assert_eq!(
        bench.unset(&unseen),
        Vec::<String>::new(),
        "nobody was told of it"
    );
    assert_eq!(bench.unset(&node("a", 6)), ["no node a"]);
    assert_eq!((bench.track.objects(), bench.track.unreadable()), (1, 0));
}

#[test]
fn a_node_that_loses_its_label_is_gone_for_the_scheduler() {
    let mut bench = Bench::with(Kind::Node, NodeSelector::parse(["pool:batch"]));
    let mut ours = node("a", 1);
    ours["metadata"]["labels"] = json!({"pool": "batch"});
    assert_eq!(bench.list(&[ours.clone(), node("b", 2)]), ["node a"]);
    assert_eq!(bench.set(&node("a", 3)), ["no node a"]);
    assert!(!bench.store.node_exists("a"));
    ours["metadata"]["resourceVersion"] = "4".into();
    assert_eq!(bench.set(&ours), ["node a"]);
    assert_eq!(bench.unset(&node("b", 5)), Vec::<String>::new());
}

#[test]
fn a_group_older_than_the_answer_to_a_write_is_not_told() {
    let mut bench = Bench::new(Kind::PodGroup);
    let group = |version: u32, phase: &str| {
        json!({
            "metadata": {"namespace": "t", "name": "g", "uid": "u", "resourceVersion": version.to_string()},
            "spec": {"minMember": 1, "future": {"x": 1}},
            "status": {"phase": phase},
        })
    };
    bench.set(&group(1, "Pending"));
    bench
        .store
        .replace_group(&group(7, "Inqueue").to_string())
        .expect("an object");
    assert_eq!(bench.set(&group(5, "Pending")), Vec::<String>::new());
    assert_eq!(bench.set(&group(7, "Inqueue")), ["group t/g Inqueue"]);
    let kept = GroupRef {
        namespace: "t".into(),
        name: "g".into(),
        uid: "u".into(),
    };
    let kept = bench.store.group(&kept).expect("it is there");
    assert_eq!(kept.version, 7);
    assert!(kept.json.get().contains(r#""future":{"x":1}"#));
}

#[test]
fn the_report_that_counts_is_told_when_it_differs_and_when_it_goes() {
    let mut bench = Bench::new(Kind::NodeInterferenceReport);
    let report = |name: &str, version: u32, second: u32| {
        json!({
            "metadata": {"name": name, "uid": format!("u-{name}"), "resourceVersion": version.to_string()},
            "status": {"lastUpdateTime": format!("1970-01-01T00:00:{second:02}Z"), "nodes": {}},
        })
    };
    assert_eq!(
        bench.list(&[report("cluster", 1, 1)]),
        ["report Some(1) seen false"]
    );
    assert_eq!(bench.list(&[report("cluster", 2, 1)]), Vec::<String>::new());
    assert_eq!(bench.set(&report("cluster", 3, 2)), ["report Some(2) seen true"]);
    let out = &mut bench.out;
    assert!(
        bench
            .track
            .rename_report(&"blue".into(), &mut |event| out.push(line(&event)))
    );
    assert_eq!(std::mem::take(&mut bench.out), ["no report"]);
    assert_eq!(bench.list(&[report("blue", 1, 5)]), ["report Some(5) seen false"]);
    assert_eq!(bench.unset(&report("blue", 4, 5)), ["no report"]);
}
