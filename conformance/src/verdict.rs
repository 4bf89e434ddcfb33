//! What becomes of a case.

/// The judgement on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The scheduler did what the case asks for.
    Passed,
    /// It did something sane where upstream does not; what upstream does.
    PassedWhere(String),
    /// It did not; what differs.
    Failed(String),
    /// The case was not run; why not.
    Skipped(String),
}

impl Verdict {
    /// The same verdict, where it is a pass with the fault of upstream that it stands beside.
    #[must_use]
    pub fn where_upstream(self, fault: Option<&str>) -> Self {
        match (self, fault) {
            (Self::Passed, Some(fault)) => Self::PassedWhere(format!("upstream {fault}")),
            (verdict, _) => verdict,
        }
    }

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
