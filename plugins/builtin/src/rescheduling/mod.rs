//! The plugin `rescheduling`: from time to time pods of nodes under load are evicted, so that idle nodes get them.

pub mod plan;
pub mod settings;

use mco_framework::{OpenContext, PluginError, PluginFactory, SessionPlugin, VictimTasks, View};
use mco_model::time::Time;
use mco_model::{NodeId, TaskId};
use plan::{Node, Pod};
use settings::Settings;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const NAME: &str = "rescheduling";

/// Makes the plugin `rescheduling`, and remembers when it last planned.
#[derive(Clone, Debug, Default)]
pub struct ReschedulingFactory {
    planned: Arc<Mutex<Option<Time>>>,
}

impl PluginFactory for ReschedulingFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (settings, warnings) = Settings::read(context.arguments());
        context.warnings.extend(warnings);
        Ok(Box::new(Rescheduling {
            settings,
            planned: self.planned.clone(),
            is_time: OnceLock::new(),
        }))
    }
}

struct Rescheduling {
    settings: Settings,
    planned: Arc<Mutex<Option<Time>>>,
    /// Decided once a session.
    is_time: OnceLock<bool>,
}

impl SessionPlugin for Rescheduling {
    fn name(&self) -> &'static str {
        NAME
    }
    fn victim_tasks(&self) -> Option<&dyn VictimTasks> {
        Some(self)
    }
}

impl VictimTasks for Rescheduling {
    fn victims(&self, view: View<'_>, tasks: &[TaskId]) -> Vec<TaskId> {
        let Some((low, high)) = self.settings.low_node else {
            return Vec::new();
        };
        if !*self.is_time.get_or_init(|| self.note_time(view)) {
            return Vec::new();
        }
        let asked: HashSet<TaskId> = tasks.iter().copied().collect();
        let mut nodes: Vec<NodeId> = view.cluster().nodes.ready().to_vec();
        nodes.sort_by(|left, right| view.nodes.row(*left).name.cmp(&view.nodes.row(*right).name));
        let nodes = nodes.into_iter().map(|node| self.node(view, node, &asked));
        plan::plan(nodes.collect(), low, high)
    }
}

impl Rescheduling {
    /// Notes that there is a plan now, unless the last one, or the start of the process, was too short a time ago.
    fn note_time(&self, view: View<'_>) -> bool {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let last = planned.or(view.started());
        if last.is_some_and(|last| self.settings.interval.after(last) > view.now().nanoseconds()) {
            return false;
        }
        *planned = Some(view.now());
        true
    }

    fn node(&self, view: View<'_>, node: NodeId, asked: &HashSet<TaskId>) -> Node<TaskId> {
        let row = view.cluster().nodes.row(node);
        let usage = view.cluster().node_usage(&row.name);
        let load = |of: fn(&mco_model::extra::NodeUsageRecord) -> &BTreeMap<mco_model::spec::Text, f64>| {
            usage
                .and_then(|usage| of(usage).get(&*self.settings.period).copied())
                .unwrap_or(0.0)
        };
        let plain = &row.allocatable_plain;
        let allocatable = (plain.milli_cpu, plain.memory);
        Node {
            cpu: load(|usage| &usage.cpu),
            memory: load(|usage| &usage.memory),
            schedulable: !row.unschedulable,
            allocatable: if allocatable == (0.0, 0.0) {
                row.capacity
            } else {
                allocatable
            },
            capacity: row.capacity,
            pods: pods(view, &row.tasks, asked),
        }
    }
}

