//! The annotations and labels that the scheduler reads, and how their texts are understood.

use mco_model::extra::{Count, JobBudget, TopologyWishes};
use mco_model::span::Span;
use mco_model::spec::Text;
use serde::Deserialize;

use crate::field::{Dict, Str};
use crate::problem::Problems;

/// Annotation or label: the job or pod may be evicted for others.
const PREEMPTABLE: &str = "volcano.sh/preemptable";

/// Annotation or label: after it was placed, the pod is left alone for so long.
const COOLDOWN: &str = "volcano.sh/cooldown-time";

/// Annotation or label: the queue of the pod.
const QUEUE_NAME: &str = "volcano.sh/queue-name";

/// Annotations: how long a job may wait, the first that is there counts.
const WAITING_TIME: [&str; 2] = ["volcano.sh/sla-waiting-time", "sla-waiting-time"];

/// Annotations: how many tasks of a job may be taken away at a time.
const MIN_AVAILABLE: &str = "volcano.sh/jdb-min-available";
const MAX_UNAVAILABLE: &str = "volcano.sh/jdb-max-unavailable";

/// Label of nodes that are taken away at times.
pub(crate) const REVOCABLE_ZONE: &str = "volcano.sh/revocable-zone";

/// The annotations that are read; all others are passed over, whatever they hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Annotations<'a> {
    #[serde(borrow, rename = "scheduling.k8s.io/group-name")]
    pub(crate) group_name: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/task-spec")]
    pub(crate) task_spec: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/template-uid")]
    pub(crate) template_uid: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/task-priority")]
    task_priority: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/preemptable")]
    preemptable: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/hierarchy")]
    pub(crate) hierarchy: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/hierarchy-weights")]
    pub(crate) hierarchy_weights: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/queue-name")]
    queue_name: Option<Str<'a>>,
    #[serde(borrow, rename = "scheduling.volcano.sh/queue-name")]
    scheduling_queue_name: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/revocable-zone")]
    revocable_zone: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/cooldown-time")]
    cooldown: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/sla-waiting-time")]
    waiting_time: Option<Str<'a>>,
    #[serde(borrow, rename = "sla-waiting-time")]
    plain_waiting_time: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/jdb-min-available")]
    min_available: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/jdb-max-unavailable")]
    max_unavailable: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/task-topology-affinity")]
    topology_affinity: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/task-topology-anti-affinity")]
    topology_anti_affinity: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/task-topology-task-order")]
    topology_order: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/numa-topology-policy")]
    pub(crate) numa_policy: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/gpu-index")]
    pub(crate) gpu_index: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/vgpu-ids-new")]
    pub(crate) vgpu_ids: Str<'a>,
    #[serde(borrow, rename = "nvidia.com/use-gputype")]
    pub(crate) use_card_kinds: Option<Str<'a>>,
    #[serde(borrow, rename = "nvidia.com/nouse-gputype")]
    pub(crate) avoid_card_kinds: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/gpu-unhealthy-ids")]
    pub(crate) unhealthy_cards: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/node-vgpu-register")]
    pub(crate) vgpu_register: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/node-vgpu-handshake")]
    pub(crate) vgpu_handshake: Option<Str<'a>>,
    #[serde(borrow, rename = "volcano.sh/oversubscription-cpu")]
    oversubscription_cpu: Str<'a>,
    #[serde(borrow, rename = "volcano.sh/oversubscription-memory")]
    oversubscription_memory: Str<'a>,
}

impl Annotations<'_> {
    /// Whether the object may be evicted for others: by annotation, else by label. A text that is no boolean says no.
    pub(crate) fn preemptable(&self, labels: &Dict<'_, Str<'_>>) -> Option<bool> {
        let said = self.preemptable.as_ref().or_else(|| labels.value(PREEMPTABLE))?;
        Some(boolean(said).unwrap_or(false))
    }

    /// The priority among the tasks of a job; `None` when absent or no 32-bit number.
    pub(crate) fn task_priority(&self) -> Option<i32> {
        self.task_priority.as_ref()?.parse().ok()
    }

    /// CPU in milli and memory in bytes that a node has beyond its allocatable. A text that is no number says zero.
    pub(crate) fn oversubscription(&self) -> (f64, f64) {
        let amount = |text: &str| text.parse().unwrap_or(0.0);
        (
            amount(&self.oversubscription_cpu),
            amount(&self.oversubscription_memory),
        )
    }
}

