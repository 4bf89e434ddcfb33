//! The probe in the kernel (`ebpf/block_latency.bpf.c`), loaded and read.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::Path;

use aya::maps::{HashMap, MapData};
use aya::programs::RawTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};
use mco_proto::latency::{Histogram, SLOTS};

use super::super::{Reading, Reason, Unavailable, reason_of};
use super::DeviceId;

static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/block_latency.bpf.o"));

/// What a request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Flushes of the device's cache.
    Flush,
    /// Discards and erasures.
    Discard,
    /// Anything else, and requests of more devices than the probe can tell apart.
    Other,
}

impl Operation {
    /// The name as shown in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Flush => "flush",
            Operation::Discard => "discard",
            Operation::Other => "other",
        }
    }

    /// Whether applications wait for it. Discards are made in the background, long after what caused them.
    pub fn is_waited_for(self) -> bool {
        self != Operation::Discard
    }

    fn of_kernel(op: u32) -> Self {
        match op {
            0 => Operation::Read,
            1 => Operation::Write,
            2 => Operation::Flush,
            3 | 5 => Operation::Discard,
            _ => Operation::Other,
        }
    }
}

/// What requests are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey {
    /// The whole disk.
    pub device: DeviceId,
    /// What was asked of it.
    pub operation: Operation,
}

/// Latencies of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhaseCounts {
    /// Requests.
    pub count: u64,
    /// Sum of their latencies in microseconds.
    pub sum_us: u64,
    /// Their distribution.
    pub histogram: Histogram,
}

/// Latencies of requests by phase. Requests without a stamp of issue have no queue and device phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Queue and device.
    pub total: PhaseCounts,
    /// From making to issue.
    pub queue: PhaseCounts,
    /// From issue to completion.
    pub device: PhaseCounts,
}

impl RequestCounts {
    /// What came after an earlier count; everything when there is none.
    pub fn since(&self, earlier: Option<&RequestCounts>) -> RequestCounts {
        let Some(earlier) = earlier else {
            return self.clone();
        };
        RequestCounts {
            total: self.total.since(&earlier.total),
            queue: self.queue.since(&earlier.queue),
            device: self.device.since(&earlier.device),
        }
    }

    fn merge(&mut self, raw: &RawValue) {
        self.total.merge(&raw.total);
        self.queue.merge(&raw.queue);
        self.device.merge(&raw.device);
    }
}

impl PhaseCounts {
    fn since(&self, earlier: &PhaseCounts) -> PhaseCounts {
        let mut histogram = Histogram::new();
        let pairs = self.histogram.counts().iter().zip(earlier.histogram.counts());
        for (slot, (now, then)) in pairs.enumerate() {
            histogram.add(slot, now.saturating_sub(*then));
        }
        PhaseCounts {
            // Count and slots are added to one after the other in the kernel; the slots decide.
            count: histogram.total(),
            sum_us: self.sum_us.saturating_sub(earlier.sum_us),
            histogram,
        }
    }

    fn merge(&mut self, raw: &RawPhase) {
        self.count = self.count.saturating_add(raw.count);
        self.sum_us = self.sum_us.saturating_add(raw.sum_us);
        for (slot, &count) in raw.slots.iter().enumerate() {
            self.histogram.add(slot, count);
        }
    }
}

// The layouts below are those of the C file.

#[repr(C)]
#[derive(Clone, Copy)]
struct RawKey {
    major: u32,
    minor: u32,
    op: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawPhase {
    count: u64,
    sum_us: u64,
    slots: [u64; SLOTS],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawValue {
    total: RawPhase,
    queue: RawPhase,
    device: RawPhase,
}

#[allow(
    unsafe_code,
    reason = "plain integers without padding, laid out as in the C file"
)]
mod pod {
    // SAFETY: only unsigned integers and arrays of them, `repr(C)`, no padding; every bit pattern is a value.
    unsafe impl aya::Pod for super::RawKey {}
    // SAFETY: as above.
    unsafe impl aya::Pod for super::RawValue {}
}

const ZERO_PHASE: RawPhase = RawPhase {
    count: 0,
    sum_us: 0,
    slots: [0; SLOTS],
};
const OVERFLOW: RawKey = RawKey {
    major: 0,
    minor: 0,
    op: 0xff,
};

/// The loaded and attached program. Dropping it detaches and unloads.
pub struct Probe {
    latencies: HashMap<MapData, RawKey, RawValue>,
    /// Holds the program and its attachment.
    _program: Ebpf,
}

