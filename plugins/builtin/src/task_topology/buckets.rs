//! Tasks of a job in buckets: those of a bucket belong on one node. Nothing here knows of sessions.

use super::roles::RoleTopology;
use mco_model::resource::Resource;
use mco_model::spec::Text;
use mco_model::{NodeId, TaskId};
use std::collections::{BTreeMap, HashMap};

/// A task as buckets see it.
#[derive(Clone, Debug)]
pub struct Member {
    /// The task.
    pub task: TaskId,
    /// Its pod's UID.
    pub uid: Text,
    /// Its pod's name.
    pub name: Text,
    /// Its role.
    pub role: Text,
    /// Where it is, if anywhere, with the node's name.
    pub node: Option<(NodeId, Text)>,
    /// What it asks for.
    pub request: Resource,
}

/// The tasks of a job that have a topology.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    topology: RoleTopology,
    buckets: Vec<Bucket>,
    places: HashMap<TaskId, usize>,
    /// Tasks placed in this session, with their nodes.
    placed: HashMap<TaskId, NodeId>,
    /// Roles of the tasks placed in this session, by node.
    roles_on: HashMap<NodeId, BTreeMap<Text, i64>>,
    /// The most tasks that a bucket had when it was filled.
    largest: usize,
}

/// Tasks that belong on one node.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Tasks without a place, by UID.
    waiting: BTreeMap<Text, (TaskId, Resource)>,
    /// What they ask for together.
    request: Resource,
    /// The same as one number.
    size: f64,
    /// How many tasks have a place, by node.
    placed: HashMap<NodeId, i64>,
    placed_count: usize,
    /// All tasks ever put in, by role.
    roles: BTreeMap<Text, i64>,
}

impl Buckets {
    /// Sorts the tasks into buckets: those that have a place into that of their node, then one by one into the bucket that
    /// attracts them most, the smallest of equals, or into one of their own where none does.
    #[must_use]
    pub fn fill(topology: RoleTopology, members: Vec<Member>) -> Self {
        let mut members: Vec<Member> = members
            .into_iter()
            .filter(|member| topology.concerns(&member.role))
            .collect();
        members.sort_by(|left, right| in_order(&topology, left, right));
        let mut filled = Self {
            topology,
            ..Self::default()
        };
        let mut by_node: HashMap<NodeId, usize> = HashMap::new();
        for member in members {
            let chosen = match &member.node {
                Some((node, _)) => by_node.get(node).copied(),
                None => filled.most_attractive(&member.role),
            };
            let index = chosen.unwrap_or_else(|| {
                filled.buckets.push(Bucket::default());
                filled.buckets.len() - 1
            });
            if let Some((node, _)) = &member.node {
                by_node.insert(*node, index);
            }
            filled.put(index, member);
        }
        filled
    }

    fn most_attractive(&self, role: &Text) -> Option<usize> {
        let mut best: Option<(i64, usize)> = None;
        for (index, bucket) in self.buckets.iter().enumerate() {
            let attraction = self.topology.attraction(role, &bucket.roles);
            let is_better = best.is_none_or(|(most, chosen)| {
                attraction > most || (attraction == most && bucket.size < self.buckets[chosen].size)
            });
            if is_better {
                best = Some((attraction, index));
            }
        }
        best.filter(|(attraction, _)| *attraction >= 0)
            .map(|(_, index)| index)
    }

    fn put(&mut self, index: usize, member: Member) {
        self.places.insert(member.task, index);
        let bucket = &mut self.buckets[index];
        *bucket.roles.entry(member.role).or_default() += 1;
        match member.node {
            Some((node, _)) => bucket.count_on(node, 1),
            None => bucket.wait(member.uid, member.task, member.request),
        }
        self.largest = self.largest.max(bucket.waiting.len() + bucket.placed_count);
    }

    /// The bucket of a task; `None` when it is in none.
    #[must_use]
    pub fn bucket_of(&self, task: TaskId) -> Option<usize> {
        self.places.get(&task).copied()
    }

    /// How many tasks of the bucket wait for a place.
    #[must_use]
    pub fn waiting(&self, bucket: usize) -> usize {
        self.buckets[bucket].waiting.len()
    }

    /// The most tasks that a bucket had when it was filled.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// What is said of roles.
    #[must_use]
    pub fn topology(&self) -> &RoleTopology {
        &self.topology
    }

