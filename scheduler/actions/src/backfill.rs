//! Backfill: places pods that ask for nothing but a place.

use crate::Action;
use crate::heaps::{Queues, Tasks};
use crate::select::{Room, Search};
use mco_framework::Session;
use mco_framework::fit::FitErrors;
use mco_model::status::TaskStatus;
use mco_model::{JobId, TaskId};
use std::collections::HashMap;
use std::sync::Arc;

/// The action `backfill`.
pub struct Backfill;

impl Action for Backfill {
    fn name(&self) -> &'static str {
        "backfill"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut search = Search::new(session.threads());
        for task in waiting_tasks(session) {
            match find_place(session, &mut search, task) {
                Ok(node) => place(session, task, node),
                // Volcano 1.9 gives up on all later tasks here; one pod must not keep others from their places.
                Err(errors) => session.fits_mut().set_errors(task, errors),
            }
        }
    }
}

/// Tasks that ask for nothing, in the order of queues, jobs and tasks; all tasks of a job together.
fn waiting_tasks(session: &mut Session<'_>) -> Vec<TaskId> {
    let mut queues = Queues::default();
    let mut tasks_of: HashMap<JobId, Tasks> = HashMap::new();
    let jobs: Vec<JobId> = session
        .view()
        .cluster()
        .session_jobs()
        .map(|(id, _)| id)
        .collect();
    for id in jobs {
        let job = session.view().cluster().job(id);
        let view = session.view();
        let is_open = |task: TaskId| view.cluster().spec(task).scheduling_gates.is_empty();
        let asks_nothing = |task: &TaskId| view.task(*task).best_effort && is_open(*task);
        let waiting: Vec<TaskId> = job
            .tasks(TaskStatus::Pending)
            .iter()
            .copied()
            .filter(asks_nothing)
            .collect();
        if waiting.is_empty() || job.is_pending() {
            continue;
        }
        let Some(queue) = job.queue else { continue };
        if let Err(reason) = session.job_valid(id) {
            session.note_job(id, reason);
            continue;
        }
        tasks_of.insert(id, Tasks::of(session, waiting));
        queues.add_job(session, queue, id);
    }
    let mut ordered = Vec::new();
    while let Some(queue) = queues.pop_queue(session) {
        while let Some(job) = queues.pop_job(session, queue) {
            let Some(mut tasks) = tasks_of.remove(&job) else {
                continue;
            };
            ordered.extend(std::iter::from_fn(|| tasks.pop(session)));
        }
    }
    ordered
}

fn find_place(
    session: &Session<'_>,
    search: &mut Search,
    task: TaskId,
) -> Result<mco_model::NodeId, Arc<FitErrors>> {
    if let Err(reason) = session.pre_predicate(task) {
        return Err(Arc::new(FitErrors::everywhere(
            reason,
            session.view().nodes.ready().len(),
        )));
    }
    let nodes = search.feasible(session, task, Room::Ignored, None)?;
    search.best(session, task, &nodes).ok_or_else(|| {
        let reason = mco_framework::Reason::fixed("backfill", "no_score", "no node could be scored");
        Arc::new(FitErrors::everywhere(reason, nodes.len()))
    })
}

/// Takes the place; a job that is ready by now is bound with everything it has been given, any other keeps the place
/// until the session closes.
fn place(session: &mut Session<'_>, task: TaskId, node: mco_model::NodeId) {
    let mut statement = session.begin();
    statement.allocate(task, node);
    statement.keep();
    if let Some(job) = session.view().task(task).job
        && session.job_ready(job)
    {
        session.dispatch(job);
    }
}
