//! How much of the last-level caches is in use, from a mounted resctrl tree.
//!
//! The node's figure is the root group plus every control group. Their own monitoring groups are already contained
//! in a control group's figures and are not added again.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Reading, Reason, Unavailable};
use super::CacheDomains;

/// Cache in use at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Bytes in use over all caches that gave a value.
    pub bytes: u64,
    /// Bytes in use / size of the caches that gave a value, 0 to 1.
    pub ratio: f64,
    /// The largest ratio of a single cache, 0 to 1.
    pub max_domain_ratio: f64,
    /// Caches that gave a value.
    pub domains: usize,
}

/// The resctrl tree of one node.
#[derive(Debug)]
pub struct OccupancySource {
    root: PathBuf,
    /// The last number of each file, for the moments in which the hardware has none ready.
    last: HashMap<PathBuf, u64>,
}

impl OccupancySource {
    /// The tree below a root of /sys.
    pub fn new(sys: &Path) -> Self {
        Self {
            root: sys.join("fs/resctrl"),
            last: HashMap::new(),
        }
    }

    /// Reads all groups. `sizes` are the caches of the machine.
    pub fn read(&mut self, sizes: &CacheDomains) -> Reading<Occupancy> {
        let by_domain = self.by_domain()?;
        let mut occupancy = Occupancy {
            bytes: 0,
            ratio: 0.0,
            max_domain_ratio: 0.0,
            domains: 0,
        };
        let mut size = 0u64;
        for (id, bytes) in by_domain {
            let of_domain = sizes.bytes_of(id);
            if let (Some(bytes), true) = (bytes, of_domain > 0) {
                occupancy.domains += 1;
                occupancy.bytes = occupancy.bytes.saturating_add(bytes);
                size = size.saturating_add(of_domain);
                let ratio = (bytes as f64 / of_domain as f64).min(1.0);
                occupancy.max_domain_ratio = occupancy.max_domain_ratio.max(ratio);
            }
        }
        if size == 0 {
            let message = format!("{}: no cache has a value at the moment", self.root.display());
            return Err(Unavailable::new(Reason::Busy, message));
        }
        occupancy.ratio = (occupancy.bytes as f64 / size as f64).min(1.0);
        Ok(occupancy)
    }

