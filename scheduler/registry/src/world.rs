//! A cluster without an API server: what a cycle decided takes effect at once. Simulations, demonstrations and recorded
//! cases run in it.

use mco_framework::close::SessionOutcome;
use mco_model::event::{Amounts, Event, PodPhase, PodRecord};
use mco_model::resource::{Resource, ScalarNames};
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::{Cluster, Decision, TaskId};

/// A pod by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodName {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
}

impl std::fmt::Display for PodName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What a cycle decided, by names: ids may stand for other objects as soon as events were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Pods with the node each is bound to, in the order of the decisions.
    pub binds: Vec<(PodName, Text)>,
    /// Pods that are evicted, with the reason, in the order of the decisions.
    pub evicts: Vec<(PodName, &'static str)>,
    /// Pods that wait on a node for room to be freed.
    pub pipelined: Vec<(PodName, Text)>,
}

/// A cluster whose decisions take effect by themselves.
#[derive(Clone, Debug)]
pub struct World {
    cluster: Cluster,
}

impl World {
    /// An empty world. PodGroups that name no queue belong to `default_queue`.
    #[must_use]
    pub fn new(default_queue: &str) -> Self {
        Self {
            cluster: Cluster::new(default_queue),
        }
    }

    /// The cluster as it stands.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The cluster, for a cycle.
    pub fn cluster_mut(&mut self) -> &mut Cluster {
        &mut self.cluster
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: Event) {
        self.cluster.apply(event);
    }

    /// What the outcome of the last cycle means, by names. To be called before anything else changes the cluster.
    #[must_use]
    pub fn decided(&self, outcome: &SessionOutcome) -> Decided {
        let node_name = |node| self.cluster.nodes.row(node).name.clone();
        let mut decided = Decided::default();
        for decision in &outcome.decisions {
            match decision {
                Decision::Bind { task, node } => decided.binds.push((self.pod_name(*task), node_name(*node))),
                Decision::Evict { task, reason } => decided.evicts.push((self.pod_name(*task), reason)),
                Decision::PodGroupStatus { .. } => {}
            }
        }
        decided.pipelined = outcome
            .pipelined
            .iter()
            .map(|(task, node)| (self.pod_name(*task), node_name(*node)))
            .collect();
        decided
    }

    /// Lets the decisions take effect: what was bound runs on its node, what was evicted is gone. The status of PodGroups
    /// has been carried over by the cycle itself.
    pub fn settle(&mut self, decided: &Decided) {
        for (pod, node) in &decided.binds {
            self.run(pod, node);
        }
        for (pod, _) in &decided.evicts {
            self.remove(pod);
        }
    }

    /// Lets the pod run on the node, whatever it did before. A pod that does not exist is passed over.
    pub fn run(&mut self, pod: &PodName, node: &Text) {
        let place = node.clone();
        self.replace(pod, |record| {
            record.node = place;
            record.phase = PodPhase::Running;
        });
    }

    /// Lets the pod end well. One that is on no node stays as it is.
    pub fn finish(&mut self, pod: &PodName) {
        if self
            .find(pod)
            .is_some_and(|task| self.cluster.task(task).node.is_some())
        {
            self.replace(pod, |record| record.phase = PodPhase::Succeeded);
        }
    }

    /// Takes the pod away.
    pub fn remove(&mut self, pod: &PodName) {
        let PodName { namespace, name } = pod.clone();
        self.apply(Event::PodRemoved { namespace, name });
    }

    /// The name of a task's pod.
    #[must_use]
    pub fn pod_name(&self, task: TaskId) -> PodName {
        let row = self.cluster.task(task);
        PodName {
            namespace: row.namespace.clone(),
            name: row.name.clone(),
        }
    }

    fn find(&self, pod: &PodName) -> Option<TaskId> {
        self.cluster.find_task(&pod.namespace, &pod.name)
    }

    fn replace(&mut self, pod: &PodName, change: impl FnOnce(&mut PodRecord)) {
        let Some(task) = self.find(pod) else { return };
        let mut record = record_of(&self.cluster, task);
        change(&mut record);
        self.apply(Event::PodSet(Box::new(record)));
    }
}

