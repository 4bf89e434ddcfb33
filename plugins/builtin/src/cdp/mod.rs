//! The plugin `cdp`: pods are left alone for a while after they were placed.

use mco_framework::{Evictable, Eviction, OpenContext, PluginError, PluginFactory, SessionPlugin, View};
use mco_model::TaskId;
use mco_model::status::TaskStatus;
use mco_model::task::Task;

const NAME: &str = "cdp";

/// Makes the plugin `cdp`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct CdpFactory;

impl PluginFactory for CdpFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, _: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::new(Cdp))
    }
}

struct Cdp;

impl SessionPlugin for Cdp {
    fn name(&self) -> &'static str {
        NAME
    }
    fn preemptable(&self) -> Option<&dyn Evictable> {
        Some(self)
    }
}

impl Evictable for Cdp {
    fn victims(&self, view: View<'_>, _evictor: TaskId, candidates: &[TaskId]) -> Eviction {
        let may_go = |id: &TaskId| !is_protected(view, view.task(*id));
        Eviction::Victims(candidates.iter().copied().filter(may_go).collect())
    }
}

/// The pod runs and was placed less than its cooldown ago.
fn is_protected(view: View<'_>, task: &Task) -> bool {
    let (Some(cooldown), Some(placed)) = (task.extra.cooldown, task.extra.scheduled_at) else {
        return false;
    };
    let runs = matches!(task.status, TaskStatus::Running | TaskStatus::Releasing);
    runs && cooldown.after(placed) > view.now().nanoseconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use mco_model::event::PodPhase;
    use mco_model::span::Span;
    use mco_model::time::Time;

    /// A pod placed at second 1000 with a cooldown is protected until then; the session stands for second 1060.
    #[test]
    fn a_pod_is_protected_until_its_cooldown_is_over() {
        let rows = [
            ("no cooldown", None, Some(1000), PodPhase::Running, true),
            ("not over", Some(61), Some(1000), PodPhase::Running, false),
            ("over just now", Some(60), Some(1000), PodPhase::Running, true),
            ("below zero", Some(-5), Some(1000), PodPhase::Running, true),
            (
                "placed at an unknown time",
                Some(61),
                None,
                PodPhase::Running,
                true,
            ),
            (
                "bound, not running",
                Some(61),
                Some(1000),
                PodPhase::Pending,
                true,
            ),
        ];
        let mut fixture = Fixture::new();
        fixture.at(1060);
        fixture.node("n", "cpu=9");
        fixture.queue("q", |_| ());
        fixture.job("j", "q", |_| ());
        for (name, cooldown, placed, phase, may_go) in rows {
            let task = fixture.pod("p", "j", "n", "cpu=1", |pod| {
                pod.phase = phase;
                pod.extra.cooldown = cooldown.map(Span::seconds);
                pod.extra.scheduled_at = placed.map(Time::from_seconds);
            });
            let victims = Cdp.victims(fixture.view(), task, &[task]);
            let expected = if may_go { vec![task] } else { vec![] };
            assert_eq!(victims, Eviction::Victims(expected), "{name}");
        }
    }
}
