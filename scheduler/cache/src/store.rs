//! What whole-object writes need and the model does not keep. Watches fill it, writes read it and put answers back.
//!
//! Objects are kept as texts, without `managedFields`, so that fields nobody here knows survive a write. No lock is held
//! while anything waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mco_model::spec::Text;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::command::{GroupRef, PodRef};
use crate::raw::{self, Fields, Head};

/// An object as last seen, without `managedFields`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RawObject {
    /// `metadata.uid`.
    pub uid: Text,
    /// `metadata.resourceVersion` as a number, by which versions are ordered; 0 when it is none.
    pub version: u64,
    /// The whole object.
    pub json: Arc<RawValue>,
}

/// A pod of ours that waits to be bound, as last seen. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RawPod {
    /// `metadata.uid`.
    pub uid: Text,
    /// `metadata.resourceVersion` as a number; 0 when it is none.
    pub version: u64,
    /// `metadata` without `managedFields`.
    pub metadata: Arc<RawValue>,
    /// `status`; `{}` when absent.
    pub status: Arc<RawValue>,
}

impl RawPod {
    /// `metadata.annotations`; `None` when there are none.
    pub fn annotations(&self) -> Option<&RawValue> {
        #[derive(Deserialize)]
        struct Metadata<'a> {
            #[serde(borrow, default)]
            annotations: Option<&'a RawValue>,
        }
        let metadata: Metadata<'_> = serde_json::from_str(self.metadata.get()).ok()?;
        metadata.annotations
    }
}

/// What a check just before a bind asks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// The Ready condition is absent or True.
    pub ready: bool,
    /// `spec.unschedulable`: it was cordoned.
    pub unschedulable: bool,
}

/// What an object was put beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fresh {
    /// It is the newest known.
    Newest,
    /// An answer to a write was newer; the watch has yet to come to that.
    Older,
}

/// See the module. Shared between watches and writes.
#[derive(Debug, Default)]
pub struct Store {
    groups: Mutex<HashMap<Box<str>, RawObject>>,
    queues: Mutex<HashMap<Box<str>, RawObject>>,
    pods: Mutex<HashMap<Box<str>, RawPod>>,
    nodes: Mutex<HashMap<Box<str>, NodeState>>,
    nodes_are_current: AtomicBool,
}

impl Store {
    /// The PodGroup; `None` when it is gone, be it that another of its name took its place.
    pub fn group(&self, group: &GroupRef) -> Option<RawObject> {
        let groups = lock(&self.groups);
        let known = groups.get(&*key(&group.namespace, &group.name))?;
        (known.uid == group.uid).then(|| known.clone())
    }

    /// The Queue.
    pub fn queue(&self, name: &str) -> Option<RawObject> {
        lock(&self.queues).get(name).cloned()
    }

    /// A pod of ours that waits to be bound; `None` when it does not, or another of its name took its place.
    pub fn pod(&self, pod: &PodRef) -> Option<RawPod> {
        let pods = lock(&self.pods);
        let known = pods.get(&*key(&pod.namespace, &pod.name))?;
        (known.uid == pod.uid).then(|| known.clone())
    }

    /// Whether there is a node of this name that the scheduler may use.
    pub fn node_exists(&self, name: &str) -> bool {
        lock(&self.nodes).contains_key(name)
    }

    /// Nodes are being watched: what is known of them is not older than the network makes it.
    pub fn nodes_are_current(&self) -> bool {
        self.nodes_are_current.load(Ordering::Acquire)
    }

    pub(crate) fn set_nodes_current(&self, current: bool) {
        self.nodes_are_current.store(current, Ordering::Release);
    }

    /// What the node was last seen to be; `None` when there is none.
    pub fn node(&self, name: &str) -> Option<NodeState> {
        lock(&self.nodes).get(name).copied()
    }

    /// Takes in a PodGroup that the API server answered a write with, so that the next write does not conflict. Ignored
    /// when the watch has already brought a newer one, or that the group is gone.
    ///
    /// # Errors
    /// When the answer is no object.
    pub fn replace_group(&self, answer: &str) -> Result<(), serde_json::Error> {
        replace(&self.groups, answer, read_object)
    }

