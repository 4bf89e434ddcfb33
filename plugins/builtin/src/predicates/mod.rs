//! The `predicates` plugin: which nodes a task may go to, by the rules of Kubernetes 1.29 as Volcano 1.9 applies them.

mod arguments;
mod cache;
mod check;
mod pod_affinity;
mod proportional;
mod reasons;
#[cfg(test)]
mod tests;
mod topology_spread;

pub use arguments::Switches;
pub use proportional::Proportion;

use crate::matching::{NodeRule, Selector, host_ports};
use crate::sight::{HeldKind, PodTerms, Sight};
use cache::TemplateCache;
use check::{Filters, RefusedEverywhere};
use mco_framework::{
    Dependence, NodeCheck, OpenContext, PluginError, PluginFactory, PrePredicate, Predicate, Reason,
    SessionPlugin, View,
};
use mco_model::TaskId;
use pod_affinity::PodAffinityRules;
use reasons::{NAME, needs_volume, unreadable};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use topology_spread::SpreadRules;

/// Makes the plugin.
pub struct PredicatesFactory;

impl PluginFactory for PredicatesFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, context: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        let (switches, warnings) = Switches::read(context.arguments());
        context.warnings.extend(warnings);
        let sight = Sight::open(context.view.cluster(), HeldKind::RequiredAnti);
        Ok(Box::new(Predicates {
            switches,
            between_pods: Mutex::new(BetweenPods {
                sight,
                at_ease: HashSet::new(),
            }),
            templates: TemplateCache::default(),
        }))
    }
}

struct Predicates {
    switches: Switches,
    between_pods: Mutex<BetweenPods>,
    templates: TemplateCache,
}

struct BetweenPods {
    sight: Sight,
    /// Tasks that had neither terms nor pods against them when they were first looked at. Volcano never looks again in
    /// the same session, whatever has been placed since.
    at_ease: HashSet<TaskId>,
}

/// What rules between pods are about, made ready.
#[derive(Default)]
struct Rules {
    terms: PodTerms,
    spread: Vec<Selector>,
}

impl SessionPlugin for Predicates {
    fn name(&self) -> &'static str {
        NAME
    }

    fn pre_predicate(&self) -> Option<&dyn PrePredicate> {
        Some(self)
    }

    fn predicate(&self) -> Option<&dyn Predicate> {
        Some(self)
    }

    fn keeps_pods_in_sight(&self) -> bool {
        true
    }
}

impl PrePredicate for Predicates {
    fn check(&self, view: View<'_>, task: TaskId) -> Result<(), Reason> {
        let rules = self.rules(view, task)?;
        if self.switches.pod_affinity {
            self.note_ease(view, task, &rules.terms);
        }
        Ok(())
    }
}

impl Predicate for Predicates {
    fn dependence(&self, view: View<'_>, task: TaskId) -> Dependence {
        let spec = view.spec(task);
        let switches = &self.switches;
        let about_pods =
            !spec.pod_affinity.required.is_empty() || !spec.pod_anti_affinity.required.is_empty();
        let own = (switches.pod_affinity && about_pods)
            || (switches.topology_spread && topology_spread::has_any(spec))
            || (switches.cache && !view.task(task).template_uid.is_empty());
        if own || (switches.pod_affinity && self.is_concerned(view, task)) {
            Dependence::Task
        } else {
            Dependence::ClassAndNode
        }
    }

    fn prepare<'v>(&'v self, view: View<'v>, task: TaskId) -> Box<dyn NodeCheck + 'v> {
        match self.rules(view, task) {
            Ok(rules) => Box::new(self.filters(view, task, rules)),
            Err(reason) => Box::new(RefusedEverywhere(reason)),
        }
    }
}

impl Predicates {
    /// Reads the task's rules.
    fn rules(&self, view: View<'_>, task: TaskId) -> Result<Rules, Reason> {
        let (row, spec) = (view.task(task), view.spec(task));
        if let Some(claim) = spec.claims.first() {
            return Err(needs_volume(claim));
        }
        let mut rules = Rules::default();
        if self.switches.pod_affinity {
            rules.terms = PodTerms::of(spec, &row.namespace)
                .map_err(|error| unreadable("InterPodAffinity", format!("parsing pod: {error}")))?;
        }
        if self.switches.topology_spread {
            rules.spread = topology_spread::selectors(view.cluster(), task).map_err(|error| {
                let why = format!("obtaining pod's hard topology spread constraints: {error}");
                unreadable("PodTopologySpread", why)
            })?;
        }
        Ok(rules)
    }

    fn filters<'v>(&'v self, view: View<'v>, task: TaskId, rules: Rules) -> Filters<'v> {
        let cluster = view.cluster();
        let (row, spec) = (cluster.task(task), cluster.spec(task));
        let switches = &self.switches;
        let looks_at_ports = switches.node_ports && host_ports::takes_any(&spec.host_ports);
        let shares_answers = switches.cache && !row.template_uid.is_empty();
        let mut between = self.between_pods();
        let at_ease = between.at_ease.contains(&task);
        let pod_affinity = (switches.pod_affinity && !at_ease)
            .then(|| PodAffinityRules::of(cluster, &mut between.sight, task, &rules.terms))
            .flatten();
        let node_rule = (switches.node_affinity && NodeRule::demands(spec))
            .then(|| between.sight.node_rule(cluster, &NodeRule::of(spec)));
        let spread = (!rules.spread.is_empty())
            .then(|| SpreadRules::of(cluster, &mut between.sight, task, rules.spread));
        Filters {
            view,
            switches,
            request: &row.request,
            tolerations: &spec.tolerations,
            node_rule,
            template: shares_answers.then(|| self.templates.of(&row.template_uid, cluster.nodes.slots())),
            ports: if looks_at_ports { &spec.host_ports } else { &[] },
            pod_affinity,
            spread,
        }
    }

    /// A pod in sight may mind the task.
    fn is_concerned(&self, view: View<'_>, task: TaskId) -> bool {
        let mut between = self.between_pods();
        between.sight.terms_exist()
            && !between.at_ease.contains(&task)
            && between.sight.is_concerned(view.cluster(), task)
    }

    fn note_ease(&self, view: View<'_>, task: TaskId, terms: &PodTerms) {
        let mut between = self.between_pods();
        if between.sight.terms_exist()
            && terms.affinity.is_empty()
            && terms.anti_affinity.is_empty()
            && !between.sight.is_concerned(view.cluster(), task)
        {
            between.at_ease.insert(task);
        }
    }

    fn between_pods(&self) -> MutexGuard<'_, BetweenPods> {
        self.between_pods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
