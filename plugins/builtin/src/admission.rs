//! How admission compares what is promised with what there is, for the plugins that vote on admitting jobs.

use mco_framework::Reason;
use mco_model::event::PodGroupPhase;
use mco_model::job::Job;
use mco_model::resource::{Dimension, Missing, Resource, ScalarNames};

/// The kinds of which `sum`, the request of a job with all that was promised before, is more than `limit`.
///
/// Every kind counts, as in Volcano 1.9, be it asked for or not. One thing is not held against a job: scalars that it
/// does not ask for and that groups without pods were promised, see [`promised_to_nobody`]. They are only looked up when
/// something is short.
pub(crate) fn short_of(
    sum: &Resource,
    limit: &Resource,
    asked: &Resource,
    missing: Missing,
    promised_to_nobody: impl FnOnce() -> Resource,
) -> Vec<Dimension> {
    let short = sum.less_equal_failing(limit, missing);
    let unasked = |dimension: &Dimension| match dimension {
        Dimension::Cpu | Dimension::Memory => None,
        Dimension::Scalar(id) => (asked.scalar(*id).unwrap_or(0.0) <= 0.0).then_some(*id),
    };
    let unasked: Vec<_> = short.iter().filter_map(unasked).collect();
    if unasked.is_empty() {
        return short.to_vec();
    }
    let unclaimed = promised_to_nobody();
    let mut sum = sum.clone();
    for id in unasked {
        sum.add_scalar(id, -unclaimed.scalar(id).unwrap_or(0.0));
    }
    sum.less_equal_failing(limit, missing).to_vec()
}

/// Scalars that admitted groups were promised that have no pods (yet, or any more).
pub(crate) fn promised_to_nobody<'a>(jobs: impl Iterator<Item = &'a Job>) -> Resource {
    let mut promised = Resource::default();
    let without_pods = jobs.filter(|job| job.phase() == PodGroupPhase::Inqueue && job.task_count() == 0);
    for min in without_pods.filter_map(Job::min_resources) {
        for (id, amount) in min.scalars() {
            promised.add_scalar(id, amount);
        }
    }
    promised
}

/// A refusal that names what is short.
pub(crate) fn refusal(
    source: &'static str,
    code: &'static str,
    text: &str,
    short: &[Dimension],
    names: &ScalarNames,
) -> Reason {
    let short: Vec<&str> = short.iter().map(|dimension| dimension.name(names)).collect();
    Reason::about(source, code, format!("{text}: insufficient {}", short.join(", ")))
}

/// Takes `taken` from `resource`. Where that is more than there is nothing is left: Volcano 1.9 ends with a failed
/// assertion there.
pub(crate) fn take(resource: &mut Resource, taken: &Resource) {
    if resource.sub(taken).is_ok() {
        return;
    }
    resource.milli_cpu = resource.milli_cpu.max(0.0);
    resource.memory = resource.memory.max(0.0);
    let negative: Vec<_> = resource.scalars().filter(|(_, amount)| *amount < 0.0).collect();
    for (id, _) in negative {
        resource.set_scalar(id, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::resource::ScalarId;

    const GPU: ScalarId = ScalarId::PODS;

    #[test]
    fn scalars_promised_to_groups_without_pods_are_not_held_against_jobs_that_do_not_ask() {
        let promised = Resource::new(3000.0, 0.0).with_scalar(GPU, 9000.0);
        let limit = Resource::new(4000.0, 1e9).with_scalar(GPU, 8000.0);
        let cpu = |milli| Resource::new(milli, 0.0);
        let gpu = Dimension::Scalar(GPU);
        let rows = [
            ("not asked for", cpu(1000.0), 1000.0, vec![]),
            (
                "asked for at zero",
                cpu(1000.0).with_scalar(GPU, 0.0),
                1000.0,
                vec![],
            ),
            ("asked for", cpu(1000.0).with_scalar(GPU, 1.0), 1000.0, vec![gpu]),
            ("promised to pods", cpu(1000.0), 0.0, vec![gpu]),
            ("mostly promised to pods", cpu(1000.0), 999.0, vec![gpu]),
            ("too much cpu", cpu(1001.0), 1000.0, vec![Dimension::Cpu]),
        ];
        for (name, asked, nobody, short) in rows {
            let mut sum = promised.clone();
            sum.add(&asked);
            let nobody = || Resource::default().with_scalar(GPU, nobody);
            assert_eq!(
                short_of(&sum, &limit, &asked, Missing::Zero, nobody),
                short,
                "{name}"
            );
        }
    }

    #[test]
    fn more_than_there_is_leaves_nothing() {
        let mut left = Resource::new(1000.0, 5.0).with_scalar(GPU, 1.0);
        take(&mut left, &Resource::new(3000.0, 2.0).with_scalar(GPU, 2.0));
        assert_eq!(left, Resource::new(0.0, 3.0).with_scalar(GPU, 0.0));
    }
}
