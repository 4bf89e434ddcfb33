//! The annotations and labels that the scheduler reads, and how their texts are understood.

use serde::Deserialize;

use crate::field::{Dict, Str};

/// Annotation or label: the job or pod may be evicted for others.
const PREEMPTABLE: &str = "volcano.sh/preemptable";

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

/// A boolean as Go's `strconv.ParseBool` understands it.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
