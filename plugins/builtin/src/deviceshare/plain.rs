//! Plain cards of a node: alike, shared by memory or given whole. Pure arithmetic.

use mco_model::TaskId;
use mco_model::extra::PlainCards;
use std::collections::{BTreeMap, HashMap};

/// The cards of a node, with who is on them.
#[derive(Clone, Debug, Default)]
pub struct Cards {
    memory: u64,
    /// Memory by pod, by number of the card.
    pods: BTreeMap<u32, HashMap<TaskId, u64>>,
}

impl Cards {
    /// Cards with nobody on them.
    #[must_use]
    pub fn of(cards: &PlainCards) -> Self {
        let pods = cards.numbers.iter().map(|number| (*number, HashMap::new()));
        Self {
            memory: cards.memory,
            pods: pods.collect(),
        }
    }

    /// Puts a pod on these cards; those that are not there are passed over.
    pub fn put(&mut self, pod: TaskId, numbers: &[u32], memory: u64) {
        for number in numbers {
            if let Some(pods) = self.pods.get_mut(number) {
                pods.insert(pod, memory);
            }
        }
    }

    /// Takes a pod off all cards.
    pub fn take(&mut self, pod: TaskId) {
        for pods in self.pods.values_mut() {
            pods.remove(&pod);
        }
    }

    /// The first card with that much memory left.
    #[must_use]
    pub fn with_memory(&self, memory: u64) -> Option<u32> {
        let fits = |pods: &HashMap<TaskId, u64>| {
            let used = pods.values().copied().fold(0, u64::saturating_add);
            self.memory.saturating_sub(used) >= memory
        };
        self.pods
            .iter()
            .find(|(_, pods)| fits(pods))
            .map(|(number, _)| *number)
    }

    /// The first so many cards with nobody on them; `None` when there are fewer.
    #[must_use]
    pub fn idle(&self, number: i64) -> Option<Vec<u32>> {
        let number = usize::try_from(number).unwrap_or(0);
        let idle = self.pods.iter().filter(|(_, pods)| pods.is_empty());
        let idle: Vec<u32> = idle.map(|(card, _)| *card).take(number).collect();
        (idle.len() == number).then_some(idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::Id;

    fn task(number: u32) -> TaskId {
        TaskId::from_slot(number)
    }

    /// Cards 0, 2 and 3 of 10 each.
    fn cards() -> Cards {
        Cards::of(&PlainCards {
            memory: 10,
            numbers: vec![0, 2, 3],
        })
    }

    #[test]
    fn the_first_card_with_enough_memory_is_taken() {
        let mut cards = cards();
        cards.put(task(0), &[0], 7);
        cards.put(task(1), &[2, 9], 4);
        cards.put(task(2), &[2], 4);
        // Left: 3, 2 and 10.
        let rows = [
            (3, Some(0)),
            (4, Some(3)),
            (10, Some(3)),
            (11, None),
            (0, Some(0)),
        ];
        for (memory, card) in rows {
            assert_eq!(cards.with_memory(memory), card, "{memory}");
        }
        cards.take(task(0));
        assert_eq!(cards.with_memory(10), Some(0));
        cards.put(task(3), &[0], u64::MAX);
        assert_eq!(
            cards.with_memory(10),
            Some(3),
            "more than there is leaves nothing"
        );
    }

    #[test]
    fn whole_cards_are_those_with_nobody_on_them() {
        let mut cards = cards();
        assert_eq!(cards.idle(2), Some(vec![0, 2]));
        cards.put(task(0), &[2], 0);
        assert_eq!(cards.idle(2), Some(vec![0, 3]));
        assert_eq!(cards.idle(3), None);
        assert_eq!(cards.idle(-1), Some(vec![]));
        assert_eq!(Cards::default().idle(1), None);
    }
}
