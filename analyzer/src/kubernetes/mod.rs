//! The cluster side: the sink that writes the report, and the watches on the rules and on the nodes.

mod nodes;
mod report;
mod rules;

pub use nodes::watch_nodes;
pub use report::KubernetesSink;
pub use rules::watch_rules;

use kube::runtime::watcher;
use tracing::{info, warn};

/// The server ends a watch after so many seconds; a half-open one is noticed 5 s later.
const WATCH_SECONDS: u32 = 60;

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

/// Says once that something fails, and once that it works again.
struct Trouble {
    what: &'static str,
    failing: bool,
}

impl Trouble {
    fn new(what: &'static str) -> Self {
        Self { what, failing: false }
    }

    fn met(&mut self, error: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.failing, true) {
            warn!("{} fails, trying again: {error}", self.what);
        }
    }

    fn over(&mut self) {
        if std::mem::replace(&mut self.failing, false) {
            info!("{} works again", self.what);
        }
    }
}

/// True when the server does not know the resource at all: its definition is not installed.
fn is_unknown_resource(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::InitialListFailed(kube::Error::Api(status)) if status.code == 404)
}
