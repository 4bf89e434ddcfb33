//! Keeps the rules in force: the last valid ones, whatever happens to the object they came from.

use std::sync::Arc;

use serde_json::Value;

use super::parse::{self, Fault, hash_of};
use super::values::Rules;

/// What happened to the rule object.
#[derive(Clone, Debug, PartialEq)]
pub enum RulesUpdate {
    /// It has this spec; `Null` when it has none.
    Spec {
        /// The spec as written.
        spec: Value,
        /// The object's generation, where there is one.
        generation: Option<i64>,
    },
    /// It exists but cannot be read at all.
    Unreadable {
        /// Why.
        problem: String,
    },
    /// It does not exist, or no longer.
    Absent,
}

/// What became of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesVerdict {
    /// True when the update's rules are in force.
    pub accepted: bool,
    /// One word, for the condition.
    pub reason: VerdictReason,
    /// A sentence that names the fields at fault and says which rules are in force.
    pub message: String,
    /// The generation that was judged, where there is one.
    pub observed_generation: Option<i64>,
    /// Identifies the values in force.
    pub effective_hash: String,
}

/// The condition's reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictReason {
    /// The object's rules are in force.
    Parsed,
    /// The object's rules are invalid and no object was valid before: the defaults are in force.
    Invalid,
    /// The rules of an earlier object stay in force.
    FallbackToLastValid,
    /// There was never an object: the defaults are in force.
    Defaults,
}

impl VerdictReason {
    /// The word in conditions.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictReason::Parsed => "Parsed",
            VerdictReason::Invalid => "Invalid",
            VerdictReason::FallbackToLastValid => "FallbackToLastValid",
            VerdictReason::Defaults => "Defaults",
        }
    }
}

/// The rules in force and how they came to be.
#[derive(Clone, Debug)]
pub struct RulesKeeper {
    rules: Arc<Rules>,
    ever_accepted: bool,
    generation: u64,
    verdict: RulesVerdict,
}

impl RulesKeeper {
    /// Starts with these rules, which are in force until an object brings valid ones.
    pub fn new(rules: Rules) -> Self {
        let verdict = RulesVerdict {
            accepted: true,
            reason: VerdictReason::Defaults,
            message: "no rule object was seen; the rules given at start are in force".to_owned(),
            observed_generation: None,
            effective_hash: hash_of(&rules),
        };
        Self {
            rules: Arc::new(rules),
            ever_accepted: false,
            generation: 0,
            verdict,
        }
    }

    /// The rules in force.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.clone()
    }

    /// Counts the changes of the rules in force since the start.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What became of the last update.
    pub fn verdict(&self) -> &RulesVerdict {
        &self.verdict
    }

    /// Takes an update: valid rules are in force at once, anything else leaves the last valid ones.
    pub fn apply(&mut self, update: &RulesUpdate) -> &RulesVerdict {
        let observed_generation = match update {
            RulesUpdate::Spec { generation, .. } => *generation,
            _ => None,
        };
        let (accepted, reason, message) = match update {
            RulesUpdate::Spec { spec, .. } => match parse::parse(spec) {
                Ok(parsed) => {
                    self.take(parsed.rules);
                    (true, VerdictReason::Parsed, accepted_message(&parsed.warnings))
                }
                Err(error) => self.refuse(&error.to_string()),
            },
            RulesUpdate::Unreadable { problem } => self.refuse(problem),
            RulesUpdate::Absent if self.ever_accepted => self.refuse("the rule object is gone"),
            RulesUpdate::Absent => {
                let message = "there is no rule object; the rules given at start are in force".to_owned();
                (true, VerdictReason::Defaults, message)
            }
        };
        let effective_hash = hash_of(&self.rules);
        self.verdict = RulesVerdict {
            accepted,
            reason,
            message,
            observed_generation,
            effective_hash,
        };
        &self.verdict
    }

    fn take(&mut self, rules: Rules) {
        self.ever_accepted = true;
        if *self.rules != rules {
            self.rules = Arc::new(rules);
            self.generation += 1;
        }
    }

    fn refuse(&self, problem: &str) -> (bool, VerdictReason, String) {
        let (reason, stays) = if self.ever_accepted {
            (
                VerdictReason::FallbackToLastValid,
                "the last valid rules stay in force",
            )
        } else {
            (VerdictReason::Invalid, "the rules given at start stay in force")
        };
        (false, reason, format!("{problem}; {stays}"))
    }
}

fn accepted_message(warnings: &[Fault]) -> String {
    if warnings.is_empty() {
        return "the rules are in force".to_owned();
    }
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    format!("the rules are in force; warning: {}", warnings.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(spec: Value) -> RulesUpdate {
        RulesUpdate::Spec {
            spec,
            generation: Some(7),
        }
    }

    #[test]
    fn the_last_valid_rules_outlive_whatever_comes_after() {
        let bad = [
            (
                spec(json!({"weights": {"io": -1}})),
                "spec.weights.io: expected a number from 0 to 1e9, found -1",
            ),
            (
                RulesUpdate::Unreadable {
                    problem: "cannot parse".into(),
                },
                "cannot parse",
            ),
            (RulesUpdate::Absent, "the rule object is gone"),
        ];
        let mut keeper = RulesKeeper::new(Rules::default());
        assert!(keeper.apply(&spec(json!({"thresholds": {"psiIo": 15}}))).accepted);
        let good = keeper.rules();
        for (update, problem) in bad {
            let verdict = keeper.apply(&update).clone();
            assert!(!verdict.accepted);
            assert_eq!(verdict.reason, VerdictReason::FallbackToLastValid);
            assert_eq!(
                verdict.message,
                format!("{problem}; the last valid rules stay in force")
            );
            assert_eq!(verdict.effective_hash, hash_of(&good));
            assert_eq!(*keeper.rules(), *good);
            assert_eq!(keeper.generation(), 1);
        }
        assert!(keeper.apply(&spec(json!({}))).accepted);
        assert_eq!(*keeper.rules(), Rules::default());
        assert_eq!(keeper.generation(), 2);
    }

    #[test]
    fn without_a_valid_object_the_defaults_are_in_force() {
        let mut keeper = RulesKeeper::new(Rules::default());
        assert_eq!(keeper.apply(&RulesUpdate::Absent).reason, VerdictReason::Defaults);
        let verdict = keeper.apply(&spec(json!({"saturation": "x"}))).clone();
        assert_eq!(
            (verdict.accepted, verdict.reason),
            (false, VerdictReason::Invalid)
        );
        assert_eq!(verdict.observed_generation, Some(7));
        assert!(
            verdict
                .message
                .ends_with("the rules given at start stay in force"),
            "{}",
            verdict.message
        );
        assert_eq!(*keeper.rules(), Rules::default());
    }

    #[test]
    fn a_warning_is_in_the_message() {
        let mut keeper = RulesKeeper::new(Rules::default());
        let verdict = keeper.apply(&spec(json!({"weights": {"io": 2}})));
        assert!(verdict.accepted);
        assert!(
            verdict
                .message
                .contains("warning: spec.weights: the weights add up to 2.600"),
            "{}",
            verdict.message
        );
    }
}
