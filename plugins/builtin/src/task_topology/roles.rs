//! Which roles of a job belong together and which do not, as annotations of its PodGroup say.

use mco_model::extra::TopologyWishes;
use mco_model::spec::Text;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// What is said of the roles of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleTopology {
    /// Pairs in both directions; a role with itself means its own tasks.
    affinity: BTreeSet<(Text, Text)>,
    /// Likewise.
    anti_affinity: BTreeSet<(Text, Text)>,
    /// Greater is served first.
    order: BTreeMap<Text, usize>,
    weight: BTreeMap<Text, u8>,
}

/// Wishes that name roles the job does not have, or one of them twice.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("metadata.annotations[{annotation}]: {problem}; the job's topology is not looked at")]
pub struct BadWishes {
    /// The annotation.
    pub annotation: &'static str,
    /// What is wrong.
    pub problem: String,
}

const AFFINITY: &str = "volcano.sh/task-topology-affinity";
const ANTI_AFFINITY: &str = "volcano.sh/task-topology-anti-affinity";
const ORDER: &str = "volcano.sh/task-topology-task-order";

/// How much a wish weighs for the order of roles.
const SELF_ANTI_AFFINITY: u8 = 4;
const INTER_AFFINITY: u8 = 3;
const SELF_AFFINITY: u8 = 2;
const INTER_ANTI_AFFINITY: u8 = 1;

impl RoleTopology {
    /// What the annotations say of a job that has these roles. Groups are parted by `;`, roles by `,`.
    ///
    /// # Errors
    /// The first wish that cannot be used; then none of them counts.
    pub fn read(wishes: &TopologyWishes, roles: &BTreeSet<Text>) -> Result<Self, BadWishes> {
        let mut topology = Self::default();
        for group in groups(AFFINITY, parts(&wishes.affinity), roles)? {
            pair_up(&mut topology.affinity, &group);
            let weight = if group.len() == 1 {
                SELF_AFFINITY
            } else {
                INTER_AFFINITY
            };
            topology.weigh(&group, weight);
        }
        for group in groups(ANTI_AFFINITY, parts(&wishes.anti_affinity), roles)? {
            pair_up(&mut topology.anti_affinity, &group);
            let weight = if group.len() == 1 {
                SELF_ANTI_AFFINITY
            } else {
                INTER_ANTI_AFFINITY
            };
            topology.weigh(&group, weight);
        }
        for group in groups(ORDER, wishes.order.iter().map(|text| &**text), roles)? {
            let length = group.len();
            for (index, role) in group.into_iter().enumerate() {
                topology.order.insert(role, length - index);
            }
        }
        Ok(topology)
    }

    fn weigh(&mut self, group: &[Text], weight: u8) {
        for role in group {
            let known = self.weight.entry(role.clone()).or_default();
            *known = weight.max(*known);
        }
    }

    /// Something is said of the role, beside its order.
    #[must_use]
    pub fn concerns(&self, role: &Text) -> bool {
        !role.is_empty() && self.weight.contains_key(role)
    }

    /// Which of two roles is served first: by the order given, then by what weighs more.
    #[must_use]
    pub fn compare(&self, left: &Text, right: &Text) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let rank = |role: &Text| {
            let order = self.order.get(role).copied().unwrap_or(0);
            Reverse((order, self.weight.get(role).copied().unwrap_or(0)))
        };
        rank(left).cmp(&rank(right))
    }

    /// How gladly a task of the role joins such tasks: one point for each that it belongs to, one less for each that it
    /// does not get on with.
    #[must_use]
    pub fn attraction(&self, role: &Text, others: &BTreeMap<Text, i64>) -> i64 {
        self.sum(&self.affinity, role, others) - self.repulsion(role, others)
    }

    /// How many such tasks a task of the role does not get on with.
    #[must_use]
    pub fn repulsion(&self, role: &Text, others: &BTreeMap<Text, i64>) -> i64 {
        self.sum(&self.anti_affinity, role, others)
    }

    fn sum(&self, pairs: &BTreeSet<(Text, Text)>, role: &Text, others: &BTreeMap<Text, i64>) -> i64 {
        let related = others
            .iter()
            .filter(|(other, _)| pairs.contains(&(role.clone(), (*other).clone())));
        related.map(|(_, count)| count).sum()
    }
}

/// A group of one is a pair with itself.
fn pair_up(pairs: &mut BTreeSet<(Text, Text)>, group: &[Text]) {
    if let [role] = group {
        pairs.insert((role.clone(), role.clone()));
    }
    for (index, left) in group.iter().enumerate() {
        for right in &group[..index] {
            pairs.insert((left.clone(), right.clone()));
            pairs.insert((right.clone(), left.clone()));
        }
    }
}

