//! The tree of hierarchical drf: queues as inner nodes along the paths of their annotations, jobs as leaves.

use super::share::Whole;
use mco_model::JobId;
use mco_model::resource::{Dimension, Resource};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

const ROOT: usize = 0;

/// The tree. Figures of inner nodes are brought up to date by [`Tree::settle`].
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    leaves: HashMap<JobId, usize>,
    total_allocated: Resource,
    settled: bool,
}

#[derive(Clone, Debug, Default)]
struct Node {
    allocated: Resource,
    share: f64,
    weight: f64,
    saturated: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Child queues by name, and jobs.
    Inner {
        queues: BTreeMap<Box<str>, usize>,
        jobs: Vec<usize>,
    },
    /// A job and all that its tasks ask for.
    Leaf { request: Resource },
}

impl Default for Kind {
    fn default() -> Self {
        Kind::Inner {
            queues: BTreeMap::new(),
            jobs: Vec::new(),
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::inner(1.0)],
            leaves: HashMap::new(),
            total_allocated: Resource::default(),
            settled: false,
        }
    }
}

impl Node {
    fn inner(weight: f64) -> Self {
        Self {
            weight,
            ..Self::default()
        }
    }

    fn children(&self) -> Vec<usize> {
        match &self.kind {
            Kind::Inner { queues, jobs } => queues.values().chain(jobs).copied().collect(),
            Kind::Leaf { .. } => Vec::new(),
        }
    }

    fn queue(&self, name: &str) -> Option<usize> {
        match &self.kind {
            Kind::Inner { queues, .. } => queues.get(name).copied(),
            Kind::Leaf { .. } => None,
        }
    }
}

impl Tree {
    /// Hangs a job below the queue at `hierarchy` (`root/a/b`), making what is missing of the path with the weights at
    /// the same places of `weights` (`1/2/8`). Weights that are missing, unreadable or below 1 are 1.
    pub fn add_job(
        &mut self,
        job: JobId,
        hierarchy: &str,
        weights: &str,
        allocated: &Resource,
        request: Resource,
    ) {
        let mut weights = weights.split('/').skip(1);
        let mut parent = ROOT;
        for name in hierarchy.split('/').skip(1) {
            let weight = weights.next().and_then(|weight| weight.parse().ok());
            parent = self.child(
                parent,
                name,
                weight.filter(|weight| *weight >= 1.0).unwrap_or(1.0),
            );
        }
        let leaf = self.nodes.len();
        self.nodes.push(Node {
            allocated: allocated.clone(),
            weight: 1.0,
            kind: Kind::Leaf { request },
            ..Node::default()
        });
        if let Kind::Inner { jobs, .. } = &mut self.nodes[parent].kind {
            jobs.push(leaf);
        }
        self.leaves.insert(job, leaf);
        self.total_allocated.add(allocated);
        self.settled = false;
    }

    fn child(&mut self, parent: usize, name: &str, weight: f64) -> usize {
        if let Some(child) = self.nodes[parent].queue(name) {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::inner(weight));
        if let Kind::Inner { queues, .. } = &mut self.nodes[parent].kind {
            queues.insert(name.into(), child);
        }
        child
    }

    /// The job got `request` more.
    pub fn allocate(&mut self, job: JobId, request: &Resource) {
        if let Some(leaf) = self.leaves.get(&job) {
            self.nodes[*leaf].allocated.add(request);
            self.total_allocated.add(request);
            self.settled = false;
        }
    }

    /// The job got `request` less.
    pub fn deallocate(&mut self, job: JobId, request: &Resource) {
        if let Some(leaf) = self.leaves.get(&job) {
            self.nodes[*leaf].allocated.sub_unchecked(request);
            self.total_allocated.sub_unchecked(request);
            self.settled = false;
        }
    }

    /// Brings shares and saturation of all nodes up to date.
    pub fn settle(&mut self, whole: &Whole) {
        if !self.settled {
            let demanding = whole.left_over(&self.total_allocated);
            // Children come after their parents; annotations may be too deep for recursion.
            for index in (ROOT..self.nodes.len()).rev() {
                self.settle_node(index, whole, &demanding);
            }
            self.settled = true;
        }
    }

    fn settle_node(&mut self, index: usize, whole: &Whole, demanding: &[Dimension]) {
        let node = &self.nodes[index];
        if let Kind::Leaf { request } = &node.kind {
            let share = whole.dominant_share(&node.allocated);
            let saturated = is_saturated(&node.allocated, request, demanding);
            let node = &mut self.nodes[index];
            (node.share, node.saturated) = (share, saturated);
            return;
        }
        let children = node.children();
        let with_share = || {
            let nodes = children.iter().map(|child| &self.nodes[*child]);
            nodes.filter(|node| node.share != 0.0)
        };
        let least = with_share()
            .filter(|child| !child.saturated)
            .fold(
                1.0,
                |least: f64, child| if child.share < least { child.share } else { least },
            );
        let mut allocated = Resource::default();
        for child in with_share() {
            let mut part = child.allocated.clone();
            if !child.saturated {
                part.multiply(least / child.share);
            }
            allocated.add(&part);
        }
        let saturated = children.iter().all(|child| self.nodes[*child].saturated);
        let share = whole.dominant_share(&allocated);
        let node = &mut self.nodes[index];
        (node.allocated, node.share, node.saturated) = (allocated, share, saturated);
    }

    /// Which of two queues, by path, is served first, once the tree is settled: walking down both paths, one that is
    /// not saturated, or else the one with the smaller share by weight.
    #[must_use]
    pub fn compare(&self, left: &str, right: &str) -> Ordering {
        let depth = left.split('/').count().min(right.split('/').count());
        let mut paths = left.split('/').zip(right.split('/')).skip(1);
        let (mut left, mut right) = (ROOT, ROOT);
        for level in 0..depth {
            let (l, r) = (&self.nodes[left], &self.nodes[right]);
            let order = l.saturated.cmp(&r.saturated).then_with(|| {
                let order = (l.share / l.weight).partial_cmp(&(r.share / r.weight));
                order.unwrap_or(Ordering::Equal)
            });
            if order.is_ne() || level + 1 == depth {
                return order;
            }
            let next = paths
                .next()
                .and_then(|(l_name, r_name)| Some((l.queue(l_name)?, r.queue(r_name)?)));
            // A queue without jobs has no place in the tree.
            let Some(next) = next else { return Ordering::Equal };
            (left, right) = next;
        }
        Ordering::Equal
    }
}

/// The job can use no more: something it has is all it asks for, or it asks for something that is used up.
fn is_saturated(allocated: &Resource, request: &Resource, demanding: &[Dimension]) -> bool {
    allocated.dimensions().any(|dimension| {
        let (has, wants) = (allocated.get(dimension), request.get(dimension));
        wants != 0.0 && ((has != 0.0 && has >= wants) || !demanding.contains(&dimension))
    })
}

#[cfg(test)]
mod tests;
