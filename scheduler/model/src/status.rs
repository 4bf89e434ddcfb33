//! What a task is doing, and how that counts.

use crate::event::PodPhase;

/// Status of a task. Allocated, Pipelined and Binding exist in the scheduler alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "Volcano's own names")]
pub enum TaskStatus {
    Pending,
    Allocated,
    Pipelined,
    Binding,
    Bound,
    Running,
    Releasing,
    Succeeded,
    Failed,
    Unknown,
}

/// Number of statuses, to size tables by status.
pub const STATUSES: usize = 10;

impl TaskStatus {
    /// All statuses, in the order of their numbers.
    pub const ALL: [TaskStatus; STATUSES] = [
        Self::Pending,
        Self::Allocated,
        Self::Pipelined,
        Self::Binding,
        Self::Bound,
        Self::Running,
        Self::Releasing,
        Self::Succeeded,
        Self::Failed,
        Self::Unknown,
    ];

    /// Number of the status, to index a table.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Status of a pod as the API server shows it.
    #[must_use]
    pub const fn of_pod(phase: PodPhase, deleting: bool, on_node: bool) -> Self {
        match (phase, deleting) {
            (PodPhase::Running | PodPhase::Pending, true) => Self::Releasing,
            (PodPhase::Running, false) => Self::Running,
            (PodPhase::Pending, false) if on_node => Self::Bound,
            (PodPhase::Pending, false) => Self::Pending,
            (PodPhase::Succeeded, _) => Self::Succeeded,
            (PodPhase::Failed, _) => Self::Failed,
            (PodPhase::Unknown, _) => Self::Unknown,
        }
    }

    /// Bound, Binding, Running or Allocated: counts as allocated to its queue and job.
    #[must_use]
    pub const fn is_allocated(self) -> bool {
        matches!(
            self,
            Self::Bound | Self::Binding | Self::Running | Self::Allocated
        )
    }

    /// Succeeded or Failed: no longer on its node.
    #[must_use]
    pub const fn is_terminated(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// The name, as messages spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Allocated => "Allocated",
            Self::Pipelined => "Pipelined",
            Self::Binding => "Binding",
            Self::Bound => "Bound",
            Self::Running => "Running",
            Self::Releasing => "Releasing",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }
}
