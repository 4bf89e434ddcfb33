//! What is known of one kind: from objects as they come to events, with removals of what vanished while nobody looked.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mco_model::Event;
use mco_model::event::{PodPhase, PodRecord};
use mco_model::spec::Text;
use mco_model::time::Time;
use mco_objects::{Decoded, Kind, Options, decode_as, removal};
use tracing::{info, warn};

use super::report::Sight;
use super::settings::NodeSelector;
use crate::raw::Head;
use crate::store::{self, Fresh, NodeState, Store};

/// How many problems of one object are told at once.
const PROBLEMS_TOLD: usize = 5;

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A list of all: what it does not name is gone.
    List,
    /// A change.
    Watch,
}

/// See the module.
pub(crate) struct Track {
    kind: Kind,
    options: Options,
    node_selector: NodeSelector,
    store: Arc<Store>,
    known: HashMap<Box<str>, Known>,
    /// Which list is under way or was the last.
    round: u32,
    /// What was told of objects that cannot be read, as a hash.
    told: HashMap<Box<str>, u64>,
    report: Sight,
}

/// An object that the API server has.
struct Known {
    /// Of its UID.
    hash: u64,
    version: u64,
    round: u32,
    /// The scheduler was told of it.
    emitted: bool,
}

impl Track {
    /// What is known of the kind is up to date, or no longer is.
    pub(crate) fn is_current(&self, current: bool) {
        if self.kind == Kind::Node {
            self.store.set_nodes_current(current);
        }
    }

    pub(crate) fn new(kind: Kind, options: Options, node_selector: NodeSelector, store: Arc<Store>) -> Self {
        Self {
            kind,
            options,
            node_selector,
            store,
            known: HashMap::new(),
            round: 0,
            told: HashMap::new(),
            report: Sight::default(),
        }
    }

    /// How many objects there are.
    pub(crate) fn objects(&self) -> usize {
        self.known.len()
    }

    /// How many of them something is wrong with.
    pub(crate) fn unreadable(&self) -> usize {
        self.told.len()
    }

    /// A list begins.
    pub(crate) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// A list has ended: what it did not name is gone.
    pub(crate) fn end(&mut self, out: &mut impl FnMut(Event)) {
        let round = self.round;
        let gone: Vec<Box<str>> = self
            .known
            .iter()
            .filter(|(_, known)| known.round != round)
            .map(|(key, _)| key.clone())
            .collect();
        for key in gone {
            self.remove(&key, out);
        }
        self.report.listed();
    }

    /// The interference report of this name counts from now on. Returns whether that is another than before, which is gone
    /// as far as the scheduler is concerned.
    pub(crate) fn rename_report(&mut self, name: &Text, out: &mut impl FnMut(Event)) -> bool {
        if self.options.report_name == *name {
            return false;
        }
        self.options.report_name = name.clone();
        let gone: Vec<Box<str>> = self.known.keys().cloned().collect();
        for key in gone {
            self.remove(&key, out);
        }
        self.report.renamed();
        true
    }

    /// An object is there, as given. Returns its `resourceVersion`, when that can be read.
    pub(crate) fn set(&mut self, json: &str, source: Source, out: &mut impl FnMut(Event)) -> Option<String> {
        let head = match Head::of(json) {
            Ok(head) => head,
            Err(error) => {
                let problem = format!(
                    "an object among {}s has no readable metadata: {error}",
                    self.kind.name()
                );
                self.tell("", &problem);
                return None;
            }
        };
        let key = store::key(&head.namespace, &head.name);
        let hash = hash(&head.uid);
        let version = head.version();
        if let Some(known) = self.known.get_mut(&*key) {
            if known.hash != hash {
                // Another object took the name: the old one is gone whether or not anyone saw it go.
                self.remove(&key, out);
            } else {
                let is_news = known.version != version || version == 0;
                known.version = version;
                known.round = self.round;
                if source == Source::List && !is_news {
                    return Some(head.resource_version.into_owned());
                }
            }
        }
        let verdict = self.read(&head, &key, json, out);
        let known = self.known.entry(key).or_insert(Known {
            hash,
            version,
            round: self.round,
            emitted: false,
        });
        match verdict {
            Verdict::Told => known.emitted = true,
            Verdict::AsBefore => {}
            Verdict::NotThere => known.emitted = false,
        }
        Some(head.resource_version.into_owned())
    }

    /// An object is gone; as it was last. Returns the `resourceVersion` at which it went.
    pub(crate) fn unset(&mut self, json: &str, out: &mut impl FnMut(Event)) -> Option<String> {
        let head = Head::of(json).ok()?;
        let key = store::key(&head.namespace, &head.name);
        if self
            .known
            .get(&*key)
            .is_some_and(|known| known.hash == hash(&head.uid))
        {
            self.remove(&key, out);
        }
        Some(head.resource_version.into_owned())
    }

