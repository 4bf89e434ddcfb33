//! From indices to the level: weights, their redistribution, penalties. Imports nothing but std and the rules'
//! values.

use crate::rules::values::Weights;

/// One figure for each dimension that has data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dimensions {
    /// Cache pollution.
    pub cache: Option<f64>,
    /// Memory pressure.
    pub memory: Option<f64>,
    /// I/O queue congestion.
    pub io: Option<f64>,
}

impl Dimensions {
    /// Names and figures, in the order of the rules.
    pub fn named(&self) -> [(&'static str, Option<f64>); 3] {
        [("cache", self.cache), ("memory", self.memory), ("io", self.io)]
    }
}

/// What compound interference multiplies weights by; 1 where it does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// On the I/O weight.
    pub io: f64,
    /// On the memory and the I/O weight.
    pub memory_and_io: f64,
}

/// A level and the weights it was computed with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The interference level, 0 to 1.
    pub level: f64,
    /// The weight of each dimension that has an index.
    pub weights: Dimensions,
}

/// Weighs the indices; `None` when no dimension that has an index has a weight.
///
/// A dimension without data gives its weight to the others in proportion. Penalties come after that and are not
/// evened out again: they amplify.
pub fn weigh(weights: &Weights, indices: &Dimensions, penalty: &Penalty) -> Option<Weighed> {
    let of = |weight: f64, index: Option<f64>| index.map(|_| weight);
    let present = [
        of(weights.cache, indices.cache),
        of(weights.memory, indices.memory),
        of(weights.io, indices.io),
    ];
    let held: f64 = present.iter().flatten().sum();
    if held <= 0.0 {
        return None;
    }
    let total = weights.cache + weights.memory + weights.io;
    let complete = present.iter().all(Option::is_some);
    // Dividing first keeps a tiny held weight from blowing up.
    let [cache, memory, io] =
        present.map(|weight| weight.map(|weight| if complete { weight } else { weight / held * total }));
    let weights = Dimensions {
        cache,
        memory: memory.map(|weight| weight * penalty.memory_and_io),
        io: io.map(|weight| weight * penalty.io * penalty.memory_and_io),
    };
    let product = |weight: Option<f64>, index: Option<f64>| Some(weight? * index?);
    let sum: f64 = [
        product(weights.cache, indices.cache),
        product(weights.memory, indices.memory),
        product(weights.io, indices.io),
    ]
    .into_iter()
    .flatten()
    .sum();
    Some(Weighed {
        level: sum.clamp(0.0, 1.0),
        weights,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Penalty = Penalty {
        io: 1.0,
        memory_and_io: 1.0,
    };

    fn dimensions(cache: Option<f64>, memory: Option<f64>, io: Option<f64>) -> Dimensions {
        Dimensions { cache, memory, io }
    }

    #[test]
    fn an_absent_dimension_gives_its_weight_to_the_others_in_proportion() {
        let weighed = weigh(
            &Weights::default(),
            &dimensions(None, Some(1.0), Some(0.0)),
            &FREE,
        )
        .unwrap();
        assert_eq!(weighed.weights.cache, None);
        assert!((weighed.weights.memory.unwrap() - 3.0 / 7.0).abs() < 1e-12);
        assert!((weighed.weights.io.unwrap() - 4.0 / 7.0).abs() < 1e-12);
        assert!((weighed.level - 3.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn no_dimension_with_a_weight_has_no_level() {
        let only_cache = Weights {
            cache: 1.0,
            memory: 0.0,
            io: 0.0,
        };
        assert_eq!(
            weigh(&only_cache, &dimensions(None, Some(1.0), Some(1.0)), &FREE),
            None
        );
        assert_eq!(weigh(&Weights::default(), &Dimensions::default(), &FREE), None);
    }

    #[test]
    fn penalties_amplify_and_are_not_evened_out() {
        let penalty = Penalty {
            io: 1.2,
            memory_and_io: 1.1,
        };
        let weighed = weigh(
            &Weights::default(),
            &dimensions(Some(0.0), Some(0.0), Some(0.5)),
            &penalty,
        )
        .unwrap();
        assert_eq!(weighed.weights.cache, Some(0.30));
        assert!((weighed.weights.memory.unwrap() - 0.33).abs() < 1e-12);
        assert!((weighed.weights.io.unwrap() - 0.528).abs() < 1e-12);
        assert!((weighed.level - 0.264).abs() < 1e-12);
    }

    #[test]
    fn tiny_and_huge_weights_stay_finite() {
        let odd = Weights {
            cache: 1e9,
            memory: 1e-320,
            io: 0.0,
        };
        let weighed = weigh(&odd, &dimensions(None, Some(0.5), Some(0.5)), &FREE).unwrap();
        assert_eq!(weighed.level, 1.0);
        assert!(weighed.weights.memory.unwrap().is_finite());
    }
}
