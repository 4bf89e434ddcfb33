//! The extension points: what a plugin can be asked. Every call gets the [`View`](crate::view::View) of the moment first.

pub mod enqueue;
pub mod evict;
pub mod job;
pub mod ledger;
pub mod order;
pub mod predicate;
pub mod queue;
pub mod score;

pub use enqueue::{JobEnqueueable, JobEnqueued};
pub use evict::{Evictable, Eviction, VictimTasks};
pub use job::{JobPipelined, JobReady, JobStarving, JobValid, ReservedNodes, TargetJob, Vote};
pub use ledger::Ledger;
pub use order::{ClusterOrder, JobOrder, QueueOrder, TaskOrder};
pub use predicate::{Dependence, NodeCheck, PrePredicate, Predicate, Verdicts};
pub use queue::{Allocatable, Overused, Preemptive};
pub use score::{BatchNodeOrder, BestNode, NodeMapReduce, NodeOrder, NodeScore, ScoreError, Scores};
