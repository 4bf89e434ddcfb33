//! Taints and tolerations.

use mco_model::spec::{Taint, Toleration};

const NO_SCHEDULE: &str = "NoSchedule";
const NO_EXECUTE: &str = "NoExecute";
const PREFER_NO_SCHEDULE: &str = "PreferNoSchedule";

/// The taint that stands for a cordoned node.
const CORDON: &str = "node.kubernetes.io/unschedulable";

/// The toleration covers the taint. An operator that Kubernetes does not know covers nothing.
#[must_use]
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let covers = |part: &str, wanted: &str| part.is_empty() || part == wanted;
    covers(&toleration.effect, &taint.effect)
        && covers(&toleration.key, &taint.key)
        && match &*toleration.operator {
            "" | "Equal" => toleration.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}

/// The first taint that keeps a pod with these tolerations away.
#[must_use]
pub fn untolerated<'t>(taints: &'t [Taint], tolerations: &[Toleration]) -> Option<&'t Taint> {
    taints
        .iter()
        .filter(|taint| matches!(&*taint.effect, NO_SCHEDULE | NO_EXECUTE))
        .find(|taint| !covered(taint, tolerations))
}

/// Number of taints that merely advise against the node and are not tolerated.
#[must_use]
pub fn count_advised_against(taints: &[Taint], tolerations: &[Toleration]) -> i64 {
    let advised = taints.iter().filter(|taint| &*taint.effect == PREFER_NO_SCHEDULE);
    advised.filter(|taint| !covered(taint, tolerations)).count() as i64
}

/// The tolerations cover the cordon of a node.
#[must_use]
pub fn tolerate_cordon(tolerations: &[Toleration]) -> bool {
    let cordon = Taint {
        key: CORDON.into(),
        value: "".into(),
        effect: NO_SCHEDULE.into(),
    };
    covered(&cordon, tolerations)
}

fn covered(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(key: &str, value: &str, effect: &str) -> Taint {
        Taint {
            key: key.into(),
            value: value.into(),
            effect: effect.into(),
        }
    }

    fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
        Toleration {
            key: key.into(),
            operator: operator.into(),
            value: value.into(),
            effect: effect.into(),
        }
    }

    #[test]
    fn key_operator_value_and_effect_count() {
        let cases = [
            (toleration("k", "Equal", "v", "NoSchedule"), true),
            (toleration("k", "", "v", ""), true),
            (toleration("k", "Equal", "w", ""), false),
            (toleration("k", "Exists", "w", ""), true),
            (toleration("", "Exists", "", ""), true),
            (toleration("", "Equal", "v", ""), true),
            (toleration("", "", "", ""), false),
            (toleration("K", "Exists", "", ""), false),
            (toleration("k", "Exists", "", "NoExecute"), false),
            (toleration("k", "exists", "", ""), false),
            (toleration("k", "Gt", "3", ""), false),
        ];
        for (toleration, expected) in cases {
            assert_eq!(
                tolerates(&toleration, &taint("k", "v", "NoSchedule")),
                expected,
                "{toleration:?}"
            );
        }
    }

    #[test]
    fn only_hard_effects_keep_away() {
        let taints = [
            taint("a", "", "PreferNoSchedule"),
            taint("b", "", "Never"),
            taint("c", "x", "NoExecute"),
        ];
        assert_eq!(untolerated(&taints, &[]).map(|taint| &*taint.key), Some("c"));
        assert_eq!(untolerated(&taints, &[toleration("c", "Exists", "", "")]), None);
        assert_eq!(count_advised_against(&taints, &[]), 1);
        assert_eq!(
            count_advised_against(&taints, &[toleration("a", "Exists", "", "NoSchedule")]),
            1
        );
        assert_eq!(
            count_advised_against(&taints, &[toleration("a", "Exists", "", "")]),
            0
        );
    }

    #[test]
    fn a_cordon_is_a_taint_without_value() {
        let key = "node.kubernetes.io/unschedulable";
        assert!(tolerate_cordon(&[toleration(key, "Equal", "", "NoSchedule")]));
        assert!(!tolerate_cordon(&[toleration(key, "Equal", "true", "")]));
        assert!(!tolerate_cordon(&[toleration(key, "Exists", "", "NoExecute")]));
        assert!(!tolerate_cordon(&[]));
    }
}