fn parts(text: &Option<Text>) -> impl Iterator<Item = &str> {
    text.iter().flat_map(|text| text.split(';'))
}

fn groups<'t>(
    annotation: &'static str,
    parts: impl Iterator<Item = &'t str>,
    roles: &BTreeSet<Text>,
) -> Result<Vec<Vec<Text>>, BadWishes> {
    let bad = |problem| BadWishes { annotation, problem };
    let mut groups = Vec::new();
    for part in parts {
        let group: Vec<Text> = part.split(',').map(Text::from).collect();
        for (index, role) in group.iter().enumerate().filter(|(_, role)| !role.is_empty()) {
            if !roles.contains(role) {
                return Err(bad(format!("the job has no task {role:?}")));
            }
            if group[..index].contains(role) {
                return Err(bad(format!("task {role:?} is there twice")));
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Text> {
        (text != "-").then(|| text.into())
    }

    fn read(affinity: &str, anti_affinity: &str, order: &str) -> Result<RoleTopology, BadWishes> {
        let wishes = TopologyWishes {
            affinity: text(affinity),
            anti_affinity: text(anti_affinity),
            order: text(order),
        };
        let roles = ["a", "b", "c", "d"].map(Text::from).into_iter().collect();
        RoleTopology::read(&wishes, &roles)
    }

    fn others(counts: &[(&str, i64)]) -> BTreeMap<Text, i64> {
        counts
            .iter()
            .map(|(role, count)| (Text::from(*role), *count))
            .collect()
    }

    #[test]
    fn tasks_count_for_and_against_each_other() {
        let topology = read("a,b,c;d", "a;c,d", "-").unwrap();
        // role, others; affinity - anti-affinity, anti-affinity
        let rows = [
            ("a", others(&[("b", 2), ("c", 1), ("d", 9)]), 3, 0),
            ("a", others(&[("a", 2), ("b", 1)]), -1, 2),
            ("b", others(&[("a", 1), ("b", 5)]), 1, 0),
            ("c", others(&[("a", 1), ("d", 3)]), -2, 3),
            ("d", others(&[("d", 2), ("c", 3)]), -1, 3),
            ("x", others(&[("a", 1)]), 0, 0),
            ("a", others(&[]), 0, 0),
        ];
        for (role, others, attraction, repulsion) in rows {
            let role = Text::from(role);
            let found = (
                topology.attraction(&role, &others),
                topology.repulsion(&role, &others),
            );
            assert_eq!(found, (attraction, repulsion), "{role} with {others:?}");
        }
    }

    #[test]
    fn roles_come_by_their_order_then_by_the_weight_of_what_is_said() {
        // Weights: a 4 (by itself apart), b and c 3 (together), d 2 (by itself together).
        let compare = |order: &str, left: &str, right: &str| {
            read("b,c;d", "a;b,c", order)
                .unwrap()
                .compare(&left.into(), &right.into())
        };
        let rows = [
            ("-", "a", "b", Ordering::Less),
            ("-", "d", "c", Ordering::Greater),
            ("-", "b", "c", Ordering::Equal),
            ("-", "x", "d", Ordering::Greater),
            ("d,b", "d", "a", Ordering::Less),
            ("d,b", "b", "d", Ordering::Greater),
            ("d,b", "b", "a", Ordering::Less),
            ("d", "d", "d", Ordering::Equal),
        ];
        for (order, left, right, expected) in rows {
            assert_eq!(compare(order, left, right), expected, "{order}: {left} {right}");
        }
    }

    #[test]
    fn roles_of_which_something_is_said_are_concerned() {
        let topology = read("a;", "-", "b").unwrap();
        let concerned = ["a", "b", ""].map(|role| topology.concerns(&role.into()));
        assert_eq!(concerned, [true, false, false]);
        assert!(read("-", "-", "-").is_ok());
    }

    #[test]
    fn wishes_about_unknown_roles_or_one_role_twice_spoil_all() {
        let rows = [
            (
                read("a,x", "-", "-"),
                "metadata.annotations[volcano.sh/task-topology-affinity]: the job has no task \"x\"",
            ),
            (
                read("a", "b,b", "-"),
                "metadata.annotations[volcano.sh/task-topology-anti-affinity]: task \"b\" is there twice",
            ),
            (
                read("a", "-", "a,b,a"),
                "metadata.annotations[volcano.sh/task-topology-task-order]: task \"a\" is there twice",
            ),
            (read("a, b", "-", "-"), "the job has no task \" b\""),
        ];
        for (found, problem) in rows {
            let error = found.unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert!(
            read("a,;,b", "a;a", "-").is_ok(),
            "nameless ones and other groups do not count"
        );
    }
}