    /// Bytes by cache id. A cache for which one group has no value has none either: a partial sum would look calm.
    fn by_domain(&mut self) -> Reading<BTreeMap<u32, Option<u64>>> {
        let groups = self.groups()?;
        let mut last = HashMap::new();
        let mut domains: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        for group in groups {
            let entries = fs::read_dir(group.join("mon_data"))
                .into_iter()
                .flatten()
                .flatten();
            for entry in entries {
                let name = entry.file_name();
                let Some(id) = name
                    .to_str()
                    .and_then(|name| name.strip_prefix("mon_L3_")?.parse().ok())
                else {
                    continue;
                };
                let path = entry.path().join("llc_occupancy");
                let Some(value) = read_value(&path) else { continue };
                let bytes = match value {
                    Value::Bytes(bytes) => Some(bytes),
                    Value::NotReady => self.last.get(&path).copied(),
                    Value::None => None,
                };
                if let Some(bytes) = bytes {
                    last.insert(path, bytes);
                }
                let sum = domains.entry(id).or_insert(Some(0));
                *sum = sum.zip(bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
            }
        }
        self.last = last;
        if domains.is_empty() {
            let message = format!(
                "{}: no llc_occupancy, this CPU allocates cache but cannot monitor it",
                self.root.display()
            );
            return Err(Unavailable::new(Reason::NotSupported, message));
        }
        Ok(domains)
    }

    /// The root and every control group.
    fn groups(&self) -> Reading<Vec<PathBuf>> {
        let root = self.root.display();
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("{root}: not there, the kernel or the CPU has no resctrl");
                return Err(Unavailable::new(Reason::NotSupported, message));
            }
            Err(error) => return Err(Unavailable::from_io(root, &error)),
        };
        if !self.root.join("info").is_dir() {
            let message =
                format!("{root}: not mounted, run `mount -t resctrl resctrl /sys/fs/resctrl` on the host");
            return Err(Unavailable::new(Reason::Disabled, message));
        }
        let mut groups = vec![self.root.clone()];
        for entry in entries.flatten() {
            let path = entry.path();
            if path.join("schemata").is_file() && path.join("mon_data").is_dir() {
                groups.push(path);
            }
        }
        Ok(groups)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Value {
    Bytes(u64),
    /// The counter is not ready: the last value stands.
    NotReady,
    /// No value: an error, or no counter is assigned.
    None,
}

/// None when the file does not exist: this cache is not monitored.
fn read_value(path: &Path) -> Option<Value> {
    match fs::read_to_string(path) {
        Ok(text) => Some(parse_value(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => Some(Value::None),
    }
}

fn parse_value(text: &str) -> Value {
    match text.trim() {
        "Unavailable" => Value::NotReady,
        number => number.parse().map_or(Value::None, Value::Bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.0.path().join("fs/resctrl/info/L3")).unwrap();
            tree.write("schemata", "L3:0=fff");
            tree
        }

        fn write(&self, file: &str, text: &str) {
            let path = self.0.path().join("fs/resctrl").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }

        /// A machine with caches of these ids, each of `mib` MiB.
        fn caches(&self, ids: &[u32], mib: u64) -> CacheDomains {
            for id in ids {
                let dir = self
                    .0
                    .path()
                    .join(format!("devices/system/cpu/cpu{id}/cache/index3"));
                fs::create_dir_all(&dir).unwrap();
                for (name, text) in [("level", "3"), ("type", "Unified"), ("shared_cpu_list", "0")] {
                    fs::write(dir.join(name), text).unwrap();
                }
                fs::write(dir.join("id"), id.to_string()).unwrap();
                fs::write(dir.join("size"), format!("{mib}M")).unwrap();
            }
            CacheDomains::read(self.0.path()).unwrap()
        }

        fn source(&self) -> OccupancySource {
            OccupancySource::new(self.0.path())
        }
    }

    fn mib(n: u64) -> String {
        (n * MIB).to_string()
    }

    #[test]
    fn one_l3_counts_root_and_control_groups_but_no_monitoring_group_twice() {
        let tree = Tree::new();
        tree.write("mon_data/mon_L3_00/llc_occupancy", &mib(4));
        tree.write("mon_data/mon_L3_00/mbm_total_bytes", "123456789");
        tree.write("mon_groups/podA/mon_data/mon_L3_00/llc_occupancy", &mib(3));
        tree.write("groupB/schemata", "L3:0=00f");
        tree.write("groupB/mon_data/mon_L3_00/llc_occupancy", &mib(8));
        tree.write("groupB/mon_groups/podC/mon_data/mon_L3_00/llc_occupancy", &mib(7));
        let sizes = tree.caches(&[0], 32);
        let got = tree.source().read(&sizes).unwrap();
        assert_eq!(
            got,
            Occupancy {
                bytes: 12 * MIB,
                ratio: 0.375,
                max_domain_ratio: 0.375,
                domains: 1
            }
        );
    }

    #[test]
    fn a_socket_that_is_not_ready_keeps_its_last_value() {
        let tree = Tree::new();
        tree.write("mon_data/mon_L3_00/llc_occupancy", &mib(8));
        tree.write("mon_data/mon_L3_01/llc_occupancy", "Unavailable");
        let sizes = tree.caches(&[0, 1], 16);
        let mut source = tree.source();
        let first = source.read(&sizes).unwrap();
        assert_eq!(
            (first.domains, first.ratio),
            (1, 0.5),
            "never known: this cache is left out, not taken as 0"
        );

        tree.write("mon_data/mon_L3_01/llc_occupancy", &mib(16));
        assert_eq!(source.read(&sizes).unwrap().ratio, 0.75);
        for _ in 0..2 {
            tree.write("mon_data/mon_L3_01/llc_occupancy", "Unavailable");
            assert_eq!(source.read(&sizes).unwrap().ratio, 0.75, "the last value stands");
        }
        for text in ["Error", "Unassigned", "-1", ""] {
            tree.write("mon_data/mon_L3_01/llc_occupancy", text);
            assert_eq!(source.read(&sizes).unwrap().domains, 1, "{text:?} is no value");
        }
        tree.write("mon_data/mon_L3_00/llc_occupancy", "Error");
        assert_eq!(source.read(&sizes).unwrap_err().reason, Reason::Busy);
    }

    #[test]
    fn sixteen_domains_with_gaps_show_the_one_that_is_full() {
        let tree = Tree::new();
        let ids: Vec<u32> = (0..16).map(|n| n * 3 + 1).collect();
        for &id in &ids {
            let used = if id == 22 { 32 } else { 4 };
            tree.write(&format!("mon_data/mon_L3_{id:02}/llc_occupancy"), &mib(used));
            // Sub-NUMA clusters repeat below what the file above already sums up.
            tree.write(
                &format!("mon_data/mon_L3_{id:02}/mon_sub_L3_{id:02}/llc_occupancy"),
                &mib(used),
            );
        }
        let sizes = tree.caches(&ids, 32);
        let got = tree.source().read(&sizes).unwrap();
        assert_eq!(got.domains, 16);
        assert_eq!(got.bytes, (15 * 4 + 32) * MIB);
        assert_eq!((got.ratio, got.max_domain_ratio), (92.0 / 512.0, 1.0));
    }

    #[test]
    fn a_tree_that_only_allocates_is_not_supported() {
        let tree = Tree::new();
        tree.write("info/L3/cbm_mask", "fff");
        tree.write("groupB/schemata", "L3:0=00f");
        let sizes = tree.caches(&[0], 32);
        assert_eq!(
            tree.source().read(&sizes).unwrap_err().reason,
            Reason::NotSupported
        );
    }

    #[test]
    fn not_built_in_and_not_mounted_are_told_apart() {
        let sys = tempfile::tempdir().unwrap();
        let sizes = CacheDomains::default();
        let mut source = OccupancySource::new(sys.path());
        assert_eq!(source.read(&sizes).unwrap_err().reason, Reason::NotSupported);
        fs::create_dir_all(sys.path().join("fs/resctrl")).unwrap();
        assert_eq!(source.read(&sizes).unwrap_err().reason, Reason::Disabled);
    }

    proptest! {
        #[test]
        fn odd_text_is_no_value(text in ".{0,24}") {
            if let Value::Bytes(bytes) = parse_value(&text) {
                prop_assert_eq!(text.trim().trim_start_matches('+').parse::<u64>(), Ok(bytes));
            }
        }
    }
}
