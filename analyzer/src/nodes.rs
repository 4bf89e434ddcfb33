//! All nodes that report, by name: admission of streams and samples, and the windows they fill.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::time::{Moment, nanos};
use crate::window::{P99Source, Sample, View, Window};

/// Identifies a stream among all that were ever opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamId(u64);

/// Bounds on what is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The window's length.
    pub window: Duration,
    /// The most nodes kept at once.
    pub max_nodes: usize,
    /// A node that was silent for so long is forgotten.
    pub forget_after: Duration,
}

/// A sample and where it belongs.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Changes when the node's clock starts anew.
    pub boot_id: String,
    /// Rises by one per sample taken.
    pub sequence: u64,
    /// The sample itself.
    pub sample: Sample,
    /// Why sources gave no data, by source.
    pub unavailable: BTreeMap<String, String>,
}

/// Why a stream cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdmissionError {
    /// The name is not a node's name.
    #[error("{name:?} cannot be a node's name: give 1 to 253 letters, digits, '-', '_' or '.'")]
    BadName {
        /// The name, cut short.
        name: String,
    },
    /// No room.
    #[error("{max_nodes} nodes report already; raise MAX_NODES to take more")]
    Full {
        /// The limit.
        max_nodes: usize,
    },
}

/// Why a sample is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SampleError {
    /// It is not newer than the last one.
    #[error("not newer than the last sample of this boot")]
    NotNewer,
    /// Its stream no longer speaks for the node.
    #[error("a newer stream speaks for this node")]
    Superseded,
}

/// What is known of one node at one moment.
#[derive(Clone, Debug)]
pub struct NodeView {
    /// Its name.
    pub name: Arc<str>,
    /// Its window.
    pub view: View,
    /// Why sources gave no data, as of the newest sample.
    pub unavailable: BTreeMap<String, String>,
}

/// The nodes.
#[derive(Debug)]
pub struct Nodes {
    limits: Limits,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    nodes: HashMap<Arc<str>, Node>,
    members: Option<HashSet<String>>,
    last_stream: u64,
}

#[derive(Debug)]
struct Node {
    window: Window,
    boot_id: String,
    last_node_nanos: i64,
    last_sequence: u64,
    last_seen: Moment,
    stream: Option<(StreamId, CancellationToken)>,
    unavailable: BTreeMap<String, String>,
}