    /// The task of that role was given a place in this session.
    pub fn place(&mut self, task: TaskId, role: &Text, uid: &Text, node: NodeId) {
        if self.placed.insert(task, node).is_some() {
            return;
        }
        if !role.is_empty() {
            *self
                .roles_on
                .entry(node)
                .or_default()
                .entry(role.clone())
                .or_default() += 1;
        }
        if let Some(index) = self.bucket_of(task) {
            self.buckets[index].leave(uid);
            self.buckets[index].count_on(node, 1);
        }
    }

    /// The task lost the place that it was given in this session.
    pub fn take_back(&mut self, task: TaskId, role: &Text, uid: &Text, request: &Resource) {
        let Some(node) = self.placed.remove(&task) else {
            return;
        };
        if let Some(count) = self.roles_on.get_mut(&node).and_then(|roles| roles.get_mut(role)) {
            *count -= 1;
        }
        if let Some(index) = self.bucket_of(task) {
            self.buckets[index].count_on(node, -1);
            self.buckets[index].wait(uid.clone(), task, request.clone());
        }
    }

    /// How well the node suits a task of the bucket, when it has that much room: tasks of the bucket that are there, less
    /// those placed there in this session that the task does not get on with, and those that would fit besides.
    #[must_use]
    pub fn score(&self, bucket: usize, task: TaskId, role: &Text, node: NodeId, room: &Resource) -> i64 {
        use mco_model::resource::Missing::Zero;
        let bucket = &self.buckets[bucket];
        let mut score = bucket.placed.get(&node).copied().unwrap_or(0);
        if let Some(roles) = self.roles_on.get(&node) {
            score -= self.topology.repulsion(role, roles);
        }
        score += bucket.waiting.len() as i64;
        if bucket.request.less_equal(room, Zero) {
            return score;
        }
        let mut rest = bucket.request.clone();
        // Volcano takes tasks out at random.
        for (_, request) in bucket.waiting.values().filter(|(other, _)| *other != task) {
            rest.sub_unchecked(request);
            score -= 1;
            if rest.less_equal(room, Zero) {
                break;
            }
        }
        score
    }
}

impl Bucket {
    fn count_on(&mut self, node: NodeId, tasks: i64) {
        *self.placed.entry(node).or_default() += tasks;
        self.placed_count = self.placed_count.saturating_add_signed(tasks as isize);
    }

    fn wait(&mut self, uid: Text, task: TaskId, request: Resource) {
        self.size += size(&request);
        self.request.add(&request);
        self.waiting.insert(uid, (task, request));
    }

    fn leave(&mut self, uid: &Text) {
        if let Some((_, request)) = self.waiting.remove(uid) {
            self.size -= size(&request);
            self.request.sub_unchecked(&request);
        }
    }
}

/// A thousandth of a CPU, a MiB of memory and the unit of any other kind count alike.
fn size(request: &Resource) -> f64 {
    let scalars: f64 = request.scalars().map(|(_, amount)| amount).sum();
    request.milli_cpu + request.memory / 1024.0 / 1024.0 + scalars
}

