//! The interference report as the scheduler keeps it: one frozen set of figures by node.

use crate::spec::Text;
use crate::time::Time;
use std::collections::HashMap;

/// `NodeInterferenceReport/cluster` as last seen.
#[derive(Clone, Debug, Default)]
pub struct InterferenceReport {
    /// `status.lastUpdateTime` of the object; `None` when absent or unparsable.
    pub last_update: Option<Time>,
    /// When the scheduler saw the report change, by its own clock; `None` for the report found at start, which is
    /// judged by its own time stamp until it changes.
    pub changed_at: Option<Time>,
    /// Entries by node name.
    pub nodes: HashMap<Text, NodeInterference>,
}

/// One node's entry. Absent is not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInterference {
    /// `status` is `ok`.
    pub ok: bool,
    /// `interferenceLevel`; `None` when absent, not a number or outside 0–1.
    pub level: Option<f64>,
    /// `psiAvailable`.
    pub psi_available: bool,
    /// `metrics.psiMemoryFullAvg10`, percent.
    pub psi_memory_full_avg10: Option<f64>,
    /// `metrics.psiIoSomeAvg10`, percent.
    pub psi_io_some_avg10: Option<f64>,
    /// Cache index, 0–1.
    pub cache_index: Option<f64>,
    /// Memory index, 0–1.
    pub memory_index: Option<f64>,
    /// I/O index, 0–1.
    pub io_index: Option<f64>,
}