    /// Likewise for a Queue.
    ///
    /// # Errors
    /// When the answer is no object.
    pub fn replace_queue(&self, answer: &str) -> Result<(), serde_json::Error> {
        replace(&self.queues, answer, read_object)
    }

    /// Likewise for a pod that waits.
    ///
    /// # Errors
    /// When the answer is no object.
    pub fn replace_pod(&self, answer: &str) -> Result<(), serde_json::Error> {
        replace(&self.pods, answer, read_pod)
    }

    pub(crate) fn set_group(&self, head: &Head<'_>, json: &str) -> Result<Fresh, serde_json::Error> {
        Ok(put(&self.groups, head, read_object(head, json)?))
    }

    pub(crate) fn set_queue(&self, head: &Head<'_>, json: &str) -> Result<Fresh, serde_json::Error> {
        Ok(put(&self.queues, head, read_object(head, json)?))
    }

    pub(crate) fn set_pod(&self, head: &Head<'_>, json: &str) -> Result<Fresh, serde_json::Error> {
        Ok(put(&self.pods, head, read_pod(head, json)?))
    }

    pub(crate) fn set_node(&self, name: &str, state: NodeState) {
        lock(&self.nodes).insert(name.into(), state);
    }

    pub(crate) fn forget_group(&self, key: &str) {
        lock(&self.groups).remove(key);
    }

    pub(crate) fn forget_queue(&self, key: &str) {
        lock(&self.queues).remove(key);
    }

    pub(crate) fn forget_pod(&self, key: &str) {
        lock(&self.pods).remove(key);
    }

    pub(crate) fn forget_node(&self, key: &str) {
        lock(&self.nodes).remove(key);
    }
}

/// The name that tells objects of a kind apart.
pub(crate) fn key(namespace: &str, name: &str) -> Box<str> {
    if namespace.is_empty() {
        name.into()
    } else {
        format!("{namespace}/{name}").into()
    }
}

/// What versions of an object are told apart by.
trait Versioned {
    fn uid(&self) -> &Text;
    fn version(&self) -> u64;
}

impl Versioned for RawObject {
    fn uid(&self) -> &Text {
        &self.uid
    }

    fn version(&self) -> u64 {
        self.version
    }
}

impl Versioned for RawPod {
    fn uid(&self) -> &Text {
        &self.uid
    }

    fn version(&self) -> u64 {
        self.version
    }
}

fn read_object(head: &Head<'_>, json: &str) -> Result<RawObject, serde_json::Error> {
    Ok(RawObject {
        uid: Text::from(&*head.uid),
        version: head.version(),
        json: raw::slim(json)?.into(),
    })
}

fn read_pod(head: &Head<'_>, json: &str) -> Result<RawPod, serde_json::Error> {
    let fields = Fields::of(json)?;
    let metadata = fields.get("metadata").map_or("{}", RawValue::get);
    let status = match fields.get("status") {
        Some(status) => status.to_owned(),
        None => RawValue::from_string("{}".to_owned())?,
    };
    Ok(RawPod {
        uid: Text::from(&*head.uid),
        version: head.version(),
        metadata: raw::slim_metadata(metadata)?.into(),
        status: status.into(),
    })
}

/// Puts what a watch brought, unless an answer to a write was newer.
fn put<T: Versioned>(map: &Mutex<HashMap<Box<str>, T>>, head: &Head<'_>, seen: T) -> Fresh {
    let mut map = lock(map);
    let key = key(&head.namespace, &head.name);
    match map.get_mut(&*key) {
        Some(known) if known.uid() == seen.uid() && known.version() > seen.version() => Fresh::Older,
        Some(known) => {
            *known = seen;
            Fresh::Newest
        }
        None => {
            map.insert(key, seen);
            Fresh::Newest
        }
    }
}

