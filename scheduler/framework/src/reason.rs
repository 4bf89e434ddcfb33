//! Why something was refused, as data. The same value makes conditions, events and explanations; text is made at the edge.

use std::borrow::Cow;

/// A reason for a "no".
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Who refused: a plugin's name, `resources` for the room on a node, or the name of an action.
    pub source: &'static str,
    /// A stable name for the kind of refusal, for programs.
    pub code: &'static str,
    /// The text that Volcano's messages use. Free of figures that change from cycle to cycle, so that refusals can be
    /// counted by it and an unchanged reason causes no write.
    pub text: Cow<'static, str>,
    /// The figures behind the refusal, where there are some.
    pub measured: Option<Measured>,
}

/// Figures that led to a refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What was found.
    pub value: f64,
    /// What is allowed at most.
    pub threshold: f64,
    /// How old the finding is, in seconds.
    pub age_seconds: f64,
}

impl Reason {
    /// A reason with a fixed text.
    #[must_use]
    pub const fn fixed(source: &'static str, code: &'static str, text: &'static str) -> Self {
        Self {
            source,
            code,
            text: Cow::Borrowed(text),
            measured: None,
        }
    }

    /// A reason whose text names what it is about.
    #[must_use]
    pub const fn about(source: &'static str, code: &'static str, text: String) -> Self {
        Self {
            source,
            code,
            text: Cow::Owned(text),
            measured: None,
        }
    }

    /// The same reason with the figures behind it.
    #[must_use]
    pub fn with(mut self, measured: Measured) -> Self {
        self.measured = Some(measured);
        self
    }
}

/// How final a node's refusal is. Preemption may get over the first kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Evicting pods from the node may help.
    Unschedulable,
    /// Evicting pods from the node cannot help.
    Unresolvable,
    /// The check failed without saying which; Volcano 1.9 lets preemption look past it.
    Error,
}

/// A node's refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// How final it is.
    pub severity: Severity,
    /// Why.
    pub reason: Reason,
}

impl Refusal {
    /// A refusal that evictions on the node may lift.
    #[must_use]
    pub const fn unschedulable(reason: Reason) -> Self {
        Self {
            severity: Severity::Unschedulable,
            reason,
        }
    }

    /// A refusal that evictions on the node cannot lift.
    #[must_use]
    pub const fn unresolvable(reason: Reason) -> Self {
        Self {
            severity: Severity::Unresolvable,
            reason,
        }
    }

    /// A refusal by a check that failed.
    #[must_use]
    pub const fn error(reason: Reason) -> Self {
        Self {
            severity: Severity::Error,
            reason,
        }
    }
}
