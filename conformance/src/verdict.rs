//! What becomes of a case.

/// The judgement on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The scheduler did what the case asks for.
    Passed,
    /// It did not; what differs.
    Failed(String),
    /// The case was not run; why not.
    Skipped(String),
}

impl Verdict {
    /// Passed without differences, failed with them.
    #[must_use]
    pub fn of(differences: Vec<String>) -> Self {
        if differences.is_empty() {
            Self::Passed
        } else {
            Self::Failed(differences.join("; "))
        }
    }
}
