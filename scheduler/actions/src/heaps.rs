//! The heaps that actions take queues, jobs and tasks from, ordered by the session at each moment.

use mco_framework::Session;
use mco_framework::heap::LiveHeap;
use mco_model::{JobId, QueueId, TaskId};

/// Queues, each with the jobs that are left to serve.
#[derive(Default)]
pub(crate) struct Queues {
    queues: LiveHeap<QueueId>,
    jobs: Vec<(QueueId, LiveHeap<JobId>)>,
}

impl Queues {
    /// Adds a queue once; jobs may follow.
    pub(crate) fn add_queue(&mut self, session: &Session<'_>, queue: QueueId) {
        if self.jobs.iter().all(|(known, _)| *known != queue) {
            self.jobs.push((queue, LiveHeap::default()));
            self.push_queue(session, queue);
        }
    }

    /// Adds a job, and its queue when it is new.
    pub(crate) fn add_job(&mut self, session: &Session<'_>, queue: QueueId, job: JobId) {
        self.add_queue(session, queue);
        self.push_job(session, queue, job);
    }

    /// Takes the queue that is served next.
    pub(crate) fn pop_queue(&mut self, session: &Session<'_>) -> Option<QueueId> {
        self.queues.pop(|l, r| session.compare_queues(*l, *r).is_lt())
    }

    /// Puts a queue back.
    pub(crate) fn push_queue(&mut self, session: &Session<'_>, queue: QueueId) {
        self.queues
            .push(queue, |l, r| session.compare_queues(*l, *r).is_lt());
    }

    /// Takes the job of the queue that is served next.
    pub(crate) fn pop_job(&mut self, session: &Session<'_>, queue: QueueId) -> Option<JobId> {
        self.jobs_of(queue)?
            .pop(|l, r| session.compare_jobs(*l, *r).is_lt())
    }

    /// Puts a job back.
    pub(crate) fn push_job(&mut self, session: &Session<'_>, queue: QueueId, job: JobId) {
        if let Some(jobs) = self.jobs_of(queue) {
            jobs.push(job, |l, r| session.compare_jobs(*l, *r).is_lt());
        }
    }

    /// Jobs of the queue that are left, in no order.
    pub(crate) fn left(&mut self, queue: QueueId) -> Vec<JobId> {
        self.jobs_of(queue)
            .map(|jobs| jobs.items().to_vec())
            .unwrap_or_default()
    }

    fn jobs_of(&mut self, queue: QueueId) -> Option<&mut LiveHeap<JobId>> {
        self.jobs
            .iter_mut()
            .find(|(known, _)| *known == queue)
            .map(|(_, jobs)| jobs)
    }
}

/// Tasks of one job.
#[derive(Default)]
pub(crate) struct Tasks(LiveHeap<TaskId>);

impl Tasks {
    /// A heap of these tasks.
    pub(crate) fn of(session: &Session<'_>, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        let mut heap = LiveHeap::default();
        for task in tasks {
            heap.push(task, |l, r| session.compare_tasks(*l, *r).is_lt());
        }
        Self(heap)
    }

    /// Takes the task that is placed next.
    pub(crate) fn pop(&mut self, session: &Session<'_>) -> Option<TaskId> {
        self.0.pop(|l, r| session.compare_tasks(*l, *r).is_lt())
    }

    /// True when no task is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
