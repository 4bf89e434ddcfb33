//! The plugin `nodegroup`: queues want and avoid groups of nodes.

use mco_framework::{
    Dependence, NodeCheck, NodeOrder, NodeScore, OpenContext, PluginError, PluginFactory, Predicate, Reason,
    Refusal, Scores, SessionPlugin, Verdicts, View,
};
use mco_model::extra::NodeGroups;
use mco_model::spec::Text;
use mco_model::{NodeId, TaskId};

const NAME: &str = "nodegroup";

/// Label of a node: the group it belongs to. A node without it belongs to the group with the empty name.
const GROUP: &str = "volcano.sh/nodegroup-name";

/// Makes the plugin `nodegroup`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeGroupFactory;

impl PluginFactory for NodeGroupFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, _: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(NodeGroup))
    }
}

struct NodeGroup;

impl SessionPlugin for NodeGroup {
    fn name(&self) -> &'static str {
        NAME
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }
    fn node_order(&self) -> Option<&dyn NodeOrder> {
        Some(self)
    }
}

impl Predicate for NodeGroup {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        Box::new(Wishes::of(view, task))
    }
}

impl NodeOrder for NodeGroup {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeScore + 'v> {
        Box::new(Wishes::of(view, task))
    }
}

/// What the queue wants that a task's pod names.
struct Wishes<'v> {
    view: View<'v>,
    /// The pod names a queue; others may go anywhere.
    queue_named: bool,
    /// `None` when that queue wants and avoids nothing, or does not exist.
    groups: Option<&'v NodeGroups>,
}

impl<'v> Wishes<'v> {
    fn of(view: View<'v>, task: TaskId) -> Self {
        let cluster = view.cluster();
        let named = &cluster.spec(task).named_queue;
        let queue = cluster.find_queue(named).map(|queue| cluster.queue(queue));
        Self {
            view,
            queue_named: !named.is_empty(),
            groups: queue.and_then(|queue| queue.node_groups.as_deref()),
        }
    }

    fn group(&self, node: NodeId) -> &str {
        let labels = &self.view.cluster().nodes.row(node).labels;
        labels.get(GROUP).map_or("", |group| group)
    }
}

impl NodeCheck for Wishes<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        if !self.queue_named {
            return;
        }
        verdicts.each(nodes, |node| {
            let admitted = self.groups.is_some_and(|groups| admits(groups, self.group(node)));
            (!admitted).then(|| Refusal::unresolvable(Reason::fixed(NAME, "node_group", "node not satisfy")))
        });
    }
}

impl NodeScore for Wishes<'_> {
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        let (true, Some(groups)) = (self.queue_named, self.groups) else {
            return;
        };
        for (index, node) in nodes.iter().enumerate() {
            scores.add(index, score(groups, self.group(*node)));
        }
    }
}

fn names(groups: &[Text], group: &str) -> bool {
    groups.iter().any(|name| **name == *group)
}

/// Whether pods of the queue may go to nodes of the group: as in Volcano 1.9, only to groups that it names, be it as one
/// to avoid.
fn admits(groups: &NodeGroups, group: &str) -> bool {
    let wanted = names(&groups.required, group) || names(&groups.preferred, group);
    (wanted && !names(&groups.refused, group)) || names(&groups.avoided, group)
}

/// 100 for a group that is required, 50 more for one that is preferred, −1 in their place for one to avoid.
fn score(groups: &NodeGroups, group: &str) -> f64 {
    if names(&groups.avoided, group) {
        return -1.0;
    }
    let points = |list, points| if names(list, group) { points } else { 0.0 };
    points(&groups.required, 100.0) + points(&groups.preferred, 50.0)
}

#[cfg(test)]
mod tests;