/// Puts what a write was answered with, if the same object is known and not newer.
fn replace<T: Versioned>(
    map: &Mutex<HashMap<Box<str>, T>>,
    answer: &str,
    read: fn(&Head<'_>, &str) -> Result<T, serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let head = Head::of(answer)?;
    let answer = read(&head, answer)?;
    if let Some(known) = lock(map).get_mut(&*key(&head.namespace, &head.name))
        && known.uid() == answer.uid()
        && known.version() <= answer.version()
    {
        *known = answer;
    }
    Ok(())
}

/// A panic elsewhere leaves a map as it was: nothing is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(uid: &str, version: u32, phase: &str) -> String {
        format!(
            r#"{{"kind":"PodGroup","metadata":{{"namespace":"t","name":"g","uid":"{uid}","resourceVersion":"{version}"}},"status":{{"phase":"{phase}"}}}}"#
        )
    }

    fn see(store: &Store, json: &str) -> Fresh {
        let head = Head::of(json).expect("a head");
        store.set_group(&head, json).expect("an object")
    }

    fn reference(uid: &str) -> GroupRef {
        GroupRef {
            namespace: "t".into(),
            name: "g".into(),
            uid: uid.into(),
        }
    }

    fn phase(store: &Store, uid: &str) -> Option<String> {
        let group = store.group(&reference(uid))?;
        let object: serde_json::Value = serde_json::from_str(group.json.get()).ok()?;
        object["status"]["phase"].as_str().map(str::to_owned)
    }

    #[test]
    fn an_answer_to_a_write_outlives_what_the_watch_still_brings_from_before() {
        let store = Store::default();
        assert_eq!(see(&store, &group("u", 9, "Pending")), Fresh::Newest);
        store
            .replace_group(&group("u", 100, "Inqueue"))
            .expect("an object");
        assert_eq!(see(&store, &group("u", 99, "Pending")), Fresh::Older);
        assert_eq!(phase(&store, "u").as_deref(), Some("Inqueue"));
        assert_eq!(see(&store, &group("u", 100, "Inqueue")), Fresh::Newest);
        assert_eq!(see(&store, &group("u", 101, "Running")), Fresh::Newest);
        assert_eq!(phase(&store, "u").as_deref(), Some("Running"));
    }

    #[test]
    fn an_old_answer_never_replaces_a_newer_object_nor_brings_one_back() {
        let store = Store::default();
        see(&store, &group("u", 9, "Running"));
        store.replace_group(&group("u", 8, "Pending")).expect("an object");
        assert_eq!(phase(&store, "u").as_deref(), Some("Running"));
        store.forget_group("t/g");
        store
            .replace_group(&group("u", 10, "Pending"))
            .expect("an object");
        assert_eq!(phase(&store, "u"), None);
    }

    #[test]
    fn an_object_of_the_same_name_and_another_uid_is_another() {
        let store = Store::default();
        see(&store, &group("old", 9, "Running"));
        assert_eq!(see(&store, &group("new", 5, "Pending")), Fresh::Newest);
        store
            .replace_group(&group("old", 10, "Running"))
            .expect("an object");
        assert_eq!(phase(&store, "new").as_deref(), Some("Pending"));
        assert_eq!(phase(&store, "old"), None);
    }

    #[test]
    fn a_waiting_pod_is_kept_as_metadata_and_status() {
        let store = Store::default();
        let json = r#"{"metadata":{"namespace":"t","name":"p","uid":"u","resourceVersion":"3","annotations":{"a":"b"},"managedFields":[]},"spec":{"containers":[]}}"#;
        store
            .set_pod(&Head::of(json).expect("a head"), json)
            .expect("a pod");
        let pod = PodRef {
            namespace: "t".into(),
            name: "p".into(),
            uid: "u".into(),
        };
        let pod = store.pod(&pod).expect("it waits");
        assert_eq!(pod.status.get(), "{}");
        assert_eq!(pod.annotations().map(RawValue::get), Some(r#"{"a":"b"}"#));
        assert!(!pod.metadata.get().contains("managedFields"));
        assert!(!pod.metadata.get().contains("containers"));
    }
}
