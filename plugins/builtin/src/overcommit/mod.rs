//! The plugin `overcommit`: admits jobs up to a multiple of what the cluster has.

use crate::admission;
use mco_framework::conf::Arguments;
use mco_framework::{
    JobEnqueueable, JobEnqueued, OpenContext, PluginError, PluginFactory, SessionPlugin, View, Vote,
};
use mco_model::JobId;
use mco_model::resource::{Missing, Resource};

const NAME: &str = "overcommit";
const FACTOR: &str = "overcommit-factor";
const DEFAULT_FACTOR: f64 = 1.2;

/// Makes the plugin `overcommit`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OvercommitFactory;

impl PluginFactory for OvercommitFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (factor, warnings) = factor(context.arguments());
        context.warnings.extend(warnings);
        let view = context.view;
        let mut idle = view.nodes.total_allocatable().clone();
        idle.multiply(factor);
        idle.sub_unchecked(view.nodes.total_used());
        let mut inqueue = Resource::default();
        for (_, queue) in view.queues() {
            inqueue.add(&queue.totals.inqueue);
        }
        Ok(Box::new(Overcommit {
            idle,
            inqueue,
            promised_to_nobody: None,
        }))
    }
}

/// The factor that `arguments` ask for and what is odd about them. Below 1 or of another type: 1.2. A factor that is
/// not a number stays, as in Volcano 1.9, and admits no job that says what it needs.
#[must_use]
pub fn factor(arguments: &Arguments) -> (f64, Vec<String>) {
    let mut reader = arguments.reader(NAME);
    let given = reader.float(FACTOR);
    let mut warnings: Vec<String> = reader.into_warnings().iter().map(ToString::to_string).collect();
    let Some(factor) = given else {
        return (DEFAULT_FACTOR, warnings);
    };
    if factor >= 1.0 {
        return (factor, warnings);
    }
    let (used, outcome) = if factor.is_nan() {
        (factor, "no job with minResources is admitted".to_owned())
    } else {
        (DEFAULT_FACTOR, format!("{DEFAULT_FACTOR} is used"))
    };
    warnings.push(format!(
        "argument `{FACTOR}` of plugin `{NAME}` is {factor} but must be 1 or more; {outcome}"
    ));
    (used, warnings)
}

struct Overcommit {
    idle: Resource,
    inqueue: Resource,
    /// Looked up when first needed.
    promised_to_nobody: Option<Resource>,
}

impl SessionPlugin for Overcommit {
    fn name(&self) -> &'static str {
        NAME
    }
    fn job_enqueueable(&mut self) -> Option<&mut dyn JobEnqueueable> {
        Some(self)
    }
    fn job_enqueued(&mut self) -> Option<&mut dyn JobEnqueued> {
        Some(self)
    }
}

impl JobEnqueueable for Overcommit {
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote {
        let Some(min) = view.job(job).min_resources() else {
            return Vote::Permit;
        };
        let mut sum = self.inqueue.clone();
        sum.add(min);
        let nobody = &mut self.promised_to_nobody;
        let promised_to_nobody = || {
            let look_up = || admission::promised_to_nobody(view.session_jobs().map(|(_, job)| job));
            nobody.get_or_insert_with(look_up).clone()
        };
        let short = admission::short_of(&sum, &self.idle, min, Missing::Zero, promised_to_nobody);
        if short.is_empty() {
            return Vote::Permit;
        }
        let text = "resource in cluster is overused";
        Vote::Reject(admission::refusal(NAME, "overused", text, &short, &view.scalars))
    }
}

impl JobEnqueued for Overcommit {
    fn enqueued(&mut self, view: View<'_>, job: JobId) {
        if let Some(min) = view.job(job).min_resources() {
            self.inqueue.add(min);
        }
    }
}

#[cfg(test)]
mod tests;
