//! How often the last-level cache misses, from hardware counters opened once per CPU.
//!
//! The two counters of a CPU form one group, so that they cover the same time; where the kernel had to share the
//! hardware between more counters than there are, both are scaled by the time they really ran.
//!
//! What the generic events count is the CPU's choice. On AMD they count at the second level: measured on family 25,
//! a working set of 4 MiB, well inside a 32 MiB last level, misses as often (0.78) as one of 256 MiB (0.74). Such a rate
//! says nothing of the last level, so there the source is unavailable rather than wrong.

use std::io;
use std::path::{Path, PathBuf};

use perf_event::events::Hardware;
use perf_event::{Builder, Counter, ReadFormat};

use super::super::{Reading, Reason, Unavailable, reason_of};

/// Reads between two tries to open the counters again after the machine was found to have none.
const RETRY_EVERY: u32 = 60;

/// The counters of all online CPUs.
pub struct MissRateSource {
    sys: PathBuf,
    cpuinfo: PathBuf,
    state: State,
}

enum State {
    Closed,
    Open {
        cpus: Vec<u32>,
        counters: Vec<CpuCounters>,
    },
    /// Opening failed; asked again after some reads.
    Refused {
        why: Unavailable,
        reads_left: u32,
    },
}

struct CpuCounters {
    references: Counter,
    misses: Counter,
    previous: Option<Counts>,
}

/// Cumulative counts of one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    references: u64,
    misses: u64,
    enabled_ns: u64,
    running_ns: u64,
}

impl MissRateSource {
    /// Counters of the CPUs that are online below roots of /proc and /sys. Opened at the first read.
    pub fn new(proc: &Path, sys: &Path) -> Self {
        Self {
            sys: sys.to_owned(),
            cpuinfo: proc.join("cpuinfo"),
            state: State::Closed,
        }
    }

    /// Misses / references since the last call, over all CPUs, 0 to 1.
    pub fn read(&mut self) -> Reading<f64> {
        let online = super::online_cpus(&self.sys);
        self.ensure_open(&online)?;
        let State::Open { counters, .. } = &mut self.state else {
            return Err(Unavailable::new(Reason::Failed, "cache counters are not open"));
        };
        match read_all(counters) {
            Ok(deltas) => miss_rate(&deltas),
            Err(error) => {
                self.state = State::Closed;
                Err(Unavailable::from_io("cache counters", &error))
            }
        }
    }

    /// Opens the counters at the first call, after CPUs came or went, and again after a refusal.
    fn ensure_open(&mut self, online: &[u32]) -> Reading<()> {
        match &mut self.state {
            State::Open { cpus, .. } if cpus == online => return Ok(()),
            State::Refused { why, reads_left } if *reads_left > 0 => {
                *reads_left -= 1;
                return Err(why.clone());
            }
            _ => {}
        }
        self.state = State::Closed;
        if online.is_empty() {
            let message = format!(
                "{}: no list of online CPUs",
                self.sys.join("devices/system/cpu/online").display()
            );
            return Err(Unavailable::new(Reason::NotSupported, message));
        }
        let cpuinfo = std::fs::read_to_string(&self.cpuinfo).unwrap_or_default();
        if counts_second_level(&cpuinfo) {
            let message = "this CPU's cache events count at the second level, not the last";
            let why = Unavailable::new(Reason::NotSupported, message);
            self.state = State::Refused {
                why: why.clone(),
                reads_left: RETRY_EVERY,
            };
            return Err(why);
        }
        let opened: io::Result<Vec<_>> = online.iter().map(|&cpu| CpuCounters::open(cpu)).collect();
        match opened {
            Ok(counters) => {
                self.state = State::Open {
                    cpus: online.to_owned(),
                    counters,
                };
                Ok(())
            }
            Err(error) => {
                let why = explain(&error);
                let reads_left = if why.reason == Reason::Busy {
                    0
                } else {
                    RETRY_EVERY
                };
                self.state = State::Refused {
                    why: why.clone(),
                    reads_left,
                };
                Err(why)
            }
        }
    }
}