impl Nodes {
    /// No nodes yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            inner: Mutex::new(Inner::default()),
        }
    }

    /// Lets a stream speak for a node. An older stream of the same node is told to end.
    ///
    /// # Errors
    /// A name no node can have, or too many nodes.
    pub fn open_stream(
        &self,
        name: &str,
        now: Moment,
        end: CancellationToken,
    ) -> Result<(Arc<str>, StreamId), AdmissionError> {
        if !is_node_name(name) {
            return Err(AdmissionError::BadName {
                name: name.chars().take(64).collect(),
            });
        }
        let mut inner = self.lock();
        inner.last_stream += 1;
        let id = StreamId(inner.last_stream);
        if let Some((name, _)) = inner.nodes.get_key_value(name) {
            let name = name.clone();
            let node = inner.nodes.get_mut(&name).expect("the key was just found");
            if let Some((_, older)) = node.stream.replace((id, end)) {
                older.cancel();
            }
            return Ok((name, id));
        }
        let max_nodes = self.limits.max_nodes;
        if inner.nodes.len() >= max_nodes {
            return Err(AdmissionError::Full { max_nodes });
        }
        let name: Arc<str> = name.into();
        let node = Node {
            window: Window::new(self.limits.window),
            boot_id: String::new(),
            last_node_nanos: 0,
            last_sequence: 0,
            last_seen: now,
            stream: Some((id, end)),
            unavailable: BTreeMap::new(),
        };
        inner.nodes.insert(name.clone(), node);
        Ok((name, id))
    }

    /// The stream ended. The node stays and turns stale unless another stream speaks for it.
    pub fn close_stream(&self, name: &str, id: StreamId) {
        if let Some(node) = self.lock().nodes.get_mut(name)
            && node.stream.as_ref().is_some_and(|(current, _)| *current == id)
        {
            node.stream = None;
        }
    }

    /// Takes a sample; answers how many before it never came.
    ///
    /// # Errors
    /// A sample that is out of order, or of a stream that was superseded.
    pub fn take(&self, name: &str, id: StreamId, arrival: Arrival) -> Result<u64, SampleError> {
        let mut inner = self.lock();
        let Some(node) = inner.nodes.get_mut(name) else {
            return Err(SampleError::Superseded);
        };
        if node.stream.as_ref().is_none_or(|(current, _)| *current != id) {
            return Err(SampleError::Superseded);
        }
        let Arrival {
            boot_id,
            sequence,
            sample,
            unavailable,
        } = arrival;
        let same_boot = node.boot_id == boot_id;
        let mut missed = 0;
        if same_boot {
            if sample.node_nanos <= node.last_node_nanos {
                return Err(SampleError::NotNewer);
            }
            missed = sequence.saturating_sub(node.last_sequence).saturating_sub(1);
        } else {
            node.window.clear();
            node.boot_id = boot_id;
        }
        node.last_node_nanos = sample.node_nanos;
        node.last_sequence = sequence;
        node.last_seen = sample.arrived;
        node.unavailable = unavailable;
        node.window.push(sample);
        Ok(missed)
    }

    /// Names the nodes that are in the cluster; others are left out of the report. `None`: not known, nothing is
    /// left out.
    pub fn set_members(&self, members: Option<HashSet<String>>) {
        self.lock().members = members;
    }

    /// Forgets a node at once.
    pub fn remove(&self, name: &str) {
        if let Some(node) = self.lock().nodes.remove(name)
            && let Some((_, stream)) = node.stream
        {
            stream.cancel();
        }
    }

    /// All nodes that belong into a report, by name. Nodes that left the cluster or were silent for too long are
    /// forgotten; nodes that never sent a sample are not shown.
    pub fn views(&self, now: Moment, p99: P99Source) -> Vec<NodeView> {
        let mut inner = self.lock();
        let forget_after = nanos(self.limits.forget_after);
        let Inner { nodes, members, .. } = &mut *inner;
        let is_member = |name: &str| members.as_ref().is_none_or(|members| members.contains(name));
        nodes.retain(|name, node| {
            node.stream.is_some() || (is_member(name) && now.nanos_since(node.last_seen) < forget_after)
        });
        let mut views: Vec<_> = nodes
            .iter()
            .filter(|(name, _)| is_member(name))
            .map(|(name, node)| NodeView {
                name: name.clone(),
                view: node.window.view(now, p99),
                unavailable: node.unavailable.clone(),
            })
            .filter(|node| node.view.newest.is_some())
            .collect();
        drop(inner);
        views.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        views
    }

    /// A panic elsewhere leaves at worst one sample half taken, which the next one heals.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn is_node_name(name: &str) -> bool {
    (1..=253).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Readings;

    const SECOND: i64 = 1_000_000_000;

    fn nodes(max_nodes: usize) -> Nodes {
        Nodes::new(Limits {
            window: Duration::from_secs(10),
            max_nodes,
            forget_after: Duration::from_secs(300),
        })
    }

    fn arrival(boot_id: &str, sequence: u64, second: i64) -> Arrival {
        Arrival {
            boot_id: boot_id.to_owned(),
            sequence,
            sample: Sample {
                node_nanos: second * SECOND,
                arrived: Moment(second * SECOND),
                readings: Readings::NONE,
                buckets: None,
            },
            unavailable: BTreeMap::new(),
        }
    }

    fn names(nodes: &Nodes, second: i64) -> Vec<String> {
        nodes
            .views(Moment(second * SECOND), P99Source::Mean)
            .iter()
            .map(|node| node.name.to_string())
            .collect()
    }

    #[test]
    fn the_newest_stream_of_a_node_wins() {
        let nodes = nodes(10);
        let first = CancellationToken::new();
        let (name, one) = nodes.open_stream("n1", Moment(0), first.clone()).unwrap();
        let (_, two) = nodes
            .open_stream("n1", Moment(0), CancellationToken::new())
            .unwrap();
        assert!(first.is_cancelled());
        assert_eq!(
            nodes.take(&name, one, arrival("b", 1, 1)),
            Err(SampleError::Superseded)
        );
        nodes.close_stream(&name, one);
        assert_eq!(
            nodes.take(&name, two, arrival("b", 1, 1)),
            Ok(0),
            "the late end of the first is not the second's"
        );
    }

    #[test]
    fn order_is_by_the_nodes_clock_within_one_boot() {
        let nodes = nodes(10);
        let (name, id) = nodes
            .open_stream("n1", Moment(0), CancellationToken::new())
            .unwrap();
        assert_eq!(nodes.take(&name, id, arrival("b1", 1, 5)), Ok(0));
        assert_eq!(
            nodes.take(&name, id, arrival("b1", 2, 5)),
            Err(SampleError::NotNewer)
        );
        assert_eq!(
            nodes.take(&name, id, arrival("b1", 2, 4)),
            Err(SampleError::NotNewer)
        );
        assert_eq!(
            nodes.take(&name, id, arrival("b1", 5, 6)),
            Ok(3),
            "three samples never came"
        );
        assert_eq!(
            nodes.take(&name, id, arrival("b2", 1, 1)),
            Ok(0),
            "a new boot starts anew"
        );
        assert_eq!(
            nodes.views(Moment(SECOND), P99Source::Mean)[0].view.samples,
            1,
            "and the old samples are gone"
        );
    }

    #[test]
    fn names_and_numbers_are_bounded() {
        let nodes = nodes(1);
        for bad in ["", "a b", "a/b", "a\"b", "ä", &"x".repeat(254)] {
            let error = nodes
                .open_stream(bad, Moment(0), CancellationToken::new())
                .unwrap_err();
            assert!(matches!(error, AdmissionError::BadName { .. }), "{bad}");
        }
        assert!(
            nodes
                .open_stream("n1", Moment(0), CancellationToken::new())
                .is_ok()
        );
        assert_eq!(
            nodes
                .open_stream("n2", Moment(0), CancellationToken::new())
                .unwrap_err(),
            AdmissionError::Full { max_nodes: 1 }
        );
    }

    #[test]
    fn a_node_that_left_leaves_the_report_and_frees_its_place() {
        let nodes = nodes(2);
        for name in ["n1", "n2"] {
            let (name, id) = nodes
                .open_stream(name, Moment(0), CancellationToken::new())
                .unwrap();
            nodes.take(&name, id, arrival("b", 1, 1)).unwrap();
            nodes.close_stream(&name, id);
        }
        assert_eq!(names(&nodes, 200), ["n1", "n2"], "stale, but still there");
        nodes.set_members(Some(HashSet::from(["n1".to_owned()])));
        assert_eq!(names(&nodes, 200), ["n1"]);
        assert!(
            nodes
                .open_stream("n3", Moment(0), CancellationToken::new())
                .is_ok()
        );
        nodes.set_members(None);
        assert_eq!(names(&nodes, 302), [""; 0], "silent for too long");
    }
}