/// Who has a place comes first, by node; then by role, then by name.
fn in_order(topology: &RoleTopology, left: &Member, right: &Member) -> std::cmp::Ordering {
    match (&left.node, &right.node) {
        (Some((_, left_node)), Some((_, right_node))) => {
            left_node.cmp(right_node).then_with(|| left.name.cmp(&right.name))
        }
        (None, None) => topology
            .compare(&left.role, &right.role)
            .then_with(|| left.name.cmp(&right.name)),
        (left, right) => right.is_some().cmp(&left.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::Id;
    use mco_model::extra::TopologyWishes;

    fn topology(affinity: &str, anti_affinity: &str) -> RoleTopology {
        let text = |text: &str| (!text.is_empty()).then(|| text.into());
        let wishes = TopologyWishes {
            affinity: text(affinity),
            anti_affinity: text(anti_affinity),
            order: None,
        };
        RoleTopology::read(&wishes, &["p", "w", "x"].map(Text::from).into_iter().collect()).unwrap()
    }

    fn node(number: u32) -> NodeId {
        NodeId::from_slot(number)
    }

    fn task(number: usize) -> TaskId {
        TaskId::from_slot(number as u32)
    }

    /// Tasks by role, with a node's number behind `@` for those that have a place; each asks for a CPU of 1000 milli.
    fn fill(topology: RoleTopology, tasks: &str) -> Buckets {
        let member = |(index, text): (usize, &str)| {
            let (role, place) = text
                .split_once('@')
                .map_or((text, None), |(role, node)| (role, Some(node)));
            Member {
                task: task(index),
                uid: format!("{index:02}").as_str().into(),
                name: format!("{role}-{index:02}").as_str().into(),
                role: role.into(),
                node: place.map(|number| (node(number.parse().unwrap()), number.into())),
                request: Resource::new(1000.0, 0.0),
            }
        };
        Buckets::fill(topology, tasks.split(' ').enumerate().map(member).collect())
    }

    fn places(buckets: &Buckets, tasks: usize) -> Vec<Option<usize>> {
        (0..tasks).map(|index| buckets.bucket_of(task(index))).collect()
    }

    #[test]
    fn tasks_find_their_buckets() {
        let some = |indices: &[usize]| indices.iter().map(|index| Some(*index)).collect::<Vec<_>>();
        let rows = [
            ("together", topology("p,w", ""), "p w p w", some(&[0, 0, 0, 0])),
            ("each by itself", topology("", "p"), "p p p", some(&[0, 1, 2])),
            // p (weight 4) first into buckets of their own; each w is drawn by p, and to the smaller bucket of equals:
            // w-02 to bucket 0 or 1 (both attract by 1, both of size 1000), the first; w-03 to the other.
            (
                "a pair each",
                topology("p,w", "p;w"),
                "p p w w",
                some(&[0, 1, 0, 1]),
            ),
            (
                "who has a place draws others",
                topology("p,w", ""),
                "w p@7 w",
                some(&[0, 0, 0]),
            ),
            (
                "a bucket a node",
                topology("", "p"),
                "p@7 p@8 p@7",
                some(&[0, 1, 0]),
            ),
            (
                "what is not spoken of is in none",
                topology("p", ""),
                "x p",
                vec![None, Some(0)],
            ),
        ];
        for (name, topology, tasks, expected) in rows {
            let buckets = fill(topology, tasks);
            assert_eq!(places(&buckets, expected.len()), expected, "{name}");
        }
    }

    #[test]
    fn the_largest_bucket_counts_placed_tasks_too() {
        let buckets = fill(topology("p,w", ""), "p@7 w w");
        assert_eq!((buckets.largest(), buckets.waiting(0)), (3, 2));
    }

    #[test]
    fn a_node_is_scored_by_who_is_there_and_who_would_fit() {
        let room = |cpus: f64| Resource::new(cpus * 1000.0, 0.0);
        let role = Text::from("w");
        let mut buckets = fill(topology("p,w", ""), "p@7 w w w");
        let score = |buckets: &Buckets, number: u32, cpus: f64| {
            buckets.score(0, task(1), &role, node(number), &room(cpus))
        };
        assert_eq!(score(&buckets, 7, 9.0), 4, "1 there and 3 that fit");
        assert_eq!(score(&buckets, 8, 3.0), 3, "3 that fit");
        assert_eq!(score(&buckets, 8, 2.0), 2, "one has to stay away");
        assert_eq!(score(&buckets, 8, 0.5), 1, "the task itself stays in");
        buckets.place(task(2), &role, &"02".into(), node(8));
        assert_eq!(
            (score(&buckets, 7, 9.0), score(&buckets, 8, 9.0)),
            (3, 3),
            "2 wait, 1 on each node"
        );
        buckets.take_back(task(2), &role, &"02".into(), &room(1.0));
        assert_eq!(
            (score(&buckets, 7, 9.0), score(&buckets, 8, 9.0)),
            (4, 3),
            "as before"
        );
    }

    #[test]
    fn who_does_not_get_on_scores_less_where_the_other_was_placed() {
        let role = Text::from("w");
        let mut buckets = fill(topology("", "w"), "w w");
        let room = Resource::new(9000.0, 0.0);
        buckets.place(task(0), &role, &"00".into(), node(8));
        assert_eq!(
            buckets.score(1, task(1), &role, node(8), &room),
            0,
            "1 waits, less 1 there"
        );
        assert_eq!(buckets.score(1, task(1), &role, node(9), &room), 1);
    }

    #[test]
    fn a_place_counts_once_and_only_what_was_placed_is_taken_back() {
        let role = Text::from("w");
        let mut buckets = fill(topology("w", ""), "w@7 w");
        let before = format!("{:?}", buckets.buckets);
        buckets.take_back(task(0), &role, &"00".into(), &Resource::new(1000.0, 0.0));
        assert_eq!(format!("{:?}", buckets.buckets), before, "it was there before");
        buckets.place(task(1), &role, &"01".into(), node(7));
        buckets.place(task(1), &role, &"01".into(), node(7));
        assert_eq!((buckets.waiting(0), buckets.buckets[0].placed[&node(7)]), (0, 2));
    }
}
