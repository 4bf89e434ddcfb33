//! The plugin `deviceshare`: cards of nodes are shared by pods, by memory, whole or as nodes' agents register them.

pub mod plain;
pub mod settings;
pub mod shares;

use mco_framework::close::{CloseReport, Gift};
use mco_framework::{
    Dependence, Ledger, NodeCheck, OpenContext, PluginError, PluginFactory, Predicate, Reason, Refusal,
    SessionPlugin, Verdicts, View,
};
use mco_model::extra::{CardNeeds, Handshake, HeldCards, NodeCards};
use mco_model::span::Span;
use mco_model::spec::Text;
use mco_model::status::TaskStatus;
use mco_model::time::Time;
use mco_model::{NodeId, TaskId};
use settings::Mode;
use shares::Short;
use std::collections::HashMap;

const NAME: &str = "deviceshare";

/// An agent that was asked to report and has not done so for this long is gone.
const PATIENCE: Span = Span::seconds(60);

/// Makes the plugin `deviceshare`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceShareFactory;

impl PluginFactory for DeviceShareFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (mode, warnings) = Mode::read(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(DeviceShare {
            mode,
            nodes: cards_of_nodes(context.view, mode),
            given: HashMap::new(),
        }))
    }
}

struct DeviceShare {
    mode: Mode,
    /// Nodes with cards of the kind that is looked after.
    nodes: HashMap<NodeId, Cards>,
    /// Cards given in this session, with the node they are on.
    given: HashMap<TaskId, (NodeId, Given)>,
}

/// The cards of a node.
enum Cards {
    Plain(plain::Cards),
    Registered(shares::Cards),
}

/// Cards given to a pod.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    /// Numbers of plain cards.
    Plain(Vec<u32>),
    /// Shares of registered cards, by container.
    Registered(Vec<Vec<mco_model::extra::HeldShare>>),
}

fn cards_of_nodes(view: View<'_>, mode: Mode) -> HashMap<NodeId, Cards> {
    let mut nodes = HashMap::new();
    for node in view.cluster().nodes.ready() {
        let row = view.cluster().nodes.row(*node);
        let cards = row
            .cards
            .as_deref()
            .and_then(|cards| Cards::of(cards, mode, view.now()));
        let Some(mut cards) = cards else { continue };
        for task in &row.tasks {
            cards.put(view, *task);
        }
        nodes.insert(*node, cards);
    }
    nodes
}

impl Cards {
    /// Cards of the kind that is looked after, with nobody on them; `None` when there are none.
    fn of(cards: &NodeCards, mode: Mode, now: Time) -> Option<Self> {
        match mode {
            Mode::Memory | Mode::Number => Some(Self::Plain(plain::Cards::of(cards.plain.as_ref()?))),
            Mode::Registered if !cards.registered.is_empty() && is_there(cards.handshake, now) => {
                Some(Self::Registered(shares::Cards::of(&cards.registered)))
            }
            Mode::Registered | Mode::Off | Mode::Contradiction => None,
        }
    }

    /// Counts the cards that a pod has by its annotations.
    fn put(&mut self, view: View<'_>, task: TaskId) {
        let Some(held) = view.task(task).extra.cards.as_deref() else {
            return;
        };
        match self {
            Self::Plain(cards) => {
                let needs = view.cluster().spec(task).cards.as_deref();
                let memory = needs.map_or(0, |needs| needs.memory);
                if memory > 0 {
                    cards.put(task, &held.numbers, memory);
                }
            }
            Self::Registered(cards) => cards.take(&held.shares),
        }
    }

    /// Cards for the pod.
    fn find(&self, mode: Mode, needs: &CardNeeds) -> Result<Given, Short> {
        match self {
            Self::Plain(cards) if mode == Mode::Memory => {
                let card = cards.with_memory(needs.memory).ok_or(Short::NoneFits)?;
                Ok(Given::Plain(vec![card]))
            }
            Self::Plain(cards) => cards.idle(needs.number).map(Given::Plain).ok_or(Short::NoneFits),
            Self::Registered(cards) => cards.fit(needs).map(Given::Registered),
        }
    }

    fn give(&mut self, task: TaskId, memory: u64, given: &Given) {
        match (self, given) {
            (Self::Plain(cards), Given::Plain(numbers)) => cards.put(task, numbers, memory),
            (Self::Registered(cards), Given::Registered(containers)) => {
                containers.iter().for_each(|shares| cards.take(shares));
            }
            _ => {}
        }
    }
}

/// The agent of a node reports, or was asked to not long ago.
fn is_there(handshake: Handshake, now: Time) -> bool {
    match handshake {
        Handshake::Reported => true,
        Handshake::Requested(Some(asked)) => PATIENCE.after(asked) >= now.nanoseconds(),
        Handshake::Requested(None) | Handshake::Deleted | Handshake::Absent => false,
    }
}