/// The record that would make the task as it stands.
fn record_of(cluster: &Cluster, id: TaskId) -> PodRecord {
    let task = cluster.task(id);
    PodRecord {
        namespace: task.namespace.clone(),
        name: task.name.clone(),
        uid: task.uid.clone(),
        created: task.created,
        deleting: task.deleting,
        ours: true,
        node: task
            .node
            .map(|node| cluster.nodes.row(node).name.clone())
            .unwrap_or_default(),
        phase: phase_of(task.status),
        group: task
            .job
            .map(|job| cluster.job(job).name.clone())
            .unwrap_or_default(),
        role: task.role.clone(),
        template_uid: task.template_uid.clone(),
        extra: task.extra.clone(),
        priority: task.priority,
        preemptable: task.preemptable,
        labels: (*task.labels).clone(),
        request: amounts_of(&task.request, &cluster.scalars),
        best_effort: task.best_effort,
        controller: task.controller.clone(),
        spec: cluster.spec(id).clone(),
        scheduled_condition: task.scheduled_condition.clone(),
    }
}

fn phase_of(status: TaskStatus) -> PodPhase {
    match status {
        TaskStatus::Running | TaskStatus::Releasing => PodPhase::Running,
        TaskStatus::Succeeded => PodPhase::Succeeded,
        TaskStatus::Failed => PodPhase::Failed,
        TaskStatus::Unknown => PodPhase::Unknown,
        TaskStatus::Pending
        | TaskStatus::Allocated
        | TaskStatus::Pipelined
        | TaskStatus::Binding
        | TaskStatus::Bound => PodPhase::Pending,
    }
}

fn amounts_of(request: &Resource, names: &ScalarNames) -> Amounts {
    let mut scalars: Vec<(Text, f64)> = request
        .scalars()
        .map(|(id, amount)| (names.name(id).into(), amount))
        .collect();
    scalars.sort_by(|left, right| left.0.cmp(&right.0));
    Amounts {
        milli_cpu: request.milli_cpu,
        memory: request.memory,
        scalars,
        given: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::event::NodeRecord;

    fn pod(name: &str, node: &str, phase: PodPhase) -> Event {
        Event::PodSet(Box::new(PodRecord {
            namespace: "ns".into(),
            name: name.into(),
            uid: format!("uid-{name}").as_str().into(),
            ours: true,
            node: node.into(),
            phase,
            group: "g".into(),
            request: Amounts {
                milli_cpu: 1000.0,
                memory: 5.0,
                scalars: vec![("example.com/a".into(), 2000.0), ("pods".into(), 1.0)],
                given: true,
            },
            ..PodRecord::default()
        }))
    }

    fn named(name: &str) -> PodName {
        PodName {
            namespace: "ns".into(),
            name: name.into(),
        }
    }

    fn world() -> World {
        let mut world = World::new("default");
        world.apply(Event::NodeSet(Box::new(NodeRecord {
            name: "n1".into(),
            ready: true,
            allocatable: Amounts {
                milli_cpu: 4000.0,
                memory: 50.0,
                scalars: Vec::new(),
                given: true,
            },
            ..NodeRecord::default()
        })));
        world.apply(pod("p", "", PodPhase::Pending));
        world
    }

    #[test]
    fn what_was_bound_runs_and_is_counted_on_its_node() {
        let mut world = world();
        world.settle(&Decided {
            binds: vec![(named("p"), "n1".into())],
            ..Decided::default()
        });
        let cluster = world.cluster();
        let task = cluster.task(cluster.find_task("ns", "p").expect("the pod is there"));
        assert_eq!(
            (task.status, &*task.uid, task.request.milli_cpu),
            (TaskStatus::Running, "uid-p", 1000.0)
        );
        let node = cluster.nodes.find("n1").expect("the node is there");
        assert_eq!(task.node, Some(node));
        assert_eq!(cluster.nodes.idle.milli_cpu(node), 3000.0);
    }

    #[test]
    fn what_was_evicted_is_gone() {
        let mut world = world();
        world.apply(pod("v", "n1", PodPhase::Running));
        world.settle(&Decided {
            evicts: vec![(named("v"), "preempt")],
            ..Decided::default()
        });
        assert_eq!(world.cluster().find_task("ns", "v"), None);
    }

    #[test]
    fn a_pod_finishes_only_where_it_is_on_a_node() {
        let mut world = world();
        world.finish(&named("p"));
        let status = |world: &World| {
            world
                .cluster()
                .task(world.find(&named("p")).expect("known"))
                .status
        };
        assert_eq!(status(&world), TaskStatus::Pending);
        world.run(&named("p"), &"n1".into());
        world.finish(&named("p"));
        assert_eq!(status(&world), TaskStatus::Succeeded);
        let node = world.cluster().nodes.find("n1").expect("the node is there");
        assert_eq!(world.cluster().nodes.idle.milli_cpu(node), 4000.0);
    }
}
