//! The mean latency out of `/proc/diskstats`, for machines where the probe cannot be loaded.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::{ProcFile, Reading, Reason, Unavailable};
use super::devices::{DeviceId, Devices, Kind};

/// Reads and writes of one line of `/proc/diskstats`, since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskCounters {
    /// The device's number.
    pub id: DeviceId,
    /// Its name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Milliseconds that reads took, queue and device.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Milliseconds that writes took, queue and device.
    pub write_ms: u64,
    /// Flushes completed; 0 on kernels before 5.5.
    pub flushes: u64,
    /// Milliseconds that flushes took.
    pub flush_ms: u64,
}

impl DiskCounters {
    /// Requests completed.
    pub fn ios(&self) -> u64 {
        self.reads
            .saturating_add(self.writes)
            .saturating_add(self.flushes)
    }

    /// Milliseconds that they took.
    pub fn millis(&self) -> u64 {
        self.read_ms
            .saturating_add(self.write_ms)
            .saturating_add(self.flush_ms)
    }
}

/// All well-formed lines; others are passed over.
pub fn parse(text: &str) -> Vec<DiskCounters> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<DiskCounters> {
    let mut words = line.split_ascii_whitespace();
    let id = DeviceId {
        major: words.next()?.parse().ok()?,
        minor: words.next()?.parse().ok()?,
    };
    let name = words.next()?.to_owned();
    let fields: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let at = |index: usize| fields.get(index).copied();
    Some(DiskCounters {
        id,
        name,
        reads: at(0)?,
        read_ms: at(3)?,
        writes: at(4)?,
        write_ms: at(7)?,
        flushes: at(15).unwrap_or(0),
        flush_ms: at(16).unwrap_or(0),
    })
}

/// Mean latency between two reads of the file.
pub(super) struct MeanSource {
    file: ProcFile,
    previous: Option<(Duration, BTreeMap<DeviceId, DiskCounters>)>,
}

impl MeanSource {
    pub(super) fn new(file: ProcFile) -> Self {
        Self { file, previous: None }
    }

    /// Requests and their mean latency in milliseconds since the last call, over real devices.
    pub(super) fn read(&mut self, now: Duration, devices: &mut Devices) -> Reading<(u64, f64)> {
        let path = self.file.path().display().to_string();
        let text = match self.file.read() {
            Ok(text) => text,
            Err(error) => {
                self.previous = None;
                return Err(Unavailable::from_io(&path, &error));
            }
        };
        let lines = parse(&text);
        if lines.is_empty() {
            self.previous = None;
            return Err(Unavailable::new(
                Reason::Malformed,
                format!("{path}: no line of a device"),
            ));
        }
        let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
        let counters: BTreeMap<_, _> = lines
            .into_iter()
            .filter(|line| match devices.kind(line.id) {
                Kind::Real => true,
                Kind::Virtual | Kind::Partition => false,
                Kind::Unknown => looks_real(&line.name, &names),
            })
            .map(|line| (line.id, line))
            .collect();
        let Some((before, previous)) = self.previous.replace((now, counters)) else {
            return Err(Unavailable::warming(&path));
        };
        let counters = self
            .previous
            .as_ref()
            .map(|(_, counters)| counters)
            .into_iter()
            .flatten();
        if now <= before {
            return Err(Unavailable::warming(&path));
        }
        let (mut ios, mut millis) = (0u64, 0u64);
        for (id, line) in counters {
            // A device that was not there before, or started over, has no difference yet.
            let Some(then) = previous.get(id).filter(|then| then.name == line.name) else {
                continue;
            };
            if let (Some(more), Some(took)) = (
                line.ios().checked_sub(then.ios()),
                line.millis().checked_sub(then.millis()),
            ) {
                ios = ios.saturating_add(more);
                millis = millis.saturating_add(took);
            }
        }
        let mean = if ios == 0 { 0.0 } else { millis as f64 / ios as f64 };
        Ok((ios, mean))
    }
}

