//! The plugin `task-topology`: tasks of a job that belong together are placed on one node, others apart.

pub mod buckets;
pub mod roles;

use buckets::{Buckets, Member};
use mco_framework::{
    Dependence, Ledger, NodeOrder, NodeScore, OpenContext, PluginError, PluginFactory, Scores, SessionPlugin,
    TaskOrder, View,
};
use mco_model::job::Job;
use mco_model::resource::Missing;
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::{JobId, NodeId, TaskId};
use roles::{BadWishes, RoleTopology};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

const NAME: &str = "task-topology";

/// The argument: how much scores weigh.
const WEIGHT: &str = "task-topology.weight";

/// Makes the plugin `task-topology`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskTopologyFactory;

impl PluginFactory for TaskTopologyFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let mut reader = context.arguments().reader(NAME);
        let weight = reader.int(WEIGHT).unwrap_or(1);
        let warnings = reader.into_warnings();
        context.warnings.extend(warnings.iter().map(ToString::to_string));
        let mut jobs = HashMap::new();
        for (id, job) in context.view.cluster().session_jobs() {
            match buckets_of(context.view, job) {
                Ok(Some(buckets)) => {
                    jobs.insert(id, buckets);
                }
                Ok(None) => {}
                Err(error) => context.warnings.push(format!("PodGroup {}: {error}", job.uid)),
            }
        }
        Ok(Box::new(TaskTopology { weight, jobs }))
    }
}

/// The job's waiting tasks in buckets; `None` when nothing waits, or nothing is said.
fn buckets_of(view: View<'_>, job: &Job) -> Result<Option<Buckets>, BadWishes> {
    let wishes = job.group.as_ref().map(|group| &group.topology);
    let Some(wishes) = wishes.filter(|wishes| !wishes.is_empty() && job.count(TaskStatus::Pending) > 0)
    else {
        return Ok(None);
    };
    let roles: BTreeSet<Text> = job.all_tasks().map(|task| view.task(task).role.clone()).collect();
    let topology = RoleTopology::read(wishes, &roles)?;
    let members = job.all_tasks().map(|task| member(view, task)).collect();
    Ok(Some(Buckets::fill(topology, members)))
}

fn member(view: View<'_>, task: TaskId) -> Member {
    let row = view.task(task);
    Member {
        task,
        uid: row.uid.clone(),
        name: row.name.clone(),
        role: row.role.clone(),
        node: row.node.map(|node| (node, view.nodes.row(node).name.clone())),
        request: row.request.clone(),
    }
}

struct TaskTopology {
    weight: i64,
    /// Jobs with a topology.
    jobs: HashMap<JobId, Buckets>,
}

impl TaskTopology {
    fn buckets(&self, view: View<'_>, task: TaskId) -> Option<&Buckets> {
        self.jobs.get(&view.task(task).job?)
    }
}

impl SessionPlugin for TaskTopology {
    fn name(&self) -> &'static str {
        NAME
    }
    fn task_order(&self) -> Option<&dyn TaskOrder> {
        Some(self)
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        Some(self)
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        Some(self)
    }
}

impl TaskOrder for TaskTopology {
    /// Who is in a bucket comes first, then who is in the one with more waiting tasks, then in the older one, then by role.
    fn compare(&self, view: View<'_>, left: TaskId, right: TaskId) -> Ordering {
        let (Some(left_job), Some(right_job)) = (self.buckets(view, left), self.buckets(view, right)) else {
            return Ordering::Equal;
        };
        let (left_bucket, right_bucket) = (left_job.bucket_of(left), right_job.bucket_of(right));
        let by_bucket = right_bucket.is_some().cmp(&left_bucket.is_some());
        if by_bucket.is_ne() || view.task(left).job != view.task(right).job {
            return by_bucket;
        }
        let (Some(one), Some(other)) = (left_bucket, right_bucket) else {
            return Ordering::Equal;
        };
        let by_size = left_job.waiting(other).cmp(&left_job.waiting(one));
        let roles = || {
            left_job
                .topology()
                .compare(&view.task(left).role, &view.task(right).role)
        };
        by_size.then_with(|| one.cmp(&other)).then_with(roles)
    }
}

impl NodeOrder for TaskTopology {
    fn dependence(&self, view: View<'_>, task: TaskId) -> Dependence {
        match self.buckets(view, task) {
            Some(_) => Dependence::Task,
            None => Dependence::ClassAndNode,
        }
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v> {
        let buckets = self.buckets(view, task);
        let bucket = buckets.and_then(|buckets| Some((buckets, buckets.bucket_of(task)?)));
        Box::new(Suitability {
            view,
            task,
            weight: self.weight as f64,
            bucket,
        })
    }
}

/// How well nodes suit a task.
struct Suitability<'v> {
    view: View<'v>,
    task: TaskId,
    weight: f64,
    /// `None` for a task in no bucket.
    bucket: Option<(&'v Buckets, usize)>,
}

impl NodeScore for Suitability<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        let Some((buckets, bucket)) = self.bucket else {
            return;
        };
        let row = self.view.task(self.task);
        for (index, node) in nodes.iter().enumerate() {
            let mut room = self.view.nodes.idle.row(*node).with_scalar_map();
            room.add(&self.view.nodes.releasing.row(*node));
            if room.less_partly(&row.request, Missing::Zero) {
                continue;
            }
            let points = buckets.score(bucket, self.task, &row.role, *node, &room) as f64 * self.weight;
            scores.add(index, points * 100.0 / buckets.largest() as f64);
        }
    }
}

impl Ledger for TaskTopology {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        let row = view.task(task);
        let (Some(job), Some(node)) = (row.job, row.node) else {
            return;
        };
        if let Some(buckets) = self.jobs.get_mut(&job)
            && matches!(row.status, TaskStatus::Allocated | TaskStatus::Pipelined)
        {
            buckets.place(task, &row.role, &row.uid, node);
        }
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        let row = view.task(task);
        if let Some(buckets) = row.job.and_then(|job| self.jobs.get_mut(&job)) {
            buckets.take_back(task, &row.role, &row.uid, &row.request);
        }
    }
}

#[cfg(test)]
mod tests;