impl Probe {
    /// Loads the program and attaches it. `sys` must be the running kernel's /sys: its type information tells where
    /// the fields are.
    pub fn load(sys: &Path) -> Reading<Self> {
        let btf = sys.join("kernel/btf/vmlinux");
        if let Err(error) = std::fs::File::open(&btf) {
            let message = format!(
                "{}: {error}; the kernel needs CONFIG_DEBUG_INFO_BTF",
                btf.display()
            );
            return Err(Unavailable::new(reason_of(&error), message));
        }
        allow_locked_memory();
        load(sys, &btf).map_err(|error| explain(&*error))
    }

    /// Everything counted since the program was attached.
    pub fn read(&self) -> Reading<BTreeMap<RequestKey, RequestCounts>> {
        let mut requests: BTreeMap<RequestKey, RequestCounts> = BTreeMap::new();
        for key in self.latencies.keys() {
            let key = key.map_err(|error| explain(&error))?;
            let raw = self.latencies.get(&key, 0).map_err(|error| explain(&error))?;
            let device = DeviceId {
                major: key.major,
                minor: key.minor,
            };
            let key = RequestKey {
                device,
                operation: Operation::of_kernel(key.op),
            };
            requests.entry(key).or_default().merge(&raw);
        }
        Ok(requests)
    }
}

fn load(sys: &Path, btf: &Path) -> Result<Probe, Box<dyn Error>> {
    let mut loader = EbpfLoader::new();
    // The loader has parsed the type information below /sys already; once more would double the time and the memory.
    let elsewhere = match sys == Path::new("/sys") {
        true => None,
        false => Some(Btf::parse_file(btf, aya::Endianness::default())?),
    };
    if elsewhere.is_some() {
        loader.btf(elsewhere.as_ref());
    }
    let mut program = loader.load(OBJECT)?;
    let map = program
        .take_map("latencies")
        .ok_or("the object has no map `latencies`")?;
    let mut latencies: HashMap<_, RawKey, RawValue> = HashMap::try_from(map)?;
    // Where requests go when all other keys are taken. Must be there before the first request.
    let zero = RawValue {
        total: ZERO_PHASE,
        queue: ZERO_PHASE,
        device: ZERO_PHASE,
    };
    latencies.insert(OVERFLOW, zero, 0)?;
    let entry: &mut RawTracePoint = program
        .program_mut("block_rq_complete")
        .ok_or("the object has no program `block_rq_complete`")?
        .try_into()?;
    entry.load()?;
    entry.attach("block_rq_complete")?;
    Ok(Probe {
        latencies,
        _program: program,
    })
}

/// Kernels before 5.11 count maps as locked memory. Newer ones do not care, so a refusal is no failure.
fn allow_locked_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(
        Resource::Memlock,
        Rlimit {
            current: None,
            maximum: None,
        },
    );
}

/// What stands between the system error and the verifier's log in the loader's message.
const VERIFIER: &str = ". Verifier output: ";

fn is_statistics(line: &str) -> bool {
    ["processed ", "verification time ", "stack depth "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Finds the system error below what the loader says.
fn explain(error: &(dyn Error + 'static)) -> Unavailable {
    let mut text = error.to_string();
    let mut system = None;
    let mut next = Some(error);
    while let Some(error) = next {
        let io_error = error
            .downcast_ref::<io::Error>()
            .filter(|error| error.raw_os_error().is_some());
        system = system.or_else(|| io_error.map(reason_of));
        next = error.source();
        if let Some(cause) = next
            .map(ToString::to_string)
            .filter(|cause| !text.contains(cause.as_str()))
        {
            text = format!("{text}: {cause}");
        }
    }
    // The verifier explains itself in pages, and the reason is what it says last.
    let refused_by_verifier = text.split_once(VERIFIER).map(|(call, log)| {
        let reason = log
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty() && !is_statistics(line));
        (call.to_owned(), reason.unwrap_or_default().to_owned())
    });
    let (text, system) = match refused_by_verifier {
        // EACCES is also how the verifier refuses a program, whoever loads it.
        Some((call, reason)) if !reason.is_empty() => (format!("{call}: {reason}"), None),
        Some((call, _)) => (call, system),
        None => (text, system),
    };
    match system {
        Some(Reason::NoPermission) => Unavailable::new(
            Reason::NoPermission,
            format!("the block probe needs CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before 5.8): {text}"),
        ),
        Some(Reason::Busy) => Unavailable::new(Reason::Busy, format!("block probe: {text}")),
        _ => Unavailable::new(
            Reason::NotSupported,
            format!("the kernel does not take the block probe: {text}"),
        ),
    }
}

#[cfg(test)]
mod tests;