impl Mode {
    /// The pod asks for cards that are looked after.
    fn concerns(self, needs: &CardNeeds) -> bool {
        match self {
            Self::Off => false,
            Self::Memory => needs.memory > 0,
            Self::Number => needs.number > 0,
            Self::Registered => !needs.shares.is_empty(),
            Self::Contradiction => true,
        }
    }
}

impl DeviceShare {
    /// What the pod asks for, where that is looked after.
    fn needs<'v>(&self, view: View<'v>, task: TaskId) -> Option<&'v CardNeeds> {
        let needs = view.cluster().spec(task).cards.as_deref();
        needs.filter(|needs| self.mode.concerns(needs))
    }
}

impl SessionPlugin for DeviceShare {
    fn name(&self) -> &'static str {
        NAME
    }
    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }
    fn ledger(&mut self) -> Option<&mut dyn Ledger> {
        Some(self)
    }

    fn close(&mut self, view: View<'_>, report: &mut CloseReport) {
        for (task, (node, given)) in self.given.drain() {
            if view.task(task).status == TaskStatus::Binding {
                report.give(gift(task, &given, &view.nodes.row(node).name, view.now()));
            }
        }
    }
}

/// The cards with the annotations that tell of them.
fn gift(task: TaskId, given: &Given, node: &Text, now: Time) -> Gift {
    let mut cards = HeldCards::default();
    let annotations = match given {
        Given::Plain(numbers) => {
            cards.numbers.clone_from(numbers);
            let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
            vec![
                ("volcano.sh/predicate-time", now.nanoseconds().to_string()),
                ("volcano.sh/gpu-index", list.join(",")),
            ]
        }
        Given::Registered(containers) => {
            cards.shares = containers.concat();
            let shares = shares::encode(containers);
            let second = now.seconds().to_string();
            vec![
                ("volcano.sh/vgpu-node", node.to_string()),
                ("volcano.sh/vgpu-time", second.clone()),
                ("volcano.sh/vgpu-ids-new", shares.clone()),
                ("volcano.sh/devices-to-allocate", shares),
                ("volcano.sh/bind-phase", "allocating".to_owned()),
                ("volcano.sh/bind-time", second),
            ]
        }
    };
    Gift {
        task,
        cards,
        annotations,
    }
}

impl Predicate for DeviceShare {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        Box::new(Check {
            plugin: self,
            needs: self.needs(view, task),
        })
    }
}

struct Check<'v> {
    plugin: &'v DeviceShare,
    /// `None` for a pod that asks for no card that is looked after.
    needs: Option<&'v CardNeeds>,
}

impl NodeCheck for Check<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        let Some(needs) = self.needs else { return };
        verdicts.each(nodes, |node| {
            let found = self
                .plugin
                .nodes
                .get(&node)
                .map(|cards| cards.find(self.plugin.mode, needs));
            let (code, words) = match found {
                Some(Ok(_)) => return None,
                Some(Err(short)) => ("cards_taken", self.words(short)),
                None => ("no_cards", self.words_without()),
            };
            Some(Refusal::unschedulable(Reason::fixed(NAME, code, words)))
        });
    }
}

impl Check<'_> {
    fn words(&self, short: Short) -> &'static str {
        match (self.plugin.mode, short) {
            (Mode::Memory, _) => "no enough gpu memory on node",
            (Mode::Number, _) => "no enough gpu number on node",
            (_, Short::TooFewCards) => "no enough gpu cards on node",
            (_, Short::NoneFits) => "not enough gpu fitted on this node",
        }
    }

    fn words_without(&self) -> &'static str {
        match self.plugin.mode {
            Mode::Registered => "node not initialized with device hamivgpu",
            Mode::Contradiction => "arguments of deviceshare do not go together",
            Mode::Off | Mode::Memory | Mode::Number => "node not initialized with device GpuShare",
        }
    }
}

impl Ledger for DeviceShare {
    fn allocated(&mut self, view: View<'_>, task: TaskId) {
        let row = view.task(task);
        let (Some(needs), Some(node)) = (self.needs(view, task), row.node) else {
            return;
        };
        let Some(cards) = self.nodes.get_mut(&node) else {
            return;
        };
        if matches!(row.status, TaskStatus::Allocated | TaskStatus::Pipelined) {
            // Where it waits for a pod to go there may be no card yet.
            if let Ok(given) = cards.find(self.mode, needs) {
                cards.give(task, needs.memory, &given);
                self.given.insert(task, (node, given));
            }
        } else if matches!(cards, Cards::Plain(_)) {
            // Its eviction is undone.
            cards.put(view, task);
        }
    }

    fn deallocated(&mut self, view: View<'_>, task: TaskId) {
        // As in Volcano 1.9, what was given to a pod that loses its place stays taken for the rest of the session.
        if self.given.remove(&task).is_some() {
            return;
        }
        // Plain cards of a pod that is evicted are free for others that wait for it to go; shares of registered ones are its
        // own until it is gone.
        if let Some(Cards::Plain(cards)) = view.task(task).node.and_then(|node| self.nodes.get_mut(&node)) {
            cards.take(task);
        }
    }
}

#[cfg(test)]
mod tests;
