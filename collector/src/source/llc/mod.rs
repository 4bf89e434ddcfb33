//! The last-level cache: how large it is, how much of it is in use, and how often it misses.

mod perf;
mod resctrl;
mod size;

pub use perf::MissRateSource;
pub use resctrl::{Occupancy, OccupancySource};
pub use size::CacheDomains;

use std::path::Path;

/// Parses a list of CPUs as the kernel writes it: `0-3,8,10-11`. Absent when it is malformed, or too long to be one.
fn parse_cpu_list(text: &str) -> Option<Vec<u32>> {
    const MOST: usize = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
        if range.clone().count() + cpus.len() > MOST {
            return None;
        }
        cpus.extend(range);
    }
    Some(cpus)
}

/// The CPUs that are online. Empty when the system does not say.
fn online_cpus(sys: &Path) -> Vec<u32> {
    let path = sys.join("devices/system/cpu/online");
    std::fs::read_to_string(path)
        .ok()
        .and_then(|text| parse_cpu_list(&text))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read_as_the_kernel_writes_them() {
        for (text, cpus) in [
            ("0-3,8,10-11\n", Some(vec![0, 1, 2, 3, 8, 10, 11])),
            ("0", Some(vec![0])),
            ("\n", Some(vec![])),
            ("3-1", Some(vec![])),
            ("a-b", None),
            ("0-4294967295", None),
        ] {
            assert_eq!(parse_cpu_list(text), cpus, "{text:?}");
        }
    }
}