/// Whether the generic cache events of the CPU that `/proc/cpuinfo` names count below the last level.
fn counts_second_level(cpuinfo: &str) -> bool {
    let vendor = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("vendor_id")?.split_once(':'));
    vendor.is_some_and(|(_, name)| matches!(name.trim(), "AuthenticAMD" | "HygonGenuine"))
}

impl CpuCounters {
    fn open(cpu: u32) -> io::Result<Self> {
        let builder = |event| {
            let mut builder = Builder::new(event);
            builder.any_pid().one_cpu(cpu as usize).include_kernel();
            builder
        };
        let mut references = builder(Hardware::CACHE_REFERENCES)
            .read_format(
                ReadFormat::GROUP
                    | ReadFormat::ID
                    | ReadFormat::TOTAL_TIME_ENABLED
                    | ReadFormat::TOTAL_TIME_RUNNING,
            )
            .build()?;
        let misses = builder(Hardware::CACHE_MISSES).build_with_group(&mut references)?;
        references.enable_group()?;
        Ok(Self {
            references,
            misses,
            previous: None,
        })
    }

    /// What was counted since the last call; nothing at the first.
    fn delta(&mut self) -> io::Result<Option<Counts>> {
        let group = self.references.read_group()?;
        let nanos = |time: Option<std::time::Duration>| time.map_or(0, |time| time.as_nanos() as u64);
        let value = |counter: &Counter| {
            let missing =
                || io::Error::new(io::ErrorKind::InvalidData, "a counter is missing from its group");
            group.get(counter).map(|entry| entry.value()).ok_or_else(missing)
        };
        let now = Counts {
            references: value(&self.references)?,
            misses: value(&self.misses)?,
            enabled_ns: nanos(group.time_enabled()),
            running_ns: nanos(group.time_running()),
        };
        Ok(self.previous.replace(now).map(|before| Counts {
            references: now.references.saturating_sub(before.references),
            misses: now.misses.saturating_sub(before.misses),
            enabled_ns: now.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: now.running_ns.saturating_sub(before.running_ns),
        }))
    }
}

fn read_all(counters: &mut [CpuCounters]) -> io::Result<Vec<Counts>> {
    // Every CPU is read before any failure is told, so that all intervals stay the same length.
    let read: Vec<_> = counters.iter_mut().map(CpuCounters::delta).collect();
    read.into_iter().filter_map(Result::transpose).collect()
}

/// Misses over references of all CPUs, each scaled by the share of time its counters ran.
fn miss_rate(deltas: &[Counts]) -> Reading<f64> {
    if deltas.is_empty() {
        return Err(Unavailable::warming("cache counters"));
    }
    let mut references = 0.0;
    let mut misses = 0.0;
    for delta in deltas.iter().filter(|delta| delta.running_ns > 0) {
        let scale = delta.enabled_ns.max(delta.running_ns) as f64 / delta.running_ns as f64;
        references += delta.references as f64 * scale;
        misses += delta.misses as f64 * scale;
    }
    if references <= 0.0 {
        return Err(Unavailable::new(
            Reason::Busy,
            "cache counters did not run in this interval",
        ));
    }
    // The counters are not read at the same instant.
    Ok((misses / references).clamp(0.0, 1.0))
}

