//! Enqueue: admits waiting PodGroups, one job of a queue at a time, as long as the voters permit.

use crate::Action;
use crate::heaps::Queues;
use mco_framework::Session;
use mco_model::JobId;
use mco_model::event::PodGroupPhase;

/// The action `enqueue`.
pub struct Enqueue;

impl Action for Enqueue {
    fn name(&self) -> &'static str {
        "enqueue"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut queues = collect(session);
        while let Some(queue) = queues.pop_queue(session) {
            let Some(job) = queues.pop_job(session, queue) else {
                continue;
            };
            match admit(session, job) {
                Ok(()) => {
                    session.job_enqueued(job);
                    session.set_phase(job, PodGroupPhase::Inqueue);
                }
                Err(reason) => session.note_job(job, reason),
            }
            queues.push_queue(session, queue);
        }
    }
}

/// All queues that have a job, and their jobs that were not admitted yet.
fn collect(session: &Session<'_>) -> Queues {
    let mut queues = Queues::default();
    for (id, job) in session.view().cluster().session_jobs() {
        let Some(queue) = job.queue else { continue };
        queues.add_queue(session, queue);
        if job.is_pending() {
            queues.push_job(session, queue, id);
        }
    }
    queues
}

/// A job that does not say what it needs is admitted without a vote.
fn admit(session: &mut Session<'_>, job: JobId) -> Result<(), mco_framework::Reason> {
    if session.view().job(job).min_resources().is_none() {
        return Ok(());
    }
    session.job_enqueueable(job)
}
