//! How large the last-level caches are, from `/sys/devices/system/cpu/cpu*/cache/index*`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::{Reading, Reason, Unavailable};

/// The last-level caches of a machine, one domain per cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheDomains {
    /// Bytes by the id the kernel gives each cache; caches without an id are in `unnamed`.
    by_id: BTreeMap<u32, u64>,
    unnamed: Vec<u64>,
}

impl CacheDomains {
    /// Walks the cache directories of all CPUs below a root of /sys. The last level is the highest one found of a
    /// unified cache; neither `index3` nor consecutive ids are taken for granted.
    pub fn read(sys: &Path) -> Reading<Self> {
        let cpus = sys.join("devices/system/cpu");
        let entries = fs::read_dir(&cpus).map_err(|error| Unavailable::from_io(cpus.display(), &error))?;
        let mut caches = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_cpu = name
                .to_str()
                .and_then(|name| name.strip_prefix("cpu"))
                .is_some_and(is_number);
            if is_cpu {
                let indices = fs::read_dir(entry.path().join("cache"))
                    .into_iter()
                    .flatten()
                    .flatten();
                caches.extend(indices.filter_map(|index| Cache::read(&index.path())));
            }
        }
        Self::of(caches).ok_or_else(|| {
            let message = format!("{}: no unified cache with level and size", cpus.display());
            Unavailable::new(Reason::NotSupported, message)
        })
    }

    fn of(caches: Vec<Cache>) -> Option<Self> {
        let last = caches.iter().map(|cache| cache.level).max()?;
        let mut domains = Self::default();
        let mut seen = Vec::new();
        for cache in caches.into_iter().filter(|cache| cache.level == last) {
            match cache.id {
                Some(id) => {
                    domains.by_id.insert(id, cache.bytes);
                }
                None if !seen.contains(&cache.shared_by) => {
                    seen.push(cache.shared_by);
                    domains.unnamed.push(cache.bytes);
                }
                None => {}
            }
        }
        Some(domains)
    }

    /// Size of all caches together, in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.by_id
            .values()
            .chain(&self.unnamed)
            .fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// Number of caches.
    pub fn count(&self) -> usize {
        self.by_id.len() + self.unnamed.len()
    }

    /// Size of one cache in bytes; the mean of all where the kernel names no cache of this id.
    pub fn bytes_of(&self, id: u32) -> u64 {
        match self.by_id.get(&id) {
            Some(&bytes) => bytes,
            None => self.total_bytes() / self.count().max(1) as u64,
        }
    }
}

#[derive(Debug)]
struct Cache {
    level: u32,
    id: Option<u32>,
    shared_by: String,
    bytes: u64,
}

impl Cache {
    /// None where this is no index directory, or not one of a unified cache with a size.
    fn read(dir: &Path) -> Option<Self> {
        if !dir
            .file_name()?
            .to_str()?
            .strip_prefix("index")
            .is_some_and(is_number)
        {
            return None;
        }
        let read = |name: &str| {
            fs::read_to_string(dir.join(name))
                .ok()
                .map(|text| text.trim().to_owned())
        };
        if read("type")? != "Unified" {
            return None;
        }
        Some(Self {
            level: read("level")?.parse().ok()?,
            id: read("id").and_then(|id| id.parse().ok()),
            shared_by: read("shared_cpu_list").unwrap_or_default(),
            bytes: parse_size(&read("size")?).filter(|&bytes| bytes > 0)?,
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `32768K`, `16M`, or plain bytes.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One cache of one CPU: cpu, index, level, type, id, shared_cpu_list, size.
    type Row<'a> = (u32, u32, u32, &'a str, Option<u32>, &'a str, &'a str);

    fn tree(rows: &[Row]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        fs::create_dir_all(sys.path().join("devices/system/cpu/cpufreq")).unwrap();
        for &(cpu, index, level, kind, id, shared, size) in rows {
            let dir = sys
                .path()
                .join(format!("devices/system/cpu/cpu{cpu}/cache/index{index}"));
            fs::create_dir_all(&dir).unwrap();
            let write = |name: &str, text: &str| fs::write(dir.join(name), format!("{text}\n")).unwrap();
            write("level", &level.to_string());
            write("type", kind);
            write("shared_cpu_list", shared);
            write("size", size);
            if let Some(id) = id {
                write("id", &id.to_string());
            }
        }
        sys
    }

    #[test]
    fn last_level_is_the_highest_unified_one_and_each_cache_counts_once() {
        let cases: [(&str, &[Row], u64, usize); 5] = [
            (
                "one shared cache",
                &[
                    (0, 0, 1, "Data", Some(0), "0", "32K"),
                    (0, 2, 2, "Unified", Some(0), "0", "512K"),
                    (0, 3, 3, "Unified", Some(0), "0-1", "32768K"),
                    (1, 3, 3, "Unified", Some(0), "0-1", "32768K"),
                ],
                32 << 20,
                1,
            ),
            (
                "gaps in ids, size in M",
                &[
                    (0, 3, 3, "Unified", Some(2), "0", "16M"),
                    (1, 3, 3, "Unified", Some(9), "1", "16M"),
                ],
                32 << 20,
                2,
            ),
            (
                "no ids: grouped by the CPUs that share",
                &[
                    (0, 3, 3, "Unified", None, "0-1", "8M"),
                    (1, 3, 3, "Unified", None, "0-1", "8M"),
                    (2, 3, 3, "Unified", None, "2-3", "8M"),
                ],
                16 << 20,
                2,
            ),
            (
                "two levels only",
                &[(0, 2, 2, "Unified", Some(0), "0-3", "2M")],
                2 << 20,
                1,
            ),
            (
                "an odd size is no cache",
                &[
                    (0, 3, 3, "Unified", Some(0), "0", "huge"),
                    (0, 2, 2, "Unified", Some(0), "0", "1M"),
                ],
                1 << 20,
                1,
            ),
        ];
        for (name, rows, total, count) in cases {
            let domains = CacheDomains::read(tree(rows).path()).unwrap();
            assert_eq!((domains.total_bytes(), domains.count()), (total, count), "{name}");
        }
    }

    #[test]
    fn no_cache_directories_is_not_supported() {
        let sys = tree(&[]);
        assert_eq!(
            CacheDomains::read(sys.path()).unwrap_err().reason,
            Reason::NotSupported
        );
        assert_eq!(
            CacheDomains::read(&sys.path().join("gone")).unwrap_err().reason,
            Reason::NotSupported
        );
    }

    #[test]
    fn an_id_the_kernel_does_not_name_gets_the_mean_size() {
        let sys = tree(&[
            (0, 3, 3, "Unified", Some(0), "0", "8M"),
            (1, 3, 3, "Unified", Some(4), "1", "16M"),
        ]);
        let domains = CacheDomains::read(sys.path()).unwrap();
        assert_eq!(
            (domains.bytes_of(0), domains.bytes_of(4), domains.bytes_of(1)),
            (8 << 20, 16 << 20, 12 << 20)
        );
    }

    proptest! {
        #[test]
        fn odd_sizes_never_panic(text in ".{0,24}") {
            parse_size(&text);
            super::super::parse_cpu_list(&text);
        }
    }
}
