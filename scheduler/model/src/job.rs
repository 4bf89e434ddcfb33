//! A job: the scheduler's row for a PodGroup and its tasks, with everything counted as tasks change.

use crate::event::{PodGroupPhase, PodGroupStatus};
use crate::extra::{JobBudget, TopologyWishes};
use crate::ids::{QueueId, TaskId};
use crate::queue::QueueTotals;
use crate::resource::{Missing, Resource, ScalarId};
use crate::span::Span;
use crate::spec::Text;
use crate::status::{STATUSES, TaskStatus};
use crate::sum::Sum;
use crate::task::Task;
use crate::time::Time;
use std::collections::BTreeMap;

/// A job. Made by a PodGroup or by the first pod that names one; it takes part in sessions once it has both a
/// PodGroup and an existing queue.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// `namespace/name`.
    pub uid: Text,
    /// Namespace of the PodGroup.
    pub namespace: Text,
    /// Name of the PodGroup.
    pub name: Text,
    /// What the PodGroup says; `None` while only pods have named it.
    pub group: Option<Group>,
    /// The queue, when it exists.
    pub queue: Option<QueueId>,
    /// Priority by its class, or the cluster's default class, or 0.
    pub priority: i32,
    by_status: [Vec<TaskId>; STATUSES],
    roles: BTreeMap<Text, RoleCounts>,
    pending_best_effort: u32,
    allocated: Sum,
    pending: Sum,
    running: Sum,
    total_request: Sum,
    pub(crate) contribution: Option<(QueueId, QueueTotals)>,
    pub(crate) dirty: bool,
}

/// The PodGroup's part of a job.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// `metadata.uid`.
    pub uid: Text,
    /// Creation; `None` sorts first.
    pub created: Option<Time>,
    /// `spec.minMember`.
    pub min_available: i32,
    /// `spec.minTaskMember`.
    pub min_by_role: BTreeMap<Text, i32>,
    /// Name of the queue, the default one filled in.
    pub queue: Text,
    /// `spec.priorityClassName`.
    pub priority_class: Text,
    /// `spec.minResources`.
    pub min_resources: Option<Resource>,
    /// Scalars of `spec.minResources` in whole units.
    pub min_scalars_whole: Vec<(ScalarId, f64)>,
    /// `spec.minResources` with every name it has, in billionths; empty when nothing is said.
    pub min_named: BTreeMap<Text, i128>,
    /// How long it may wait before it goes before others.
    pub waiting_time: Option<Span>,
    /// How many of its tasks may be taken away at a time.
    pub budget: Option<JobBudget>,
    /// Which of its roles belong together.
    pub topology: TopologyWishes,
    /// Annotation or label `volcano.sh/preemptable`.
    pub preemptable: bool,
    /// Status as this scheduler last set or saw it.
    pub status: PodGroupStatus,
}

#[derive(Clone, Debug, Default)]
struct RoleCounts {
    by_status: [u32; STATUSES],
    pending_best_effort: u32,
}

impl Job {
    pub(crate) fn named(uid: Text, namespace: Text, name: Text) -> Self {
        Self {
            uid,
            namespace,
            name,
            ..Self::default()
        }
    }

    /// Tasks of a status, in no order.
    #[must_use]
    pub fn tasks(&self, status: TaskStatus) -> &[TaskId] {
        &self.by_status[status.index()]
    }