/// Pods without a priority first, then by priority, then those that are less bound to what they ask for, then by UID.
fn pods(view: View<'_>, tasks: &[TaskId], asked: &HashSet<TaskId>) -> Vec<Pod<TaskId>> {
    let mut tasks = tasks.to_vec();
    tasks.sort_by_cached_key(|task| {
        let row = view.task(*task);
        (
            row.extra.given_priority,
            view.spec(*task).quality,
            row.uid.clone(),
        )
    });
    let pod = |task: TaskId| {
        let request = &view.task(task).request;
        Pod {
            id: asked.contains(&task).then_some(task),
            request: (request.milli_cpu, request.memory),
        }
    };
    tasks.into_iter().map(pod).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, conf};
    use mco_framework::conf::{PluginOption, SchedulerConf, Value};
    use mco_model::Event;
    use mco_model::extra::{NodeUsageRecord, Quality};

    fn settings(interval: &str) -> SchedulerConf {
        let map = |pairs: Vec<(&str, Value)>| {
            Value::Map(
                pairs
                    .into_iter()
                    .map(|(key, value)| (Value::Str(key.into()), value))
                    .collect(),
            )
        };
        let percent = |cpu, memory| map(vec![("cpu", Value::Int(cpu)), ("memory", Value::Int(memory))]);
        let params = map(vec![
            ("thresholds", percent(30, 30)),
            ("targetThresholds", percent(60, 70)),
        ]);
        let strategy = map(vec![
            ("name", Value::Str("lowNodeUtilization".into())),
            ("params", params),
        ]);
        let mut option = PluginOption::named(NAME);
        option.arguments.set("interval", Value::Str(interval.into()));
        option.arguments.set("strategies", Value::List(vec![strategy]));
        conf(option)
    }

    fn measure(fixture: &mut Fixture, node: &str, cpu: f64) {
        fixture
            .cluster
            .apply(Event::NodeUsageSet(Box::new(NodeUsageRecord {
                node: node.into(),
                at: Time::default(),
                cpu: [("5m".into(), cpu)].into(),
                memory: [("5m".into(), 10.0)].into(),
            })));
    }

    /// Node `hot` at 90 % of 10 CPUs with four pods of a CPU each, and `idle` at 10 %.
    fn fixture() -> (Fixture, Vec<TaskId>) {
        let mut fixture = Fixture::new();
        for (name, cpu) in [("hot", 90.0), ("idle", 10.0)] {
            fixture.node_with(name, "cpu=10,memory=1000", |node| {
                node.capacity = node.allocatable.clone()
            });
            measure(&mut fixture, name, cpu);
        }
        fixture.queue("q", |_| ());
        fixture.job("j", "q", |_| ());
        let mut pod = |name: &str, priority: Option<i32>, quality: Quality| {
            fixture.pod(name, "j", "hot", "cpu=1", |pod| {
                pod.extra.given_priority = priority;
                pod.spec.quality = quality;
            })
        };
        let tasks = vec![
            pod("high", Some(9), Quality::BestEffort),
            pod("sure", Some(5), Quality::Guaranteed),
            pod("loose", Some(5), Quality::Burstable),
            pod("none", None, Quality::Guaranteed),
        ];
        (fixture, tasks)
    }

    #[test]
    fn pods_of_low_priority_go_until_the_load_is_no_longer_too_high() {
        let (mut fixture, tasks) = fixture();
        let factory = ReschedulingFactory::default();
        let plugin = fixture.open(&factory, &settings("1s"));
        let victims = |asked: &[TaskId]| plugin.victim_tasks().unwrap().victims(fixture.view(), asked);
        // 90, 80, 70, 60 (still high), 50.
        assert_eq!(victims(&tasks), [tasks[3], tasks[2], tasks[1], tasks[0]]);
        assert_eq!(
            victims(&tasks[..2]),
            [tasks[1], tasks[0]],
            "only those asked about"
        );
        assert_eq!(victims(&[]), []);
    }

    #[test]
    fn a_pod_of_the_same_name_elsewhere_is_not_meant() {
        let (mut fixture, tasks) = fixture();
        let namesake = fixture.pod("none", "other", "idle", "cpu=1", |pod| {
            pod.namespace = "elsewhere".into();
            pod.uid = "elsewhere".into();
        });
        let plugin = fixture.open(&ReschedulingFactory::default(), &settings("1s"));
        let victims = plugin
            .victim_tasks()
            .unwrap()
            .victims(fixture.view(), &[namesake, tasks[3]]);
        assert_eq!(victims, [tasks[3]]);
    }

    #[test]
    fn so_much_time_lies_between_plans() {
        let (mut fixture, tasks) = fixture();
        let factory = ReschedulingFactory::default();
        fixture.cluster.apply(Event::ProcessStarted {
            at: Time::from_seconds(100),
        });
        let mut plans = |second: i64| {
            fixture.at(second);
            let plugin = fixture.open(&factory, &settings("10s"));
            !plugin
                .victim_tasks()
                .unwrap()
                .victims(fixture.view(), &tasks)
                .is_empty()
        };
        let times = [105, 110, 111, 119, 120].map(&mut plans);
        assert_eq!(times, [false, true, false, false, true]);
    }
}
