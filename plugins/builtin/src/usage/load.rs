//! How good a node is by its measured load. Pure arithmetic.

/// How much the parts of a score weigh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The score as a whole.
    pub all: i64,
    /// The load of CPU.
    pub cpu: i64,
    /// The load of memory.
    pub memory: i64,
}

/// The score of a node with this load in percent: what is left of 100, weighted, times 100 and the weight of all.
#[must_use]
pub fn score(cpu: f64, memory: f64, weights: Weights) -> f64 {
    let sum = weights.cpu.saturating_add(weights.memory);
    if sum == 0 {
        return 0.0;
    }
    let part = |load: f64, weight: i64| (100.0 - load) / 100.0 * weight as f64;
    (part(cpu, weights.cpu) + part(memory, weights.memory)) / sum as f64 * 100.0 * weights.all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_nodes_score_more() {
        let weights = |all, cpu, memory| Weights { all, cpu, memory };
        let rows = [
            // (1 - 0.2) x 1 + (1 - 0.6) x 1 = 1.2; / 2 x 100 x 5 = 300
            (20.0, 60.0, weights(5, 1, 1), 300.0),
            // (0.8 x 3 + 0.4 x 1) / 4 x 100 = 70
            (20.0, 60.0, weights(1, 3, 1), 70.0),
            (0.0, 0.0, weights(5, 1, 1), 500.0),
            (100.0, 100.0, weights(5, 1, 1), 0.0),
            (150.0, 100.0, weights(1, 1, 1), -25.0),
            (20.0, 60.0, weights(0, 1, 1), 0.0),
            (20.0, 60.0, weights(5, 1, -1), 0.0),
        ];
        for (cpu, memory, weights, expected) in rows {
            let found = score(cpu, memory, weights);
            assert!(
                (found - expected).abs() < 1e-9,
                "{cpu} {memory} {weights:?}: {found}"
            );
        }
    }
}