fn explain(error: &io::Error) -> Unavailable {
    let reason = match reason_of(error) {
        // Here this means: no such counter, for good.
        Reason::Disabled => Reason::NotSupported,
        other => other,
    };
    let message = match reason {
        Reason::NotSupported => {
            format!("this machine has no cache counters (often so in a virtual machine): {error}")
        }
        Reason::NoPermission => {
            format!("cache counters need CAP_PERFMON, or kernel.perf_event_paranoid of 0 or less: {error}")
        }
        _ => format!("cache counters: {error}"),
    };
    Unavailable::new(reason, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(references: u64, misses: u64, enabled_ns: u64, running_ns: u64) -> Counts {
        Counts {
            references,
            misses,
            enabled_ns,
            running_ns,
        }
    }

    #[test]
    fn miss_rate_scales_counters_that_had_to_share_the_hardware() {
        for (name, cpus, expected) in [
            ("one CPU", vec![counts(100, 25, 10, 10)], Some(0.25)),
            (
                "a CPU that ran half the time counts double",
                vec![counts(100, 0, 10, 10), counts(50, 50, 10, 5)],
                Some(0.5),
            ),
            (
                "a CPU that never ran is left out",
                vec![counts(100, 25, 10, 10), counts(0, 0, 10, 0)],
                Some(0.25),
            ),
            (
                "misses ahead of references",
                vec![counts(10, 11, 10, 10)],
                Some(1.0),
            ),
            ("none ran", vec![counts(0, 0, 10, 0)], None),
            ("first read", vec![], None),
        ] {
            assert_eq!(miss_rate(&cpus).ok(), expected, "{name}");
        }
    }

    #[test]
    fn cpus_whose_events_count_at_the_second_level_are_known() {
        for (name, cpuinfo, expected) in [
            (
                "AMD",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n",
                true,
            ),
            ("Hygon", "vendor_id\t: HygonGenuine\n", true),
            ("Intel", "vendor_id\t: GenuineIntel\n", false),
            (
                "Arm has no such line",
                "processor\t: 0\nCPU implementer\t: 0x48\n",
                false,
            ),
            ("odd", "vendor_id\nvendor_idAuthenticAMD", false),
        ] {
            assert_eq!(counts_second_level(cpuinfo), expected, "{name}");
        }
    }

    #[test]
    fn refusals_say_what_helps() {
        let no_counter = explain(&io::Error::from_raw_os_error(2));
        assert_eq!(no_counter.reason, Reason::NotSupported);
        assert_eq!(
            explain(&io::Error::from_raw_os_error(95)).reason,
            Reason::NotSupported
        );
        let refused = explain(&io::Error::from_raw_os_error(13));
        assert_eq!(refused.reason, Reason::NoPermission);
        assert!(refused.message.contains("CAP_PERFMON"), "{refused}");
        assert_eq!(explain(&io::Error::from_raw_os_error(24)).reason, Reason::Busy);
    }

    #[test]
    fn a_refusal_is_remembered_and_asked_again_later() {
        let sys = tempfile::tempdir().unwrap();
        let mut source = MissRateSource::new(sys.path(), sys.path());
        assert_eq!(
            source.read().unwrap_err().reason,
            Reason::NotSupported,
            "no list of CPUs"
        );
        source.state = State::Refused {
            why: Unavailable::new(Reason::NoPermission, "no"),
            reads_left: 1,
        };
        assert_eq!(source.read().unwrap_err().reason, Reason::NoPermission);
        assert_eq!(
            source.read().unwrap_err().reason,
            Reason::NotSupported,
            "asked again"
        );
    }

    /// On a machine with counters this reads a rate; on one without it must say so, and never 0.
    #[test]
    fn this_machine_gives_a_rate_or_a_reason() {
        let mut source = MissRateSource::new(Path::new("/proc"), Path::new("/sys"));
        let _ = source.read();
        let mut work = vec![0u8; 8 << 20];
        for index in (0..work.len()).step_by(64) {
            work[index] = work[index].wrapping_add(1);
        }
        std::hint::black_box(&work);
        match source.read() {
            Ok(rate) => assert!((0.0..=1.0).contains(&rate), "{rate}"),
            Err(why) => {
                println!("no cache counters here: {why}");
                assert_ne!(
                    why.reason,
                    Reason::Warming,
                    "the second read of open counters is a rate"
                );
            }
        }
    }
}
