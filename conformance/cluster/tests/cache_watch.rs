//! The watches of mco-cache by themselves: what comes in as the API server changes, refuses, forgets and comes back.

use mco_cache::watch::{State, Status, WatchSettings};
use mco_cache::write::{Limits, Permit, WriteSettings};
use mco_cache::{Cache, Delta, GroupRef};
use mco_cluster_tests::proxy::{Fault, HttpProxy, TcpProxy};
use mco_cluster_tests::users::{ADMIN, SCHEDULER, User};
use mco_cluster_tests::wait::{LONG, SOON};
use mco_cluster_tests::{Cluster, Detail, Object, Server, kinds, node, pod, pod_group, queue};
use mco_model::Event;
use mco_objects::{Kind, Options};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

/// What a scheduler would know.
#[derive(Debug, Default)]
struct Known {
    nodes: BTreeSet<String>,
    /// UIDs by name.
    pods: BTreeMap<String, String>,
    groups: BTreeSet<String>,
    queues: BTreeSet<String>,
    /// `lastUpdateTime` in seconds, and whether it was seen to change.
    report: Option<(i64, bool)>,
    complete: usize,
}

impl Known {
    fn take(&mut self, delta: Delta) {
        let event = match delta {
            Delta::Complete => {
                self.complete += 1;
                return;
            }
            Delta::Event(event) => event,
        };
        match event {
            Event::NodeSet(node) => drop(self.nodes.insert(node.name.to_string())),
            Event::NodeRemoved { name } => drop(self.nodes.remove(&*name)),
            Event::PodSet(pod) => drop(self.pods.insert(pod.name.to_string(), pod.uid.to_string())),
            Event::PodRemoved { name, .. } => drop(self.pods.remove(&*name)),
            Event::PodGroupSet(group) => drop(self.groups.insert(group.name.to_string())),
            Event::PodGroupRemoved { name, .. } => drop(self.groups.remove(&*name)),
            Event::QueueSet(queue) => drop(self.queues.insert(queue.name.to_string())),
            Event::QueueRemoved { name } => drop(self.queues.remove(&*name)),
            Event::ReportSet(report) => {
                let stamp = report.last_update.map_or(0, |time| time.seconds());
                self.report = Some((stamp, report.changed_at.is_some()));
            }
            Event::ReportRemoved => self.report = None,
            _ => {}
        }
    }
}

struct Follow {
    cache: Cache,
    deltas: UnboundedReceiver<Delta>,
    known: Known,
}

impl Follow {
    async fn start(kubeconfig: &Path) -> Self {
        let access = mco_cache::client::Access {
            kubeconfig: kubeconfig.to_owned(),
            ..Default::default()
        };
        let client = mco_cache::client::connect(&access).await.expect("a client");
        let watch = WatchSettings {
            absent_retry: Duration::from_secs(1),
            ..WatchSettings::default()
        };
        let write = WriteSettings {
            limits: Limits { qps: 0.0, burst: 1.0 },
            component: "volcano".to_owned(),
            options: Options::default(),
            permit: Permit::always(),
        };
        let (cache, deltas) = Cache::start(client, &watch, write);
        Self {
            cache,
            deltas,
            known: Known::default(),
        }
    }

    async fn as_user(server: &Server, user: &User) -> Self {
        Self::start(&server.kubeconfig(user)).await
    }

    /// Takes deltas in until `done`.
    async fn until(&mut self, what: &str, done: impl Fn(&Known, &Status) -> bool) {
        let end = Instant::now() + LONG;
        loop {
            while let Ok(delta) = self.deltas.try_recv() {
                self.known.take(delta);
            }
            if done(&self.known, &self.cache.status()) {
                return;
            }
            assert!(
                Instant::now() < end,
                "waited for: {what}; known: {:#?}\n{:#?}",
                self.known,
                self.cache.status()
            );
            let _ = tokio::time::timeout(Duration::from_millis(50), async {
                if let Some(delta) = self.deltas.recv().await {
                    self.known.take(delta);
                }
            })
            .await;
        }
    }

    async fn until_complete(&mut self) {
        self.until("all kinds are listed", |known, status| {
            known.complete == 1 && status.complete
        })
        .await;
    }

