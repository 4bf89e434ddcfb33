//! Allocate: places the pending tasks of admitted jobs. A job's first visit tries the whole gang; once it is ready, it
//! gets one more task per visit, so that queues and jobs take turns.

use crate::Action;
use crate::heaps::{Queues, Tasks};
use crate::select::{Room, Search, Visit};
use mco_framework::fit::FitErrors;
use mco_framework::{Reason, Session, Statement};
use mco_model::event::PodGroupPhase;
use mco_model::status::TaskStatus;
use mco_model::{JobId, QueueId, TaskId};
use std::collections::HashMap;
use std::sync::Arc;

/// The action `allocate`.
pub struct Allocate;

impl Action for Allocate {
    fn name(&self) -> &'static str {
        "allocate"
    }

    fn run(&self, session: &mut Session<'_>) {
        if !anything_to_place(session) {
            return;
        }
        let mut queues = collect(session);
        let mut tasks_of: HashMap<JobId, Tasks> = HashMap::new();
        let mut search = Search::new(session.threads());
        while let Some(queue) = queues.pop_queue(session) {
            if let Some(reason) = session.overused(queue) {
                pass_over(session, queues.left(queue), &reason);
                continue;
            }
            let Some(job) = queues.pop_job(session, queue) else {
                continue;
            };
            let tasks = tasks_of.entry(job).or_insert_with(|| pending_tasks(session, job));
            // Back before its job is served: the queue's place in the heap is found with its share as it is now.
            queues.push_queue(session, queue);
            if tasks.is_empty() {
                continue;
            }
            if serve(session, &mut search, queue, job, tasks) == Turn::MoreToCome {
                queues.push_job(session, queue, job);
            }
        }
    }
}

#[derive(PartialEq, Eq)]
enum Turn {
    /// The job is ready and has tasks left; others come first.
    MoreToCome,
    Over,
}

/// Whether any job has a task that this action could place, or a phase that it would change.
fn anything_to_place(session: &Session<'_>) -> bool {
    session.view().cluster().session_jobs().any(|(_, job)| {
        job.count(TaskStatus::Pending) > 0 || (job.is_pending() && !session.runs_action("enqueue"))
    })
}

fn collect(session: &mut Session<'_>) -> Queues {
    let mut queues = Queues::default();
    let jobs: Vec<(JobId, Option<QueueId>)> = session
        .view()
        .cluster()
        .session_jobs()
        .map(|(id, job)| (id, job.queue))
        .collect();
    for (job, queue) in jobs {
        if session.view().job(job).is_pending() {
            if session.runs_action("enqueue") {
                continue;
            }
            session.set_phase(job, PodGroupPhase::Inqueue);
        }
        if let Err(reason) = session.job_valid(job) {
            session.note_job(job, reason);
            continue;
        }
        if let Some(queue) = queue {
            queues.add_job(session, queue, job);
        }
    }
    queues
}

/// Tells the jobs that still have tasks to place why their queue gets nothing more.
fn pass_over(session: &mut Session<'_>, jobs: Vec<JobId>, reason: &Reason) {
    for job in jobs {
        if session.view().job(job).count(TaskStatus::Pending) > 0 {
            session.note_job(job, reason.clone());
        }
    }
}

/// Pending tasks that ask for something; the others are left to backfill. Who is held back by a scheduling gate cannot be
/// bound yet.
fn pending_tasks(session: &Session<'_>, job: JobId) -> Tasks {
    let view = session.view();
    let waiting = view.job(job).tasks(TaskStatus::Pending).iter().copied();
    let is_open = |task: &TaskId| view.cluster().spec(*task).scheduling_gates.is_empty();
    let wanted = waiting.filter(|task| !view.task(*task).best_effort && is_open(task));
    Tasks::of(session, wanted)
}

fn serve(
    session: &mut Session<'_>,
    search: &mut Search,
    queue: QueueId,
    job: JobId,
    tasks: &mut Tasks,
) -> Turn {
    let mut statement = session.begin();
    let turn = place_tasks(&mut statement, search, queue, job, tasks);
    if statement.session().job_ready(job) {
        statement.commit();
    } else if statement.session().job_pipelined(job) {
        statement.keep();
    } else {
        statement.discard();
    }
    turn
}

/// Places tasks until the job is ready and has some left, or one of them fits nowhere.
fn place_tasks(
    statement: &mut Statement<'_, '_>,
    search: &mut Search,
    queue: QueueId,
    job: JobId,
    tasks: &mut Tasks,
) -> Turn {
    let mut visit = Visit::default();
    while let Some(task) = tasks.pop(statement.session()) {
        if let Err(reason) = statement.session().allocatable(queue, task) {
            statement.session_mut().fits_mut().set_note(task, reason);
            continue;
        }
        if let Err(errors) = place(statement, search, &mut visit, task) {
            statement.session_mut().fits_mut().set_errors(task, errors);
            return Turn::Over;
        }
        if statement.session().job_ready(job) && !tasks.is_empty() {
            return Turn::MoreToCome;
        }
    }
    Turn::Over
}

/// Places the task on the best node with enough room now, or else lets it wait on the best one with enough room soon.
fn place(
    statement: &mut Statement<'_, '_>,
    search: &mut Search,
    visit: &mut Visit,
    task: TaskId,
) -> Result<(), Arc<FitErrors>> {
    let session = statement.session();
    let view = session.view();
    if let Err(reason) = session.pre_predicate(task) {
        return Err(Arc::new(FitErrors::everywhere(reason, view.nodes.ready().len())));
    }
    let fitting = search.feasible(session, task, Room::Future, Some(visit))?;
    let request = &view.task(task).request;
    let (now, later): (Vec<_>, Vec<_>) = fitting
        .into_iter()
        .partition(|node| view.nodes.idle.covers(*node, request));
    let best = search.best(session, task, &now);
    if let Some(node) = best {
        statement.allocate(task, node);
    } else if let Some(node) = search.best(session, task, &later) {
        // With scores for nobody now, Volcano 1.9 looks at the nodes with room soon as well.
        statement.pipeline(task, node);
    } else {
        let reason = Reason::fixed("allocate", "no_score", "no node could be scored");
        return Err(Arc::new(FitErrors::everywhere(reason, now.len() + later.len())));
    }
    Ok(())
}
