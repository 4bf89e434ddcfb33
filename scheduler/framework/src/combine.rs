//! How the answers of several plugins become one: pure functions over answers in the order tier, then plugin. Plugins are
//! asked lazily, so an answer that settles the question keeps later ones from being asked.

use crate::points::{Eviction, Vote};
use mco_model::TaskId;
use std::cmp::Ordering;

/// The first opinion decides.
pub fn first_decisive(answers: impl IntoIterator<Item = Ordering>) -> Ordering {
    answers
        .into_iter()
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The first refusal decides; nobody asked means yes.
///
/// # Errors
/// The refusal.
pub fn all<E>(answers: impl IntoIterator<Item = Result<(), E>>) -> Result<(), E> {
    answers.into_iter().collect()
}

/// One refusal is enough, at once; one permit is enough after its tier was heard; all abstaining permits.
///
/// # Errors
/// The refusal.
pub fn tiered_vote<T>(tiers: impl IntoIterator<Item = T>) -> Result<(), crate::reason::Reason>
where
    T: IntoIterator<Item = Vote>,
{
    for tier in tiers {
        let mut permitted = false;
        for vote in tier {
            match vote {
                Vote::Permit => permitted = true,
                Vote::Abstain => {}
                Vote::Reject(reason) => return Err(reason),
            }
        }
        if permitted {
            break;
        }
    }
    Ok(())
}

/// Who may go, in the opinion of all plugins of the first tier that comes to one.
///
/// Within a tier the answers are intersected, keeping the order of those found before. An empty answer ends its tier.
/// As in Volcano 1.9 the memory of having found somebody outlives the tier: once a plugin has named victims and the
/// tier still ends empty, later tiers can only intersect with nobody; when the first answer of all is empty, the next
/// tier starts afresh.
pub fn tiered_victims<T>(tiers: impl IntoIterator<Item = T>) -> Vec<TaskId>
where
    T: IntoIterator<Item = Eviction>,
{
    let mut victims: Vec<TaskId> = Vec::new();
    let mut found_before = false;
    for tier in tiers {
        for answer in tier {
            let Eviction::Victims(candidates) = answer else {
                continue;
            };
            if candidates.is_empty() {
                victims.clear();
                break;
            }
            if found_before {
                victims.retain(|task| candidates.contains(task));
            } else {
                victims = candidates;
                found_before = true;
            }
        }
        if !victims.is_empty() {
            break;
        }
    }
    victims
}

/// All victims named in the first tier that names any, each once.
pub fn union_in_first_tier<T>(tiers: impl IntoIterator<Item = T>) -> Vec<TaskId>
where
    T: IntoIterator<Item = Vec<TaskId>>,
{
    for tier in tiers {
        let mut union: Vec<TaskId> = Vec::new();
        for task in tier.into_iter().flatten() {
            if !union.contains(&task) {
                union.push(task);
            }
        }
        if !union.is_empty() {
            return union;
        }
    }
    Vec::new()
}

/// All plugins of the first tier that has any must agree; no plugin at all means no.
pub fn all_in_first_tier<T>(tiers: impl IntoIterator<Item = T>) -> bool
where
    T: IntoIterator<Item = bool>,
{
    for tier in tiers {
        let mut asked = false;
        for answer in tier {
            if !answer {
                return false;
            }
            asked = true;
        }
        if asked {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Reason;
    use mco_model::Id;

    fn ids(slots: &[u32]) -> Vec<TaskId> {
        slots.iter().map(|slot| TaskId::from_slot(*slot)).collect()
    }

    fn victims(tiers: &[&[Option<&[u32]>]]) -> Vec<TaskId> {
        tiered_victims(tiers.iter().map(|tier| {
            tier.iter()
                .map(|answer| answer.map_or(Eviction::Abstain, |slots| Eviction::Victims(ids(slots))))
        }))
    }

    #[test]
    fn victims_by_tier() {
        type Tiers<'a> = &'a [&'a [Option<&'a [u32]>]];
        let rows: &[(&str, Tiers<'_>, &[u32])] = &[
            ("nobody asked", &[], &[]),
            (
                "one tier intersects",
                &[&[Some(&[1, 2, 3]), Some(&[3, 2])]],
                &[2, 3],
            ),
            ("abstaining is no veto", &[&[None, Some(&[1])]], &[1]),
            (
                "a tier with victims keeps later ones unasked",
                &[&[Some(&[1])], &[Some(&[2])]],
                &[1],
            ),
            (
                "an empty first answer lets the next tier start over",
                &[&[Some(&[])], &[Some(&[2])]],
                &[2],
            ),
            (
                "an empty answer after victims silences later tiers",
                &[&[Some(&[1]), Some(&[])], &[Some(&[1])]],
                &[],
            ),
            (
                "a disjoint answer silences later tiers",
                &[&[Some(&[1]), Some(&[2])], &[Some(&[2])]],
                &[],
            ),
            ("an empty answer ends its tier", &[&[Some(&[]), Some(&[1])]], &[]),
        ];
        for (name, tiers, expected) in rows {
            assert_eq!(victims(tiers), ids(expected), "{name}");
        }
    }

    #[test]
    fn votes_by_tier() {
        let no = || Vote::Reject(Reason::fixed("p", "no", "no"));
        let rows = [
            ("nobody asked permits", vec![], true),
            (
                "all abstain permits",
                vec![vec![Vote::Abstain], vec![Vote::Abstain]],
                true,
            ),
            (
                "a permit ends the question after its tier",
                vec![vec![Vote::Permit], vec![no()]],
                true,
            ),
            (
                "a refusal in the tier of a permit counts",
                vec![vec![Vote::Permit, no()]],
                false,
            ),
            (
                "a later tier is asked when the first abstains",
                vec![vec![Vote::Abstain], vec![no()]],
                false,
            ),
        ];
        for (name, tiers, expected) in rows {
            assert_eq!(tiered_vote(tiers).is_ok(), expected, "{name}");
        }
    }

    #[test]
    fn starving_asks_the_first_tier_with_an_answer() {
        let rows: [(&str, Vec<Vec<bool>>, bool); 4] = [
            ("nobody answers", vec![vec![]], false),
            ("the first tier decides", vec![vec![true], vec![false]], true),
            ("all of a tier must agree", vec![vec![true, false]], false),
            ("an empty tier is passed over", vec![vec![], vec![true]], true),
        ];
        for (name, tiers, expected) in rows {
            assert_eq!(all_in_first_tier(tiers), expected, "{name}");
        }
    }

    #[test]
    fn the_first_opinion_orders() {
        assert_eq!(
            first_decisive([Ordering::Equal, Ordering::Less, Ordering::Greater]),
            Ordering::Less
        );
        assert_eq!(first_decisive([]), Ordering::Equal);
    }

    #[test]
    fn victims_of_the_first_tier_with_any_are_united() {
        let tiers = [
            vec![vec![], vec![]],
            vec![ids(&[2, 1]), ids(&[1, 3])],
            vec![ids(&[9])],
        ];
        assert_eq!(union_in_first_tier(tiers), ids(&[2, 1, 3]));
    }
}
