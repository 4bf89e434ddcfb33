//! Water filling: how the cluster is divided among queues by weight, within what each wants and may have. Pure
//! arithmetic; nothing here knows of sessions.

use crate::admission::take;
use mco_model::resource::{Missing, Resource};

/// A queue as the division sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Its weight. One of zero or below gets nothing but its guarantee.
    pub weight: i32,
    /// What its jobs have and wait for.
    pub request: Resource,
    /// What it has at least.
    pub guarantee: Resource,
    /// What it may have at most; a scalar that is absent is not limited.
    pub limit: Resource,
}

/// Rounds after which the division stands as it is. Every round but the last satisfies a queue or at least halves the
/// rest, so that only nonsense (negative weights, figures that are no numbers) comes this far.
const MOST_ROUNDS: usize = 1000;

/// What each queue deserves, in the order of `claims`.
///
/// In rounds each queue gets its part by weight of what is left, is cut to its limit and to its request, and raised to
/// its guarantee; a queue that got all it asks for, or could not use its part, leaves the division. What a queue was
/// cut by is left for the next round.
#[must_use]
pub fn fill(total: &Resource, claims: &[Claim]) -> Vec<Resource> {
    let mut deserved = vec![Resource::default(); claims.len()];
    let mut open: Vec<usize> = (0..claims.len()).collect();
    let mut remaining = total.clone();
    for _ in 0..MOST_ROUNDS {
        let weights: i64 = open.iter().map(|index| i64::from(claims[*index].weight)).sum();
        if weights == 0 {
            break;
        }
        let before = remaining.clone();
        let (mut gained, mut given_back) = (Resource::default(), Resource::default());
        open.retain(|index| {
            let (claim, deserved) = (&claims[*index], &mut deserved[*index]);
            let grown = grow(deserved, claim, &before, weights);
            let (more, less) = grown.diff(deserved, Missing::Zero);
            gained.add(&more);
            given_back.add(&less);
            let stuck = grown == *deserved;
            *deserved = grown;
            !claim.request.less_equal(deserved, Missing::Zero) && !stuck
        });
        // Guarantees may give away more than there is left.
        take(&mut remaining, &gained);
        remaining.add(&given_back);
        if remaining.is_empty() || remaining == before {
            break;
        }
    }
    deserved
}

fn grow(deserved: &Resource, claim: &Claim, remaining: &Resource, weights: i64) -> Resource {
    let mut part = remaining.clone();
    part.multiply(f64::from(claim.weight) / weights as f64);
    let mut grown = deserved.clone();
    grown.add(&part);
    grown.min_dimension(&claim.limit, Missing::Infinity);
    grown.min_dimension(&claim.request, Missing::Zero);
    grown.max(&claim.guarantee)
}

#[cfg(test)]
mod tests;