    fn read(&mut self, head: &Head<'_>, key: &str, json: &str, out: &mut impl FnMut(Event)) -> Verdict {
        let Decoded { event, problems } = match decode_as(self.kind, json.as_bytes(), &self.options) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.tell(key, &error.to_string());
                return Verdict::AsBefore;
            }
        };
        if problems.is_empty() {
            self.untell(key);
        } else {
            let more = problems.len().saturating_sub(PROBLEMS_TOLD);
            let mut text: Vec<String> = problems
                .iter()
                .take(PROBLEMS_TOLD)
                .map(ToString::to_string)
                .collect();
            if more > 0 {
                text.push(format!("and {more} more"));
            }
            self.tell(key, &text.join("; "));
        }
        match event {
            Some(event) => self.take(head, key, json, event, out),
            // Left out for what is wrong with it: the last good state stays, if there was one.
            None if !problems.is_empty() => Verdict::AsBefore,
            None => self.not_there(key, out),
        }
    }

    /// Keeps what writes need, and passes the event on unless it is of no use.
    fn take(
        &mut self,
        head: &Head<'_>,
        key: &str,
        json: &str,
        mut event: Event,
        out: &mut impl FnMut(Event),
    ) -> Verdict {
        let mut fresh = Ok(Fresh::Newest);
        match &mut event {
            Event::NodeSet(node) => {
                if !self.node_selector.takes(&node.labels) {
                    return self.not_there(key, out);
                }
                let state = NodeState {
                    ready: node.ready,
                    unschedulable: node.unschedulable,
                };
                self.store.set_node(key, state);
            }
            Event::PodSet(pod) => {
                if is_of_no_use(pod) {
                    return self.not_there(key, out);
                }
                if waits(pod) {
                    fresh = self.store.set_pod(head, json);
                } else {
                    self.store.forget_pod(key);
                }
            }
            Event::PodGroupSet(_) => {
                fresh = self.store.set_group(head, json);
            }
            Event::QueueSet(_) => {
                fresh = self.store.set_queue(head, json);
            }
            Event::ReportSet(report) => {
                let is_news = self.report.see(report, now());
                if !is_news {
                    return Verdict::AsBefore;
                }
            }
            _ => {}
        }
        match fresh {
            // What an answer brought is newer, and the watch will come to it.
            Ok(Fresh::Older) if self.known.get(key).is_some_and(|known| known.emitted) => {
                return Verdict::AsBefore;
            }
            Ok(_) => {}
            Err(error) => self.tell(key, &format!("{} {key}: {error}", self.kind.name())),
        }
        out(event);
        Verdict::Told
    }

    fn not_there(&mut self, key: &str, out: &mut impl FnMut(Event)) -> Verdict {
        self.forget(key);
        if self.known.get(key).is_some_and(|known| known.emitted) {
            self.say_removed(key, out);
        }
        Verdict::NotThere
    }

    fn remove(&mut self, key: &str, out: &mut impl FnMut(Event)) {
        self.forget(key);
        self.told.remove(key);
        if self.known.remove(key).is_some_and(|known| known.emitted) {
            self.say_removed(key, out);
        }
    }

    fn say_removed(&mut self, key: &str, out: &mut impl FnMut(Event)) {
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        if self.kind == Kind::NodeInterferenceReport {
            self.report.gone();
        }
        out(removal(self.kind, namespace, name));
    }

    fn forget(&self, key: &str) {
        match self.kind {
            Kind::Node => self.store.forget_node(key),
            Kind::Pod => self.store.forget_pod(key),
            Kind::PodGroup => self.store.forget_group(key),
            Kind::Queue => self.store.forget_queue(key),
            _ => {}
        }
    }

    /// Says what is wrong with an object, unless that was said before.
    fn tell(&mut self, key: &str, problem: &str) {
        let hash = hash(problem);
        if self.told.insert(key.into(), hash) != Some(hash) {
            warn!("{problem}");
        }
    }

    fn untell(&mut self, key: &str) {
        if self.told.remove(key).is_some() {
            info!("{} {key} can be read now", self.kind.name());
        }
    }
}

enum Verdict {
    Told,
    AsBefore,
    NotThere,
}

/// Pods of other schedulers count on their nodes and in their groups only.
fn is_of_no_use(pod: &PodRecord) -> bool {
    let is_over = matches!(pod.phase, PodPhase::Succeeded | PodPhase::Failed);
    !pod.ours && (pod.node.is_empty() || (is_over && pod.group.is_empty()))
}

/// A pod of ours that may yet be bound or told why not.
fn waits(pod: &PodRecord) -> bool {
    pod.ours && pod.node.is_empty() && !pod.deleting && pod.phase == PodPhase::Pending
}

/// Always the same for the same text within a process.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "track_tests.rs"]
mod tests;
