//! How admission compares what is promised with what there is, for the plugins that vote on admitting jobs.

use mco_framework::Reason;
use mco_model::resource::{Dimension, Missing, Resource, ScalarNames};

/// The kinds of which `sum`, the request of a job with all that was promised before, is more than `limit`.
///
/// CPU and memory always count, as in Volcano 1.9. Of scalars only those count that the job asks for: it must not pay
/// for devices that others were promised. (Later releases leave out CPU and memory likewise.)
pub(crate) fn short_of(
    sum: &Resource,
    limit: &Resource,
    asked: &Resource,
    missing: Missing,
) -> Vec<Dimension> {
    let counts = |dimension: &Dimension| match dimension {
        Dimension::Cpu | Dimension::Memory => true,
        Dimension::Scalar(id) => asked.scalar(*id).is_some_and(|amount| amount > 0.0),
    };
    sum.less_equal_failing(limit, missing)
        .into_iter()
        .filter(counts)
        .collect()
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
    fn scalars_that_a_job_does_not_ask_for_do_not_count() {
        let promised = Resource::new(3000.0, 0.0).with_scalar(GPU, 9000.0);
        let limit = Resource::new(4000.0, 1e9).with_scalar(GPU, 8000.0);
        let rows = [
            ("no scalar", Resource::new(1000.0, 0.0), vec![]),
            (
                "a scalar at zero",
                Resource::new(1000.0, 0.0).with_scalar(GPU, 0.0),
                vec![],
            ),
            (
                "the spent scalar",
                Resource::new(1000.0, 0.0).with_scalar(GPU, 1.0),
                vec![Dimension::Scalar(GPU)],
            ),
            ("too much cpu", Resource::new(1001.0, 0.0), vec![Dimension::Cpu]),
        ];
        for (name, asked, short) in rows {
            let mut sum = promised.clone();
            sum.add(&asked);
            assert_eq!(short_of(&sum, &limit, &asked, Missing::Zero), short, "{name}");
        }
    }

    #[test]
    fn more_than_there_is_leaves_nothing() {
        let mut left = Resource::new(1000.0, 5.0).with_scalar(GPU, 1.0);
        take(&mut left, &Resource::new(3000.0, 2.0).with_scalar(GPU, 2.0));
        assert_eq!(left, Resource::new(0.0, 3.0).with_scalar(GPU, 0.0));
    }
}