    fn state(&self, kind: Kind) -> State {
        let status = self.cache.status();
        let kind = status.kinds.into_iter().find(|entry| entry.kind == kind);
        kind.expect("it is watched").state
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A definition that lets anything in.
fn anything(kind: &str, plural: &str, scope: &str) -> Object {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    Object(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.scheduling.volcano.sh")},
        "spec": {
            "group": "scheduling.volcano.sh",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "scope": scope,
            "versions": [{"name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }))
}

/// One server of its own for what takes it apart: no definitions, then ones that let anything in, then a restart.
#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_come_later_objects_of_any_shape_and_a_server_that_forgot() {
    let server = Server::start(Detail::Requests).await.expect("a server");
    let cluster = Cluster::on(&server).await;
    cluster.prepare_without_crds().await;
    let proxy = TcpProxy::start(server.port()).await.expect("a proxy");
    for name in ["a", "b"] {
        cluster.create(&node(name, "4", "8Gi")).await;
    }
    cluster.create(&pod("t", "p")).await;
    let mut follow = Follow::start(&server.kubeconfig_via(&ADMIN, &proxy.url())).await;

    follow.until_complete().await;
    for kind in [Kind::PodGroup, Kind::Queue, Kind::NodeInterferenceReport] {
        assert_eq!(follow.state(kind), State::Absent, "{kind:?}");
    }
    assert_eq!(follow.known.nodes, names(&["a", "b"]));

    let definitions = [
        anything("PodGroup", "podgroups", "Namespaced"),
        anything("Queue", "queues", "Cluster"),
    ];
    cluster.create_crds(definitions.into()).await;
    cluster.create(&queue("q", 1)).await;
    cluster.create(&pod_group("t", "good", 1)).await;
    let odd = pod_group("t", "odd", 1).with(&["spec", "minMember"], "three");
    cluster.create(&odd).await;
    cluster.create(&pod_group("t", "later", 1)).await;
    follow
        .until("groups are seen, but for the odd one", |known, status| {
            let unreadable: usize = status.kinds.iter().map(|kind| kind.unreadable).sum();
            known.groups == names(&["good", "later"]) && known.queues == names(&["q"]) && unreadable == 1
        })
        .await;
    cluster
        .patch(kinds::POD_GROUP, "t", "odd", json!({"spec": {"minMember": 3}}))
        .await;
    cluster
        .patch(kinds::POD_GROUP, "t", "good", json!({"spec": {"minMember": {}}}))
        .await;
    follow
        .until("one is put right, another spoilt and kept", |known, status| {
            let unreadable: usize = status.kinds.iter().map(|kind| kind.unreadable).sum();
            known.groups == names(&["good", "later", "odd"]) && unreadable == 1
        })
        .await;

    let old = follow.known.pods["p"].clone();
    proxy.refuse().await;
    cluster.delete(kinds::NODE, "", "b").await;
    cluster.create(&node("c", "4", "8Gi")).await;
    cluster.delete(kinds::POD_GROUP, "t", "later").await;
    cluster.delete(kinds::POD, "t", "p").await;
    cluster.create(&pod("t", "p")).await;
    follow
        .until("it says that it fails", |_, status| {
            status
                .kinds
                .iter()
                .all(|kind| matches!(kind.state, State::Failing(_) | State::Absent))
        })
        .await;
    // A server that has just started knows nothing of before: 410.
    server.stop_api();
    server.start_api().await.expect("it starts again");
    proxy.pass().await;
    follow
        .until("it knows what there is", |known, status| {
            let works = |kind: Kind| {
                let entry = status.kinds.iter().find(|entry| entry.kind == kind);
                entry.is_some_and(|entry| entry.state == State::Listed && entry.lists == 2)
            };
            known.nodes == names(&["a", "c"])
                && known.groups == names(&["good", "odd"])
                && known.pods["p"] != old
                && works(Kind::Node)
                && works(Kind::Pod)
        })
        .await;
    assert!(follow.cache.store().node_exists("c") && !follow.cache.store().node_exists("b"));
    assert_eq!(follow.known.complete, 1, "completeness is told once");
    assert!(follow.cache.shutdown(SOON).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_one_kind_the_rest_goes_on_and_it_follows_when_granted() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("a", "4", "8Gi")).await;
    let report = |name: &str, second: u32| {
        let stamp = format!("2026-01-01T00:00:{second:02}Z");
        Object(json!({
            "apiVersion": "mco.many-core.io/v1alpha1",
            "kind": "NodeInterferenceReport",
            "metadata": {"name": name},
            "status": {"lastUpdateTime": stamp, "nodes": {}},
        }))
    };
    let stamp = |second: i64| 1_767_225_600 + second;
    cluster.create(&report("cluster", 1)).await;
    let mut follow = Follow::as_user(cluster.server, &SCHEDULER).await;
    follow.until_complete().await;
    assert!(
        matches!(follow.state(Kind::NodeInterferenceReport), State::Forbidden(_)),
        "{:?}",
        follow.state(Kind::NodeInterferenceReport)
    );
    assert_eq!(follow.known.nodes, names(&["a"]));
    assert_eq!(follow.known.report, None);

    cluster.let_scheduler_read_reports().await;
    follow
        .until("the report found at first is of unknown age", |known, _| {
            known.report.is_some_and(|(_, seen_to_change)| !seen_to_change)
        })
        .await;
    let change =
        |second: u32| json!({"status": {"lastUpdateTime": format!("2026-01-01T00:00:{second:02}Z")}});
    let is_split = cluster
        .get(kinds::REPORT, "", "cluster")
        .await
        .expect("the report")["status"]
        .is_null();
    let write = async |second: u32| {
        if is_split {
            cluster
                .patch_status(kinds::REPORT, "", "cluster", change(second))
                .await;
        } else {
            cluster.patch(kinds::REPORT, "", "cluster", change(second)).await;
        }
    };
    write(2).await;
    follow
        .until("a change is seen as one", |known, _| {
            known.report == Some((stamp(2), true))
        })
        .await;
    cluster.create(&report("blue", 5)).await;
    follow.cache.set_report_name("blue");
    follow
        .until("another report counts", |known, _| {
            known
                .report
                .is_some_and(|(seen, seen_to_change)| seen != stamp(2) && !seen_to_change)
        })
        .await;
    cluster.delete(kinds::REPORT, "", "blue").await;
    follow
        .until("its removal is told", |known, _| known.report.is_none())
        .await;
    assert!(follow.cache.shutdown(SOON).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_streamed_lists_or_with_another_memory_is_listed_in_pages_and_anew() {
    let cluster = Cluster::shared().await;
    let proxy = HttpProxy::start(cluster.server).await.expect("a proxy");
    let is_streamed_list = |_: &hyper::Method, path: &str| path.contains("sendInitialEvents=true");
    proxy.hit(Fault::Answer(422), 0, usize::MAX, is_streamed_list);
    // The first watch on nodes from a version is told that the version is too old.
    proxy.hit(Fault::Answer(410), 0, 1, |_, path| {
        path.starts_with("/api/v1/nodes?")
            && path.contains("watch=true")
            && path.contains("resourceVersion=")
            && !path.contains("sendInitialEvents")
    });
    cluster.create(&node("a", "4", "8Gi")).await;
    cluster.create(&pod_group("t", "g", 1)).await;
    let mut follow = Follow::start(&cluster.server.kubeconfig_via(&SCHEDULER, &proxy.url())).await;
    follow.until_complete().await;
    assert_eq!(follow.known.nodes, names(&["a"]));
    cluster.create(&node("b", "4", "8Gi")).await;
    follow
        .until(
            "a node that came later is seen, after a second list",
            |known, status| {
                let nodes = status.kinds.iter().find(|entry| entry.kind == Kind::Node);
                known.nodes == names(&["a", "b"]) && nodes.is_some_and(|nodes| nodes.lists == 2)
            },
        )
        .await;
    let group = cluster.get(kinds::POD_GROUP, "t", "g").await.expect("the group");
    let group = GroupRef {
        namespace: "t".into(),
        name: "g".into(),
        uid: group["metadata"]["uid"].as_str().unwrap_or_default().into(),
    };
    let kept = follow.cache.store().group(&group).expect("it is kept for writes");
    assert!(!kept.json.get().contains("managedFields"));
    assert!(kept.json.get().contains(r#""kind":"PodGroup""#));
    assert!(follow.cache.shutdown(SOON).await);
}
