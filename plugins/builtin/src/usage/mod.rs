//! The plugin `usage`: nodes under load take no more pods, and idle ones are preferred, by the load that was measured.

pub mod load;
pub mod settings;

use mco_framework::{
    Dependence, Measured, NodeCheck, NodeOrder, NodeScore, OpenContext, PluginError, PluginFactory,
    Predicate, Reason, Refusal, Scores, SessionPlugin, Verdicts, View,
};
use mco_model::extra::NodeUsageRecord;
use mco_model::{NodeId, TaskId};
use settings::Settings;

const NAME: &str = "usage";

/// The period over which the load that counts is averaged.
const PERIOD: &str = "10m";

/// Measurements older than this do not count, in seconds.
const LIFETIME: f64 = 300.0;

/// Makes the plugin `usage`.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageFactory;

impl PluginFactory for UsageFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (settings, warnings) = Settings::read(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(Usage { settings }))
    }
}

struct Usage {
    settings: Settings,
}

impl SessionPlugin for Usage {
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

impl Predicate for Usage {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, _task: TaskId) -> Box<dyn NodeCheck + 'v> {
        Box::new(Looking {
            settings: &self.settings,
            view,
        })
    }
}

impl NodeOrder for Usage {
    fn dependence(&self, _view: View<'_>, _task: TaskId) -> Dependence {
        Dependence::ClassAndNode
    }

    fn prepare<'v>(&'v self, view: View<'v>, _task: TaskId) -> Box<dyn NodeScore + 'v> {
        Box::new(Looking {
            settings: &self.settings,
            view,
        })
    }
}

struct Looking<'v> {
    settings: &'v Settings,
    view: View<'v>,
}

impl Looking<'_> {
    /// What was measured of the node, as long as it counts.
    fn measured(&self, node: NodeId) -> Option<&NodeUsageRecord> {
        let cluster = self.view.cluster();
        let usage = cluster.node_usage(&cluster.nodes.row(node).name)?;
        (self.age(usage) <= LIFETIME).then_some(usage)
    }

    fn age(&self, usage: &NodeUsageRecord) -> f64 {
        self.view.now().seconds_since(usage.at)
    }

    fn refusal(&self, node: NodeId) -> Option<Refusal> {
        let usage = self.measured(node)?;
        let kinds = [
            (
                &usage.cpu,
                self.settings.cpu,
                "cpu_load",
                "the CPU load of the node exceeds the upper limit.",
            ),
            (
                &usage.memory,
                self.settings.memory,
                "memory_load",
                "the memory load of the node exceeds the upper limit.",
            ),
        ];
        kinds.into_iter().find_map(|(load, threshold, code, words)| {
            let value = load.get(PERIOD).copied()?;
            let measured = Measured {
                value,
                threshold,
                age_seconds: self.age(usage),
            };
            (value > threshold)
                .then(|| Refusal::unresolvable(Reason::fixed(NAME, code, words).with(measured)))
        })
    }
}

impl NodeCheck for Looking<'_> {
    fn check(&self, nodes: &[NodeId], verdicts: &mut Verdicts<'_>) {
        verdicts.each(nodes, |node| self.refusal(node));
    }
}

