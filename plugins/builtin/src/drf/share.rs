//! Dominant shares: of all kinds of resource the greatest part of the cluster. Pure arithmetic.

use mco_model::resource::{Dimension, Resource, share};

/// What the cluster has, by kind; kinds of which there is nothing are left out.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    amounts: Vec<(Dimension, f64)>,
}

impl Whole {
    /// The kinds of `total` that amount to something.
    #[must_use]
    pub fn of(total: &Resource) -> Self {
        let amounts = total
            .dimensions()
            .map(|dimension| (dimension, total.get(dimension)));
        Self {
            amounts: amounts.collect(),
        }
    }

    /// The greatest part of the whole that `amount` takes of any kind; not below 0.
    #[must_use]
    pub fn dominant_share(&self, amount: &Resource) -> f64 {
        let shares = self
            .amounts
            .iter()
            .map(|(dimension, whole)| share(amount.get(*dimension), *whole));
        shares.fold(0.0, |most, share| if share > most { share } else { most })
    }

    /// The kinds that are not used up when `allocated` is taken.
    #[must_use]
    pub fn left_over(&self, allocated: &Resource) -> Vec<Dimension> {
        let left = |(dimension, whole): &&(Dimension, f64)| allocated.get(*dimension) < *whole;
        self.amounts
            .iter()
            .filter(left)
            .map(|(dimension, _)| *dimension)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::resource::ScalarId;

    #[test]
    fn the_greatest_part_counts() {
        let gpu = ScalarId::PODS;
        let whole = Whole::of(&Resource::new(10_000.0, 100.0).with_scalar(gpu, 8.0));
        let rows = [
            ("nothing", Resource::default(), 0.0),
            ("mostly cpu", Resource::new(5_000.0, 10.0), 0.5),
            (
                "mostly a scalar",
                Resource::new(5_000.0, 10.0).with_scalar(gpu, 6.0),
                0.75,
            ),
            ("more than there is", Resource::new(20_000.0, 0.0), 2.0),
            ("below nothing", Resource::new(-5_000.0, 0.0), 0.0),
        ];
        for (name, amount, share) in rows {
            assert_eq!(whole.dominant_share(&amount), share, "{name}");
        }
    }

    #[test]
    fn what_the_cluster_lacks_does_not_count() {
        let whole = Whole::of(&Resource::new(0.0, 100.0));
        assert_eq!(whole.dominant_share(&Resource::new(5_000.0, 10.0)), 0.1);
        assert_eq!(whole.left_over(&Resource::default()), [Dimension::Memory]);
        assert_eq!(whole.left_over(&Resource::new(0.0, 100.0)), []);
    }
}
