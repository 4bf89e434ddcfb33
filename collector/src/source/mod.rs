//! What the collector can sense, one room per kind of source, and how a source says that it has nothing.
//!
//! Every source takes the roots it reads below, keeps going over failures, and is asked again at each sample: one
//! that comes back is picked up without a restart.

pub mod block;
pub mod llc;
pub mod memory;
pub mod psi;

mod procfile;

use std::fmt;
use std::io;

pub use procfile::ProcFile;

/// A reading, or why there is none.
pub type Reading<T> = Result<T, Unavailable>;

/// The sources whose state is reported, by the names used on the wire, in metrics and in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceName {
    /// Miss rate of the last-level cache.
    Llc,
    /// Occupancy of the last-level cache.
    LlcOccupancy,
    /// Percentiles of block latency.
    Bio,
    /// I/O pressure.
    PsiIo,
    /// Memory pressure.
    PsiMemory,
    /// Available ratio of memory.
    Mem,
    /// Page scan rate.
    Scan,
}

impl SourceName {
    /// All sources, in the order in which they are shown.
    pub const ALL: [SourceName; 7] = [
        SourceName::Llc,
        SourceName::LlcOccupancy,
        SourceName::Bio,
        SourceName::PsiIo,
        SourceName::PsiMemory,
        SourceName::Mem,
        SourceName::Scan,
    ];

    /// The name as written on the wire and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceName::Llc => "llc",
            SourceName::LlcOccupancy => "llc_occupancy",
            SourceName::Bio => "bio",
            SourceName::PsiIo => "psi_io",
            SourceName::PsiMemory => "psi_memory",
            SourceName::Mem => "mem",
            SourceName::Scan => "scan",
        }
    }
}

/// Why a source has no reading, as a machine tells reasons apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The kernel or the machine does not have it.
    NotSupported,
    /// The kernel has it, but it was switched off at boot or is not mounted.
    Disabled,
    /// The kernel refuses it to this process.
    NoPermission,
    /// Something is short at the moment; the next sample may have it.
    Busy,
    /// What was read could not be understood.
    Malformed,
    /// A rate needs two samples, and this is the first, or the counter started over.
    Warming,
    /// Reading failed in another way.
    Failed,
}

impl Reason {
    /// The word as written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NotSupported => "not_supported",
            Reason::Disabled => "disabled",
            Reason::NoPermission => "no_permission",
            Reason::Busy => "busy",
            Reason::Malformed => "malformed",
            Reason::Warming => "warming",
            Reason::Failed => "failed",
        }
    }
}

/// A source without a reading. Not an error: absence is data here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// What kind of absence.
    pub reason: Reason,
    /// A sentence for people, with the place and, where there is one, the remedy.
    pub message: String,
}

impl Unavailable {
    /// An absence with its explanation.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }

    /// The absence that a failed file operation means. `what` names the file.
    pub fn from_io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(reason_of(error), format!("{what}: {error}"))
    }

    /// The absence of a rate for which only one sample is known.
    pub fn warming(what: impl fmt::Display) -> Self {
        Self::new(Reason::Warming, format!("{what}: a rate needs a second sample"))
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.reason.as_str())
    }
}

/// Tells apart what a system error says about a source.
pub fn reason_of(error: &io::Error) -> Reason {
    use rustix::io::Errno;
    let Some(code) = error.raw_os_error() else {
        return match error.kind() {
            io::ErrorKind::InvalidData => Reason::Malformed,
            _ => Reason::Failed,
        };
    };
    match Errno::from_raw_os_error(code) {
        Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::NOSYS | Errno::NOTDIR => Reason::NotSupported,
        // The kernel answers a read of /proc/pressure with this when PSI is off on its command line.
        Errno::OPNOTSUPP => Reason::Disabled,
        Errno::ACCESS | Errno::PERM => Reason::NoPermission,
        Errno::BUSY | Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM | Errno::INTR => Reason::Busy,
        _ => Reason::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_say_what_they_mean_for_a_source() {
        for (name, code, reason) in [
            ("ENOENT: not compiled in", 2, Reason::NotSupported),
            ("ENODEV", 19, Reason::NotSupported),
            ("EOPNOTSUPP: disabled at boot", 95, Reason::Disabled),
            ("EACCES", 13, Reason::NoPermission),
            ("EPERM", 1, Reason::NoPermission),
            ("EBUSY", 16, Reason::Busy),
            ("EMFILE", 24, Reason::Busy),
            ("EIO", 5, Reason::Failed),
        ] {
            assert_eq!(reason_of(&io::Error::from_raw_os_error(code)), reason, "{name}");
        }
        assert_eq!(reason_of(&io::Error::other("odd")), Reason::Failed);
    }
}
