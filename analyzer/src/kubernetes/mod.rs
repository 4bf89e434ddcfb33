//! The cluster side: the sink that writes the report, and the watches on the rules and on the nodes.

mod follow;
mod nodes;
mod report;
mod rules;

pub use nodes::watch_nodes;
pub use report::KubernetesSink;
pub use rules::watch_rules;

/// Which objects an analyzer reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The report's name.
    pub report: String,
    /// The rule object's name.
    pub rules: String,
    /// The rule object's namespace.
    pub rules_namespace: String,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            report: mco_crds::SINGLETON.to_owned(),
            rules: mco_crds::SINGLETON.to_owned(),
            rules_namespace: mco_crds::RULES_NAMESPACE.to_owned(),
        }
    }
}
