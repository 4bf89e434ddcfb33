//! The plugin `sla`: jobs that have waited as long as they may go before others, are admitted and keep their places.

use mco_framework::conf::{Arguments, Value};
use mco_framework::{
    JobEnqueueable, JobOrder, JobPipelined, OpenContext, PluginError, PluginFactory, SessionPlugin, View,
    Vote,
};
use mco_model::JobId;
use mco_model::job::Job;
use mco_model::span::Span;
use mco_model::time::Time;
use std::cmp::Ordering;

const NAME: &str = "sla";

/// The argument: how long jobs may wait that do not say so themselves.
const WAITING_TIME: &str = "sla-waiting-time";

/// A job without a creation time was, to Volcano, made at the beginning of the year 1.
const BEGINNING: Time = Time::from_seconds(-62_135_596_800);

/// Makes the plugin `sla`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlaFactory;

impl PluginFactory for SlaFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let usual = usual_waiting_time(context.arguments()).unwrap_or_else(|warning| {
            context.warnings.push(warning);
            None
        });
        Ok(Box::new(Sla { usual }))
    }
}

/// What the argument says.
///
/// # Errors
/// A value that is no duration above zero.
fn usual_waiting_time(arguments: &Arguments) -> Result<Option<Span>, String> {
    let Some(value) = arguments.get(WAITING_TIME) else {
        return Ok(None);
    };
    let problem = match value {
        Value::Str(text) => match Span::parse(text) {
            Ok(span) if span > Span::default() => return Ok(Some(span)),
            Ok(_) => format!("{text:?} is not above zero"),
            Err(error) => error.to_string(),
        },
        other => format!(
            "{other} ({}) is no duration; write it like 1h30m",
            other.type_name()
        ),
    };
    Err(format!(
        "argument `{WAITING_TIME}` of plugin `{NAME}`: {problem}; jobs that say nothing have no waiting time"
    ))
}

struct Sla {
    /// For jobs that do not say how long they may wait.
    usual: Option<Span>,
}

impl Sla {
    /// When the job has waited as long as it may, in nanoseconds since the Unix epoch.
    fn deadline(&self, job: &Job) -> Option<i128> {
        let own = job.group.as_ref().and_then(|group| group.waiting_time);
        let waiting_time = own.or(self.usual)?;
        Some(waiting_time.after(job.created().unwrap_or(BEGINNING)))
    }

    fn vote(&self, view: View<'_>, job: JobId) -> Vote {
        match self.deadline(view.job(job)) {
            Some(deadline) if view.now().nanoseconds() >= deadline => Vote::Permit,
            _ => Vote::Abstain,
        }
    }
}

impl SessionPlugin for Sla {
    fn name(&self) -> &'static str {
        NAME
    }
    fn job_order(&self) -> Option<&dyn JobOrder> {
        Some(self)
    }
    fn job_pipelined(&self) -> Option<&dyn JobPipelined> {
        Some(self)
    }
    fn job_enqueueable(&mut self) -> Option<&mut dyn JobEnqueueable> {
        Some(self)
    }
}

impl JobOrder for Sla {
    /// Who may wait for a limited time only comes first; of two such, the one whose time is over earlier.
    fn compare(&self, view: View<'_>, left: JobId, right: JobId) -> Ordering {
        match (self.deadline(view.job(left)), self.deadline(view.job(right))) {
            (Some(left), Some(right)) => left.cmp(&right),
            (left, right) => right.is_some().cmp(&left.is_some()),
        }
    }
}

impl JobEnqueueable for Sla {
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote {
        Sla::vote(self, view, job)
    }
}

impl JobPipelined for Sla {
    fn pipelined(&self, view: View<'_>, job: JobId) -> Vote {
        self.vote(view, job)
    }
}

#[cfg(test)]
mod tests;