/// By name only, where /sys does not tell: no memory or stacked device, and no part of another line's device.
fn looks_real(name: &str, all: &[String]) -> bool {
    let stacked = ["loop", "ram", "zram", "dm-", "md", "sr", "fd"]
        .iter()
        .any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
    let part = all.iter().filter(|disk| disk.as_str() != name).any(|disk| {
        let Some(rest) = name.strip_prefix(disk.as_str()) else {
            return false;
        };
        // sda1 of sda, but nvme0n1p1 of nvme0n1: a `p` stands between digits.
        let number = match disk.ends_with(|c: char| c.is_ascii_digit()) {
            true => rest.strip_prefix('p').unwrap_or_default(),
            false => rest,
        };
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    !stacked && !part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_alone_tell_disks_from_parts_and_stacked_devices() {
        let all: Vec<String> = [
            "sda",
            "sda1",
            "sdaa",
            "nvme0n1",
            "nvme0n1p2",
            "nvme0n10",
            "dm-0",
            "md127",
            "loop3",
            "zram0",
            "vda",
            "mmcblk0",
        ]
        .map(String::from)
        .into();
        let real: Vec<&str> = all
            .iter()
            .map(String::as_str)
            .filter(|name| looks_real(name, &all))
            .collect();
        assert_eq!(real, ["sda", "sdaa", "nvme0n1", "nvme0n10", "vda", "mmcblk0"]);
    }

    #[test]
    fn lines_of_all_kernel_generations_are_read() {
        for (name, line, expected) in [
            (
                "14 fields",
                "8 0 sda 1 2 3 4 5 6 7 8 9 10 11",
                Some((1, 4, 5, 8, 0, 0)),
            ),
            (
                "with discards and flushes",
                "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
                Some((1, 4, 5, 8, 16, 17)),
            ),
            (
                "fields of the future",
                "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
                Some((1, 4, 5, 8, 16, 17)),
            ),
            ("partition of 2.6", "8 1 sda1 1 2 3 4", None),
            ("not a number", "8 0 sda one 2 3 4 5 6 7 8 9 10 11", None),
            ("empty", "", None),
        ] {
            let got = parse_line(line).map(|line| {
                (
                    line.reads,
                    line.read_ms,
                    line.writes,
                    line.write_ms,
                    line.flushes,
                    line.flush_ms,
                )
            });
            assert_eq!(got, expected, "{name}");
        }
    }

    #[test]
    fn mean_leaves_out_devices_that_are_new_or_started_over() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("diskstats");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let at = Duration::from_secs;
        let mut devices = Devices::new(root.path());
        let mut source = MeanSource::new(ProcFile::new(&path));
        assert_eq!(
            source.read(at(0), &mut devices).unwrap_err().reason,
            Reason::NotSupported
        );
        write(
            "8 0 sda 10 0 0 100 0 0 0 0 0 0 0\n8 16 sdb 50 0 0 500 0 0 0 0 0 0 0\n8 1 sda1 10 0 0 100 0 0 0 0 0 0 0\n",
        );
        assert_eq!(
            source.read(at(1), &mut devices).unwrap_err().reason,
            Reason::Warming
        );
        write(
            "8 0 sda 14 0 0 120 0 0 0 0 0 0 0\n8 16 sdb 1 0 0 1 0 0 0 0 0 0 0\n\
             8 32 sdc 900 0 0 9000 0 0 0 0 0 0 0\n8 1 sda1 14 0 0 120 0 0 0 0 0 0 0\n",
        );
        assert_eq!(source.read(at(2), &mut devices), Ok((4, 5.0)));
        write("nothing\n");
        assert_eq!(
            source.read(at(3), &mut devices).unwrap_err().reason,
            Reason::Malformed
        );
    }

    proptest! {
        #[test]
        fn odd_text_never_panics(text in "([0-9]{1,22} |sd[a-z] |[ -~]|\n){0,80}") {
            for line in parse(&text) {
                line.ios();
                line.millis();
            }
        }
    }
}