impl NodeScore for Looking<'_> {
    /// A node of which not both loads are known scores nothing.
    fn score(&self, nodes: &[NodeId], scores: &mut Scores<'_>) {
        for (index, node) in nodes.iter().enumerate() {
            let loads = self
                .measured(*node)
                .and_then(|usage| usage.cpu.get(PERIOD).zip(usage.memory.get(PERIOD)));
            if let Some((cpu, memory)) = loads {
                scores.add(index, load::score(*cpu, *memory, self.settings.weights));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, conf};
    use mco_framework::conf::{PluginOption, Value};
    use mco_model::Event;
    use mco_model::time::Time;

    fn measure(
        fixture: &mut Fixture,
        node: &str,
        at: i64,
        cpu: Option<f64>,
        memory: Option<f64>,
        period: &str,
    ) {
        let load = |load: Option<f64>| load.map(|load| (period.into(), load)).into_iter().collect();
        fixture
            .cluster
            .apply(Event::NodeUsageSet(Box::new(NodeUsageRecord {
                node: node.into(),
                at: Time::from_seconds(at),
                cpu: load(cpu),
                memory: load(memory),
            })));
    }

    /// Thresholds of 60 and 70; the session stands for second 1000.
    #[test]
    fn nodes_are_refused_and_scored_by_what_was_measured_of_late() {
        let rows = [
            // (0.5 + 0.7) / 2 x 500 = 300
            ("below both", 1000, Some(50.0), Some(30.0), "10m", None, 300.0),
            ("at both", 1000, Some(60.0), Some(70.0), "10m", None, 175.0),
            (
                "too much CPU",
                1000,
                Some(60.5),
                Some(0.0),
                "10m",
                Some("the CPU load of the node exceeds the upper limit."),
                348.75,
            ),
            (
                "too much memory",
                1000,
                Some(0.0),
                Some(71.0),
                "10m",
                Some("the memory load of the node exceeds the upper limit."),
                322.5,
            ),
            (
                "just not too old",
                700,
                Some(99.0),
                Some(0.0),
                "10m",
                Some("the CPU load of the node exceeds the upper limit."),
                252.5,
            ),
            ("too old", 699, Some(99.0), Some(99.0), "10m", None, 0.0),
            ("of another period", 1000, Some(99.0), Some(99.0), "5m", None, 0.0),
            ("memory unknown", 1000, Some(50.0), None, "10m", None, 0.0),
            (
                "CPU unknown",
                1000,
                None,
                Some(99.0),
                "10m",
                Some("the memory load of the node exceeds the upper limit."),
                0.0,
            ),
            (
                "measured later than now",
                2000,
                Some(50.0),
                Some(30.0),
                "10m",
                None,
                300.0,
            ),
        ];
        let mut option = PluginOption::named(NAME);
        let pair = |key: &str, number| (Value::Str(key.into()), Value::Int(number));
        option
            .arguments
            .set("thresholds", Value::Map(vec![pair("cpu", 60), pair("mem", 70)]));
        let conf = conf(option);
        for (name, at, cpu, memory, period, refused, score) in rows {
            let mut fixture = Fixture::new();
            fixture.at(1000);
            fixture.node("n", "cpu=1");
            fixture.queue("q", |_| ());
            fixture.job("j", "q", |_| ());
            let task = fixture.pod("p", "j", "", "cpu=1", |_| ());
            measure(&mut fixture, "n", at, cpu, memory, period);
            let plugin = fixture.open(&UsageFactory, &conf);
            let words = fixture.refusals(&*plugin, task)[0]
                .as_ref()
                .map(|refusal| refusal.reason.text.to_string());
            assert_eq!(words.as_deref(), refused, "{name}");
            assert!((fixture.scores(&*plugin, task)[0] - score).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn a_node_that_was_never_measured_or_came_back_is_like_any_other() {
        let mut fixture = Fixture::new();
        fixture.node("n", "cpu=1");
        fixture.queue("q", |_| ());
        fixture.job("j", "q", |_| ());
        let task = fixture.pod("p", "j", "", "cpu=1", |_| ());
        let plugin = fixture.open_plain(&UsageFactory);
        assert_eq!(
            (fixture.fits(&*plugin, task), fixture.scores(&*plugin, task)),
            (vec![true], vec![0.0])
        );
        measure(&mut fixture, "n", 0, Some(99.0), Some(99.0), "10m");
        let plugin = fixture.open_plain(&UsageFactory);
        assert_eq!(fixture.fits(&*plugin, task), [false]);
        fixture.cluster.apply(Event::NodeRemoved { name: "n".into() });
        fixture.node("n", "cpu=1");
        let plugin = fixture.open_plain(&UsageFactory);
        assert_eq!(fixture.fits(&*plugin, task), [true]);
    }
}
