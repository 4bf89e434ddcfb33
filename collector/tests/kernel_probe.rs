//! The probe in the running kernel, compared with `/proc/diskstats` under a small real load. Says why and passes
//! where the machine does not allow it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use mco_collector::source::block::{DeviceId, Devices, Operation, Probe, RequestCounts, parse_diskstats};

const BLOCK: usize = 4096;
const FILE_BLOCKS: usize = 8192;

/// Reads and writes past the page cache for a while, so that requests really happen. False where the directory does
/// not allow that.
fn load(file: &Path, runtime: Duration) -> bool {
    const O_DIRECT: i32 = if cfg!(target_arch = "aarch64") {
        0x10000
    } else {
        0x4000
    };
    if std::fs::write(file, vec![7u8; BLOCK * FILE_BLOCKS]).is_err() {
        return false;
    }
    let Ok(direct) = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(O_DIRECT)
        .open(file)
    else {
        return false;
    };
    // The kernel wants aligned memory.
    let mut memory = vec![0u8; 2 * BLOCK];
    let start = memory.as_ptr().align_offset(BLOCK);
    let buffer = &mut memory[start..start + BLOCK];
    let begun = Instant::now();
    let mut block = 1u64;
    while begun.elapsed() < runtime {
        block = block
            .wrapping_mul(2_862_933_555_777_941_757)
            .wrapping_add(3_037_000_493);
        let offset = (block >> 33) % FILE_BLOCKS as u64 * BLOCK as u64;
        let done = match block & 4 {
            0 => direct.write_all_at(buffer, offset),
            _ => direct.read_exact_at(buffer, offset),
        };
        if done.is_err() {
            return false;
        }
    }
    true
}

/// Requests and microseconds by device.
fn from_probe(probe: &Probe) -> BTreeMap<DeviceId, (u64, u64)> {
    let mut sums: BTreeMap<DeviceId, (u64, u64)> = BTreeMap::new();
    let waited = |operation| matches!(operation, Operation::Read | Operation::Write);
    let requests = probe.read().expect("a loaded probe is read");
    for (key, RequestCounts { total, queue, device }) in requests {
        assert_eq!(
            total.count,
            total.histogram.total(),
            "{key:?}: slots add up to the count"
        );
        assert!(
            queue.count <= total.count && queue.count == device.count,
            "{key:?}: phases are parts of the total"
        );
        if waited(key.operation) {
            let sum = sums.entry(key.device).or_default();
            *sum = (sum.0 + total.count, sum.1 + total.sum_us);
        }
    }
    sums
}

/// As [`from_probe`]. A device without lines or requests of its own gives none.
fn from_diskstats() -> BTreeMap<DeviceId, (u64, u64)> {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let sums = parse_diskstats(&text).into_iter();
    sums.map(|line| {
        (
            line.id,
            (line.reads + line.writes, (line.read_ms + line.write_ms) * 1000),
        )
    })
    .collect()
}

#[test]
fn counts_and_means_agree_with_diskstats() {
    let probe = match Probe::load(Path::new("/sys")) {
        Ok(probe) => probe,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut devices = Devices::new(Path::new("/sys"));
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = dir.path().join("load");

    // The two sources are not read at the same instant, and others use the disk: the better of a few tries counts.
    let mut last = String::new();
    for _ in 0..4 {
        let (stats_before, probe_before) = (from_diskstats(), from_probe(&probe));
        if !load(&file, Duration::from_millis(1500)) {
            return println!("skipped: {} does not take direct I/O", dir.path().display());
        }
        let (stats_after, probe_after) = (from_diskstats(), from_probe(&probe));
        let since = |after: &BTreeMap<DeviceId, (u64, u64)>, before: &BTreeMap<DeviceId, (u64, u64)>, id| {
            let (a, b) = (
                after.get(&id).copied().unwrap_or_default(),
                before.get(&id).copied().unwrap_or_default(),
            );
            ((a.0 - b.0) as f64, (a.1 - b.1) as f64)
        };
        // The disk that had the load.
        let busiest = stats_after
            .keys()
            .filter(|id| devices.is_real(**id))
            .max_by_key(|id| since(&stats_after, &stats_before, **id).0 as u64)
            .copied();
        let Some(id) = busiest else {
            return println!("skipped: no real disk");
        };
        let (stat_ios, stat_us) = since(&stats_after, &stats_before, id);
        let (ios, us) = since(&probe_after, &probe_before, id);
        if stat_ios < 100.0 {
            return println!("skipped: the load reached no real disk");
        }
        last = format!(
            "{}: probe {ios} requests, {us} us; diskstats {stat_ios}, {stat_us} us",
            devices.name(id)
        );
        println!("{last}");
        let count_agrees = (ios - stat_ios).abs() <= (stat_ios * 0.01).max(3.0);
        // Diskstats takes its stamp some microseconds later than the probe, and rounds down to whole milliseconds.
        let (mean, stat_mean) = (us / ios, stat_us / stat_ios);
        let mean_agrees = (mean - stat_mean).abs() <= stat_mean * 0.05 + 20.0;
        if count_agrees && mean_agrees {
            return;
        }
    }
    panic!("the probe and diskstats disagree at every try, last {last}");
}

#[test]
fn a_loaded_probe_survives_a_read_while_nothing_and_something_happens() {
    let probe = match Probe::load(Path::new("/sys")) {
        Ok(probe) => probe,
        Err(why) => return println!("skipped: {why}"),
    };
    let before = from_probe(&probe);
    let mut file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(&[1; BLOCK]).unwrap();
    let _ = file.sync_all();
    let after = from_probe(&probe);
    for (id, (ios, _)) in before {
        assert!(
            after.get(&id).is_some_and(|(later, _)| *later >= ios),
            "{id:?}: counts only grow"
        );
    }
}
