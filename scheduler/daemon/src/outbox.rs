//! What a session decided and has to say, as commands by names. To be read off before anything else changes the cluster.

use mco_cache::{About, Command, GroupRef, PodRef};
use mco_framework::close::SessionOutcome;
use mco_framework::events::{self, events, is_news};
use mco_framework::outside::outside_sessions;
use mco_model::event::Amounts;
use mco_model::resource::{Resource, ScalarNames};
use mco_model::spec::Text;
use mco_model::time::Time;
use mco_model::{Cluster, Decision, JobId, TaskId};
use std::collections::{HashMap, HashSet};

/// How long a pod may be outside sessions before it is told: controllers give pods their PodGroup a moment later.
const GRACE_SECONDS: f64 = 5.0;

/// Makes commands, and remembers what need not be said again.
#[derive(Debug, Default)]
pub struct Outbox {
    /// What queues were last said to hold.
    allocated: HashMap<Text, Resource>,
    warnings: HashSet<String>,
    /// Pods outside sessions, by UID: since when, and why.
    outside: HashMap<Text, (Time, &'static str)>,
    looked: Option<Time>,
}

impl Outbox {
    /// The commands of a session, in the order in which they were decided. Conditions that are on their way count as written.
    pub fn commands(&mut self, cluster: &mut Cluster, outcome: &SessionOutcome) -> Vec<Command> {
        let mut commands = Vec::new();
        for decision in &outcome.decisions {
            commands.extend(carry_out(cluster, outcome, decision));
        }
        for event in events(cluster, outcome) {
            // What pods are told goes with their condition.
            if let events::About::PodGroup(job) = event.about {
                commands.extend(group_of(cluster, job).map(|group| Command::Tell {
                    about: About::PodGroup(group),
                    warning: event.warning,
                    reason: event.reason.into(),
                    message: event.message.into(),
                }));
            }
        }
        for task in outcome.waiting.iter() {
            if is_news(cluster, task) {
                let (reason, message): (Text, Text) = (task.reason.into(), task.message.as_str().into());
                commands.push(Command::PodCondition {
                    pod: pod_of(cluster, task.task),
                    reason: reason.clone(),
                    message: message.clone(),
                });
                cluster.set_scheduled_condition(task.task, reason, message);
            }
        }
        self.queues(cluster, &mut commands);
        commands
    }

    /// Warnings that the last session did not have. Those that differ in their figures only are the same.
    pub fn news<'o>(&mut self, outcome: &'o SessionOutcome) -> Vec<&'o str> {
        let mut now = HashSet::new();
        let mut news = Vec::new();
        for warning in &outcome.warnings {
            let gist: String = warning.chars().filter(|c| !c.is_ascii_digit()).collect();
            let known = self.warnings.contains(&gist);
            if now.insert(gist) && !known {
                news.push(warning.as_str());
            }
        }
        self.warnings = now;
        news
    }

    /// Tells pods that no session looks at why, once they have been so for a while. Walks all pods, so it looks every few
    /// seconds only.
    pub fn outside(&mut self, cluster: &Cluster, now: Time) -> Vec<Command> {
        if self
            .looked
            .is_some_and(|looked| now.seconds_since(looked).abs() < GRACE_SECONDS)
        {
            return Vec::new();
        }
        self.looked = Some(now);
        let mut seen = HashMap::new();
        let mut commands = Vec::new();
        for (task, reason) in outside_sessions(cluster) {
            let pod = pod_of(cluster, task);
            let since = match self.outside.get(&pod.uid) {
                Some((since, code)) if *code == reason.code => *since,
                _ => now,
            };
            seen.insert(pod.uid.clone(), (since, reason.code));
            if now.seconds_since(since) >= GRACE_SECONDS {
                commands.push(Command::Tell {
                    about: About::Pod(pod),
                    warning: true,
                    reason: "FailedScheduling".into(),
                    message: reason.text.to_string().into(),
                });
            }
        }
        self.outside = seen;
        commands
    }

    fn queues(&mut self, cluster: &Cluster, commands: &mut Vec<Command>) {
        let mut known = HashMap::new();
        for (_, queue) in cluster.queues() {
            let running = &queue.totals.running;
            if self.allocated.get(&queue.name) != Some(running) {
                commands.push(Command::QueueAllocated {
                    queue: queue.name.clone(),
                    allocated: amounts(running, &cluster.scalars),
                });
            }
            known.insert(queue.name.clone(), running.clone());
        }
        self.allocated = known;
    }
}

/// What the pod gets together with its binding.
fn annotations_of(outcome: &SessionOutcome, task: TaskId) -> Vec<(Text, Text)> {
    let gifts = outcome.gifts.iter().filter(|gift| gift.task == task);
    let annotations = gifts.flat_map(|gift| &gift.annotations);
    annotations
        .map(|(key, value)| ((*key).into(), value.as_str().into()))
        .collect()
}

fn carry_out(cluster: &Cluster, outcome: &SessionOutcome, decision: &Decision) -> Option<Command> {
    match decision {
        Decision::Bind { task, node } => Some(Command::Bind {
            pod: pod_of(cluster, *task),
            node: cluster.nodes.row(*node).name.clone(),
            annotations: annotations_of(outcome, *task),
        }),
        Decision::Evict { task, reason } => Some(Command::Evict {
            pod: pod_of(cluster, *task),
            reason,
            group: cluster.task(*task).job.and_then(|job| group_of(cluster, job)),
        }),
        Decision::PodGroupStatus { job, status } => Some(Command::GroupStatus {
            group: group_of(cluster, *job)?,
            status: status.clone(),
        }),
    }
}

fn pod_of(cluster: &Cluster, task: TaskId) -> PodRef {
    let row = cluster.task(task);
    PodRef {
        namespace: row.namespace.clone(),
        name: row.name.clone(),
        uid: row.uid.clone(),
    }
}

fn group_of(cluster: &Cluster, job: JobId) -> Option<GroupRef> {
    let row = cluster.job(job);
    let group = row.group.as_ref()?;
    Some(GroupRef {
        namespace: row.namespace.clone(),
        name: row.name.clone(),
        uid: group.uid.clone(),
    })
}

fn amounts(resource: &Resource, names: &ScalarNames) -> Amounts {
    let mut scalars: Vec<(Text, f64)> = resource
        .scalars()
        .filter(|(_, amount)| *amount > 0.0)
        .map(|(id, amount)| (names.name(id).into(), amount))
        .collect();
    scalars.sort_by(|left, right| left.0.cmp(&right.0));
    Amounts {
        milli_cpu: resource.milli_cpu,
        memory: resource.memory,
        scalars,
        given: true,
    }
}

#[cfg(test)]
mod tests;