impl<'a> Annotations<'a> {
    /// The queue that a pod itself names, wherever it stands first; empty when it names none.
    pub(crate) fn named_queue(&self, labels: &Dict<'_, Str<'_>>) -> Text {
        let named = labels.value(QUEUE_NAME).or(self.queue_name.as_ref());
        named.unwrap_or(&self.scheduling_queue_name).text()
    }

    /// The pod may use nodes that are taken away at times: a zone of `*` says so, any other zone says no; without a zone,
    /// being preemptable by annotation says so.
    pub(crate) fn revocable(&self) -> bool {
        match (&self.revocable_zone, &self.preemptable) {
            (Some(zone), _) => &**zone == "*",
            (None, said) => said.as_ref().and_then(|said| boolean(said)).unwrap_or(false),
        }
    }

    /// How long the pod is left alone after it was placed.
    pub(crate) fn cooldown(&self, labels: &Dict<'_, Str<'_>>, problems: &mut Problems) -> Option<Span> {
        let (text, place) = match labels.value(COOLDOWN) {
            Some(text) => (text, labeled(COOLDOWN)),
            None => (self.cooldown.as_ref()?, annotated(COOLDOWN)),
        };
        match Span::parse(text) {
            Ok(span) => Some(span),
            Err(error) => {
                problems.add(place, format!("{error}; the pod has no cooldown"));
                None
            }
        }
    }

    /// How long a job may wait. One that cannot be used leaves it to the next.
    pub(crate) fn waiting_time(&self, problems: &mut Problems) -> Option<Span> {
        let texts = [&self.waiting_time, &self.plain_waiting_time];
        for (key, text) in WAITING_TIME.into_iter().zip(texts) {
            let Some(text) = text else { continue };
            let problem = match Span::parse(text) {
                Ok(span) if span > Span::default() => return Some(span),
                Ok(_) => format!("{:?} is not above zero", &**text),
                Err(error) => error.to_string(),
            };
            problems.add(annotated(key), format!("{problem}; it counts as absent"));
        }
        None
    }

    /// How many tasks of a job may be taken away at a time. A text that is neither a number nor a percentage counts as 0.
    pub(crate) fn budget(&self, problems: &mut Problems) -> Option<JobBudget> {
        let (key, text, budget): (_, _, fn(Count) -> JobBudget) =
            match (&self.min_available, &self.max_unavailable) {
                (Some(text), _) => (MIN_AVAILABLE, text, JobBudget::MinAvailable),
                (None, Some(text)) => (MAX_UNAVAILABLE, text, JobBudget::MaxUnavailable),
                (None, None) => return None,
            };
        let text = text.non_empty()?;
        let count = count(text).unwrap_or_else(|| {
            let problem = format!("{text:?} is neither a whole number nor a percentage; it counts as 0");
            problems.add(annotated(key), problem);
            Count::Number(0)
        });
        Some(budget(count))
    }

    /// Which roles of a job belong together, as written.
    pub(crate) fn topology(&self) -> TopologyWishes {
        let text = |text: &Option<Str<'_>>| text.as_ref().map(Str::text);
        TopologyWishes {
            affinity: text(&self.topology_affinity),
            anti_affinity: text(&self.topology_anti_affinity),
            order: text(&self.topology_order),
        }
    }
}

fn count(text: &str) -> Option<Count> {
    match text.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(Count::Percent),
        None => text.parse().ok().map(Count::Number),
    }
}

/// Where an annotation stands.
pub(crate) fn annotated(key: &str) -> String {
    format!("metadata.annotations[{key}]")
}

fn labeled(key: &str) -> String {
    format!("metadata.labels[{key}]")
}

/// A boolean as Go's `strconv.ParseBool` understands it.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
