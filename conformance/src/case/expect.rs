//! What a case expects, and by which rule it is compared.

use super::outcome::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;

/// The expectation of a case.
pub(super) struct Expectation {
    pub(super) decisions: Decisions,
    pub(super) initial: BTreeMap<String, Initial>,
    /// PodGroups are not looked at.
    pub(super) without_groups: bool,
}

/// What is expected of the decisions.
pub(super) enum Decisions {
    /// Upstream crashes: nothing but an end without a crash is asked for.
    Ends,
    /// Exactly this.
    Exactly(Outcome),
    /// One of these.
    OneOf(Vec<Outcome>),
    /// Figures within ranges, as recorded.
    Within(Value),
}

/// What the nodes say to a task before any action.
#[derive(Clone, Debug, Default)]
pub(crate) struct Initial {
    /// Total score by node.
    pub(crate) scores: BTreeMap<String, f64>,
    /// Nodes that refuse, with the reason.
    pub(crate) rejected: BTreeMap<String, String>,
}

impl Expectation {
    /// The expectation of a scheduler like 1.9.0.
    ///
    /// # Errors
    /// Why the case says nothing about one.
    pub(super) fn of(case: &Value) -> Result<Self, String> {
        let expect = &case["expect"];
        let later = case["baseline"].as_str() == Some("1.15");
        let mut expectation = Self {
            decisions: Decisions::Ends,
            initial: BTreeMap::new(),
            without_groups: false,
        };
        if later && expect["outcomesIn19"].is_array() {
            expectation.decisions = Decisions::OneOf(outcomes(&expect["outcomesIn19"]));
            return Ok(expectation);
        }
        expectation.without_groups =
            later && expect["sameIn19"] != true && expect["sameDecisionsIn19"] == true;
        if later && expect["sameIn19"] != true && !expectation.without_groups {
            return Err("1.15 only".to_owned());
        }
        if expect
            .get("upstreamPanics")
            .is_some_and(|panics| !panics.is_null() && panics != false)
        {
            return Ok(expectation);
        }
        if !expectation.without_groups {
            let initial = expect["initial"].as_object().into_iter().flatten();
            expectation.initial = initial
                .map(|(pod, said)| (pod.clone(), Initial::recorded(said)))
                .collect();
        }
        expectation.decisions = decisions(expect)?;
        Ok(expectation)
    }
}

fn decisions(expect: &Value) -> Result<Decisions, String> {
    let listed = outcomes(&expect["outcomes"]);
    Ok(match &expect["lowestName"] {
        Value::Object(_) => Decisions::Exactly(Outcome::recorded(&expect["lowestName"])),
        Value::String(same) if same == "same" => match listed.into_iter().next() {
            Some(outcome) => Decisions::Exactly(outcome),
            None => return Err("`lowestName: same` without an outcome".to_owned()),
        },
        _ if expect["invariants"].is_object() => Decisions::Within(expect["invariants"].clone()),
        _ if !listed.is_empty() => Decisions::OneOf(listed),
        _ => return Err("nothing is expected".to_owned()),
    })
}

fn outcomes(list: &Value) -> Vec<Outcome> {
    crate::setup::items(list).map(Outcome::recorded).collect()
}

impl Initial {
    fn recorded(value: &Value) -> Self {
        let scores = value["scores"].as_object().into_iter().flatten();
        Self {
            scores: scores
                .map(|(node, score)| (node.clone(), score.as_f64().unwrap_or(f64::NAN)))
                .collect(),
            rejected: super::outcome::texts(&value["rejected"]),
        }
    }
}
