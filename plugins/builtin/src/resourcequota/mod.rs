//! The plugin `resourcequota`: a job is admitted when the quotas of its namespace leave room for its minimum.

use mco_framework::{
    JobEnqueueable, OpenContext, PluginError, PluginFactory, Reason, SessionPlugin, View, Vote,
};
use mco_model::JobId;
use mco_model::extra::QuotaRecord;
use mco_model::spec::Text;
use std::collections::{BTreeMap, HashMap};

const NAME: &str = "resourcequota";

/// Makes the plugin `resourcequota`, which takes no arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceQuotaFactory;

impl PluginFactory for ResourceQuotaFactory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&self, _: &mut OpenContext<'_>) -> Result<Box<dyn SessionPlugin>, PluginError> {
        Ok(Box::<Quotas>::default())
    }
}

/// Amounts in billionths by name, as quotas write them: `requests.cpu`, `pods`, `count/pods`.
type Amounts = BTreeMap<Text, i128>;

#[derive(Default)]
struct Quotas {
    /// What was promised in this session, by namespace.
    promised: HashMap<Text, Amounts>,
}

impl SessionPlugin for Quotas {
    fn name(&self) -> &'static str {
        NAME
    }
    fn job_enqueueable(&mut self) -> Option<&mut dyn JobEnqueueable> {
        Some(self)
    }
}

impl JobEnqueueable for Quotas {
    /// What is permitted counts from here on, even when another plugin refuses the job.
    fn vote(&mut self, view: View<'_>, job: JobId) -> Vote {
        let job = view.job(job);
        let Some(group) = job.group.as_ref().filter(|group| group.min_resources.is_some()) else {
            return Vote::Permit;
        };
        let promised = self.promised.entry(job.namespace.clone()).or_default();
        for quota in view.cluster().quotas(&job.namespace) {
            let exceeded = exceeded(quota, promised, &group.min_named);
            if !exceeded.is_empty() {
                return Vote::Reject(refusal(quota, &group.min_named, &exceeded));
            }
        }
        for (name, amount) in &group.min_named {
            *promised.entry(name.clone()).or_default() += amount;
        }
        Vote::Permit
    }
}

/// The names of which `asked` is more than the quota leaves. Only names count that are asked for in the quota's own words.
fn exceeded<'a>(quota: &'a QuotaRecord, promised: &Amounts, asked: &Amounts) -> Vec<&'a Text> {
    let amount = |amounts: &Amounts, name: &Text| amounts.get(name).copied().unwrap_or(0);
    let is_exceeded = |(name, hard): &(&Text, &i128)| {
        asked.get(*name).is_some_and(|asked| {
            let in_use = amount(&quota.used, name).saturating_add(amount(promised, name));
            in_use.saturating_add(*asked) > **hard
        })
    };
    quota
        .hard
        .iter()
        .filter(is_exceeded)
        .map(|(name, _)| name)
        .collect()
}

fn refusal(quota: &QuotaRecord, asked: &Amounts, exceeded: &[&Text]) -> Reason {
    let list = |amounts: &Amounts| {
        let shown = exceeded
            .iter()
            .map(|name| format!("{name}={}", shown(amounts.get(*name).copied().unwrap_or(0))));
        shown.collect::<Vec<_>>().join(",")
    };
    let text = format!(
        "resource quota insufficient, requested: {}, used: {}, limited: {}",
        list(asked),
        list(&quota.used),
        list(&quota.hard)
    );
    Reason::about(NAME, "namespace_quota", text)
}

/// An amount in billionths as quantities are written, in whole or thousandth parts.
fn shown(nanos: i128) -> String {
    if nanos % 1_000_000_000 == 0 {
        (nanos / 1_000_000_000).to_string()
    } else {
        format!("{}m", nanos.div_euclid(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, amounts as kinds};
    use mco_model::Event;

    const ONE: i128 = 1_000_000_000;

    fn amounts(text: &str) -> Amounts {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        let amount = |text: &str| (text.parse::<f64>().unwrap() * 1000.0).round() as i128 * (ONE / 1000);
        pairs.map(|(name, text)| (name.into(), amount(text))).collect()
    }

    fn quota(fixture: &mut Fixture, name: &str, hard: &str, used: &str) {
        fixture.cluster.apply(Event::QuotaSet(Box::new(QuotaRecord {
            namespace: "t".into(),
            name: name.into(),
            hard: amounts(hard),
            used: amounts(used),
        })));
    }

    fn job(fixture: &mut Fixture, name: &str, min: Option<&str>) -> JobId {
        fixture.job(name, "q", |group| {
            group.min_resources = min.map(|_| kinds("cpu=1"));
            group.min_resources_named = amounts(min.unwrap_or_default());
        })
    }

    /// Permitted as long as used + promised + asked is at most hard, name by name.
    #[test]
    fn a_job_fits_into_every_quota_of_its_namespace() {
        let rows = [
            ("nothing said", None, true),
            ("fits exactly", Some("pods=3"), true),
            ("one too many", Some("pods=4"), false),
            ("a small part too many", Some("requests.cpu=1.001"), false),
            ("a name that no quota has", Some("cpu=99"), true),
            ("the second quota refuses", Some("limits.memory=11"), false),
            ("nothing asked of a name that is used up", Some("pods=0"), true),
            (
                "a name used up beyond its limit, asked for at nothing",
                Some("count/jobs=0"),
                false,
            ),
        ];
        for (name, min, permitted) in rows {
            let mut fixture = Fixture::new();
            fixture.queue("q", |_| ());
            quota(
                &mut fixture,
                "a",
                "pods=5,requests.cpu=2,count/jobs=1",
                "pods=2,requests.cpu=1,count/jobs=2",
            );
            quota(&mut fixture, "b", "limits.memory=10", "");
            let job = job(&mut fixture, "j", min);
            let vote = Quotas::default().vote(fixture.view(), job);
            assert_eq!(vote == Vote::Permit, permitted, "{name}: {vote:?}");
        }
    }

    #[test]
    fn what_is_permitted_counts_in_the_same_namespace() {
        let mut fixture = Fixture::new();
        fixture.queue("q", |_| ());
        quota(&mut fixture, "a", "pods=5", "pods=1");
        let (first, second) = (
            job(&mut fixture, "a", Some("pods=3,x=1")),
            job(&mut fixture, "b", Some("pods=2")),
        );
        let mut plugin = Quotas::default();
        assert_eq!(plugin.vote(fixture.view(), first), Vote::Permit);
        let Vote::Reject(reason) = plugin.vote(fixture.view(), second) else {
            panic!("1 used, 3 promised and 2 of 5");
        };
        assert_eq!(
            reason.text,
            "resource quota insufficient, requested: pods=2, used: pods=1, limited: pods=5"
        );
        assert_eq!(
            Quotas::default().vote(fixture.view(), second),
            Vote::Permit,
            "a new session"
        );
    }

    #[test]
    fn amounts_are_shown_as_quantities() {
        assert_eq!(
            [0, 2 * ONE, ONE / 2, -ONE / 4].map(shown),
            ["0", "2", "500m", "-250m"]
        );
    }
}