    /// All tasks, in no order.
    pub fn all_tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.by_status.iter().flatten().copied()
    }

    /// Number of tasks of a status.
    #[must_use]
    pub fn count(&self, status: TaskStatus) -> usize {
        self.by_status[status.index()].len()
    }

    /// Number of all tasks.
    #[must_use]
    pub fn task_count(&self) -> usize {
        self.by_status.iter().map(Vec::len).sum()
    }

    /// Tasks in allocated statuses.
    #[must_use]
    pub fn allocated_count(&self) -> usize {
        TaskStatus::ALL
            .iter()
            .filter(|status| status.is_allocated())
            .map(|status| self.count(*status))
            .sum()
    }

    /// Requests of tasks in allocated statuses.
    #[must_use]
    pub fn allocated(&self) -> &Resource {
        self.allocated.total()
    }

    /// Requests of pending tasks.
    #[must_use]
    pub fn pending(&self) -> &Resource {
        self.pending.total()
    }

    /// Requests of all tasks.
    #[must_use]
    pub fn total_request(&self) -> &Resource {
        self.total_request.total()
    }

    /// `spec.minMember`; 0 without a PodGroup.
    #[must_use]
    pub fn min_available(&self) -> i64 {
        self.group
            .as_ref()
            .map_or(0, |group| i64::from(group.min_available))
    }

    /// Creation of the PodGroup.
    #[must_use]
    pub fn created(&self) -> Option<Time> {
        self.group.as_ref().and_then(|group| group.created)
    }

    /// Phase of the PodGroup.
    #[must_use]
    pub fn phase(&self) -> PodGroupPhase {
        self.group
            .as_ref()
            .map_or(PodGroupPhase::New, |group| group.status.phase)
    }

    /// Not admitted yet: no PodGroup, or phase empty or `Pending`.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        matches!(self.phase(), PodGroupPhase::New | PodGroupPhase::Pending)
    }

    /// `spec.minResources`.
    #[must_use]
    pub fn min_resources(&self) -> Option<&Resource> {
        self.group.as_ref().and_then(|group| group.min_resources.as_ref())
    }

    /// Tasks that hold their place: allocated statuses and succeeded.
    #[must_use]
    pub fn ready_count(&self) -> i64 {
        (self.allocated_count() + self.count(TaskStatus::Succeeded)) as i64
    }

    /// Tasks that wait for room to be freed.
    #[must_use]
    pub fn waiting_count(&self) -> i64 {
        self.count(TaskStatus::Pipelined) as i64
    }

    /// Pending tasks that ask for nothing but a place.
    #[must_use]
    pub fn pending_best_effort(&self) -> i64 {
        i64::from(self.pending_best_effort)
    }

    /// Tasks that may still make the gang: allocated, succeeded, pipelined or pending.
    #[must_use]
    pub fn valid_count(&self) -> i64 {
        self.ready_count() + self.waiting_count() + self.count(TaskStatus::Pending) as i64
    }

    /// Enough tasks hold their place; those that ask for nothing count while pending.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready_count() + self.pending_best_effort() >= self.min_available()
    }

    /// Enough tasks hold or wait for their place.
    #[must_use]
    pub fn is_pipelined(&self) -> bool {
        self.waiting_count() + self.ready_count() + self.pending_best_effort() >= self.min_available()
    }

    /// Too few tasks hold or wait for their place.
    #[must_use]
    pub fn is_starving(&self) -> bool {
        self.waiting_count() + self.ready_count() < self.min_available()
    }

    /// Every role has its minimum, counting what [`Self::valid_count`] counts.
    #[must_use]
    pub fn roles_valid(&self) -> bool {
        self.roles_satisfied(|role| {
            role.held() + role.of(TaskStatus::Pipelined) + role.of(TaskStatus::Pending)
        })
    }

    /// Every role has its minimum, counting what [`Self::is_ready`] counts.
    #[must_use]
    pub fn roles_ready(&self) -> bool {
        self.roles_satisfied(|role| role.held() + i64::from(role.pending_best_effort))
    }

    /// Every role has its minimum, counting what [`Self::is_pipelined`] counts.
    #[must_use]
    pub fn roles_pipelined(&self) -> bool {
        self.roles_satisfied(|role| {
            role.held() + role.of(TaskStatus::Pipelined) + i64::from(role.pending_best_effort)
        })
    }

    /// Tasks of each role by status, and those that wait for nothing but a place.
    #[cfg(feature = "fixture")]
    pub(crate) fn roles(&self) -> impl Iterator<Item = (&Text, [u32; STATUSES], u32)> {
        self.roles
            .iter()
            .map(|(role, counts)| (role, counts.by_status, counts.pending_best_effort))
    }

    fn roles_satisfied(&self, have: impl Fn(&RoleCounts) -> i64) -> bool {
        !self.enforces_roles() || self.each_role(have)
    }

    /// Role minimums count only while the group's own minimum covers them all.
    fn enforces_roles(&self) -> bool {
        let Some(group) = &self.group else { return false };
        let total: i64 = group.min_by_role.values().map(|min| i64::from(*min)).sum();
        i64::from(group.min_available) >= total
    }

    fn each_role(&self, have: impl Fn(&RoleCounts) -> i64) -> bool {
        let none = RoleCounts::default();
        self.group
            .iter()
            .flat_map(|group| &group.min_by_role)
            .all(|(role, min)| have(self.roles.get(role).unwrap_or(&none)) >= i64::from(*min))
    }

    /// What admission holds back for this job beyond what it already uses: `minResources` while it is `Inqueue`; while
    /// it is `Running` with its minimum allocated, the part of `minResources` that is not allocated. There Volcano 1.9
    /// takes scalars in whole units from amounts in milli, so that mostly nothing is left of them.
    #[must_use]
    pub fn inqueue_reservation(&self) -> Resource {
        let Some(group) = &self.group else {
            return Resource::default();
        };
        match (group.status.phase, &group.min_resources) {
            (PodGroupPhase::Inqueue, Some(min)) => min.clone(),
            (PodGroupPhase::Running, Some(min)) if self.allocated_count() as i64 >= self.min_available() => {
                let mut left = Resource::new(
                    (min.milli_cpu - self.allocated().milli_cpu).max(0.0),
                    (min.memory - self.allocated().memory).max(0.0),
                );
                for (id, whole) in &group.min_scalars_whole {
                    let amount = whole - self.allocated().scalar(*id).unwrap_or(0.0);
                    if amount > 0.0 || self.allocated().scalar(*id).is_none() {
                        left.set_scalar(*id, amount);
                    }
                }
                left
            }
            _ => Resource::default(),
        }
    }

    /// What the job holds above `minResources`; nothing as long as one dimension is at or below its minimum.
    #[must_use]
    pub fn elastic(&self) -> Resource {
        let none = Resource::default();
        let min = self.min_resources().unwrap_or(&none);
        if self.allocated().less_equal_partly(min, Missing::Zero) {
            return none;
        }
        let mut elastic = self.allocated().clone();
        match elastic.sub(min) {
            Ok(()) => elastic,
            // Volcano 1.9 ends here with a failed assertion; later releases take what exceeds, dimension by dimension.
            Err(_) => self.allocated().exceeded_part(min),
        }
    }

    pub(crate) fn totals(&self) -> QueueTotals {
        let mut request = self.allocated().clone();
        request.add(self.pending());
        QueueTotals {
            allocated: self.allocated().clone(),
            request,
            inqueue: self.inqueue_reservation(),
            elastic: self.elastic(),
            running: self.running.total().clone(),
        }
    }

    pub(crate) fn enter(&mut self, id: TaskId, task: &mut Task) {
        let status = task.status.index();
        task.position = self.by_status[status].len() as u32;
        self.by_status[status].push(id);
        self.total_request.add(&task.request);
        self.count_in(task, 1);
    }

    /// Takes the task out; returns the task that took its place in the list, whose position has to follow.
    pub(crate) fn leave(&mut self, task: &Task) -> Option<TaskId> {
        let list = &mut self.by_status[task.status.index()];
        list.swap_remove(task.position as usize);
        let moved = list.get(task.position as usize).copied();
        self.total_request.sub(&task.request);
        self.count_in(task, -1);
        moved
    }

    fn count_in(&mut self, task: &Task, sign: i32) {
        let apply = if sign > 0 { Sum::add } else { Sum::sub };
        if task.status.is_allocated() {
            apply(&mut self.allocated, &task.request);
        }
        if task.status == TaskStatus::Pending {
            apply(&mut self.pending, &task.request);
        }
        if task.status == TaskStatus::Running {
            apply(&mut self.running, &task.request);
        }
        let role = match self.roles.get_mut(&task.role) {
            Some(role) => role,
            None => self.roles.entry(task.role.clone()).or_default(),
        };
        let counter = &mut role.by_status[task.status.index()];
        *counter = counter.wrapping_add_signed(sign);
        if task.status == TaskStatus::Pending && task.best_effort {
            role.pending_best_effort = role.pending_best_effort.wrapping_add_signed(sign);
            self.pending_best_effort = self.pending_best_effort.wrapping_add_signed(sign);
        }
    }
}

impl RoleCounts {
    fn of(&self, status: TaskStatus) -> i64 {
        i64::from(self.by_status[status.index()])
    }

    fn held(&self) -> i64 {
        TaskStatus::ALL
            .iter()
            .filter(|status| status.is_allocated() || **status == TaskStatus::Succeeded)
            .map(|status| self.of(*status))
            .sum()
    }
}
