//! Objects of one kind into events: what is listed, what vanished, what cannot be read.

use super::Watches;
use super::seen::Seen;
use crate::delta::Delta;
use crate::raw::Head;
use crate::store::{Fresh, NodeState, key};
use mco_model::Event;
use mco_model::event::{PodPhase, PodRecord};
use mco_model::time::Time;
use mco_objects::{Kind, Options, decode_as, removal};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tracing::warn;

/// What is known of one kind.
pub(super) struct Intake {
    watches: Arc<Watches>,
    kind: Kind,
    options: Options,
    known: HashSet<Box<str>>,
    /// What a list under way has brought so far.
    listed: Option<HashSet<Box<str>>>,
    /// What was told of objects that cannot be read whole.
    told: HashMap<Box<str>, String>,
    /// Version of the report as last seen; and whether the first list is over.
    report_version: Option<String>,
    started: bool,
}

impl Intake {
    pub(super) fn new(watches: Arc<Watches>, kind: Kind, options: Options) -> Self {
        Self {
            watches,
            kind,
            options,
            known: HashSet::new(),
            listed: None,
            told: HashMap::new(),
            report_version: None,
            started: false,
        }
    }

    /// A list begins.
    pub(super) fn begin_list(&mut self) {
        self.listed = Some(HashSet::new());
    }

    /// A list has ended: what it did not bring is gone.
    pub(super) fn end_list(&mut self) {
        if let Some(listed) = self.listed.take() {
            let gone: Vec<Box<str>> = self.known.difference(&listed).cloned().collect();
            for key in gone {
                self.forget(&key);
            }
        }
        self.started = true;
    }

    /// An object is there, or changed.
    pub(super) fn take(&mut self, seen: &Seen) {
        let key = key(seen.namespace(), seen.name());
        if let Some(listed) = &mut self.listed {
            listed.insert(key.clone());
        }
        let json = seen.json.get();
        let decoded = match decode_as(self.kind, json.as_bytes(), &self.options) {
            Ok(decoded) => decoded,
            // What was known of it before stays.
            Err(error) => {
                self.tell(&key, error.to_string());
                return;
            }
        };
        let problems: Vec<String> = decoded.problems.iter().map(ToString::to_string).collect();
        if problems.is_empty() {
            self.told.remove(&key);
        } else {
            self.tell(&key, problems.join("; "));
        }
        let Some(event) = decoded.event else { return };
        if let Some(event) = self.admit(&key, seen, event) {
            self.known.insert(key);
            self.send(event);
        }
    }

    /// An object is gone.
    pub(super) fn remove(&mut self, seen: &Seen) {
        self.forget(&key(seen.namespace(), seen.name()));
    }

    /// Everything is gone: another object is followed from now on.
    pub(super) fn forget_all(&mut self) {
        let known: Vec<Box<str>> = self.known.iter().cloned().collect();
        for key in known {
            self.forget(&key);
        }
    }

    fn forget(&mut self, key: &str) {
        self.told.remove(key);
        let store = &self.watches.store;
        match self.kind {
            Kind::Node => store.forget_node(key),
            Kind::Pod => store.forget_pod(key),
            Kind::PodGroup => store.forget_group(key),
            Kind::Queue => store.forget_queue(key),
            Kind::NodeInterferenceReport => self.report_version = None,
            _ => {}
        }
        if self.known.remove(key) {
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            self.send(removal(self.kind, namespace, name));
        }
    }

    /// Keeps what writes need. `None` when the event is to be passed over.
    fn admit(&mut self, key: &str, seen: &Seen, event: Event) -> Option<Event> {
        let store = &self.watches.store;
        let json = seen.json.get();
        let head = Head::of(json).unwrap_or_default();
        let kept = match &event {
            Event::NodeSet(node) => {
                if !self.is_selected(&node.labels) {
                    self.forget(key);
                    return None;
                }
                let state = NodeState {
                    ready: node.ready,
                    unschedulable: node.unschedulable,
                };
                store.set_node(key, state);
                Ok(Fresh::Newest)
            }
            Event::PodSet(pod) if waits(pod) => store.set_pod(&head, json),
            Event::PodSet(_) => {
                store.forget_pod(key);
                Ok(Fresh::Newest)
            }
            Event::PodGroupSet(_) => store.set_group(&head, json),
            Event::QueueSet(_) => store.set_queue(&head, json),
            _ => Ok(Fresh::Newest),
        };
        match kept {
            Ok(Fresh::Newest) => {}
            // What we wrote is newer than this, and already counted.
            Ok(Fresh::Older) => return None,
            Err(error) => {
                self.tell(key, format!("{} {key}: {error}", self.kind.name()));
                return None;
            }
        }
        if let Event::ReportSet(mut report) = event {
            let version = seen.version().to_owned();
            if self.report_version.as_ref() == Some(&version) {
                return None; // Listed again, not changed.
            }
            self.report_version = Some(version);
            report.changed_at = self.started.then(now);
            return Some(Event::ReportSet(report));
        }
        Some(event)
    }

    fn is_selected(&self, labels: &mco_model::spec::Labels) -> bool {
        let selector = &self.watches.settings.node_selector;
        selector.is_empty()
            || selector
                .iter()
                .any(|(label, value)| labels.get(&**label).is_some_and(|known| **known == **value))
    }

    fn tell(&mut self, key: &str, trouble: String) {
        if self.told.get(key) != Some(&trouble) {
            warn!("{trouble}");
            self.told.insert(key.into(), trouble);
        }
    }

    /// Nobody listens any more only when the process ends.
    fn send(&self, event: Event) {
        let _ = self.watches.deltas.send(Delta::Event(event));
    }
}

/// The pod is ours and not bound: its binding and its condition may have to be written.
fn waits(pod: &PodRecord) -> bool {
    pod.ours && pod.node.is_empty() && !matches!(pod.phase, PodPhase::Succeeded | PodPhase::Failed)
}

fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}
