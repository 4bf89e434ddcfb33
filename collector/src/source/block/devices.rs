//! Which block devices are real, and what they are called.
//!
//! A request on a loop, RAM or stacked device is either memory or shows again on the device below it; counting it
//! would count the same wait twice.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A block device as the kernel numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId {
    /// Of the driver.
    pub major: u32,
    /// Of the device.
    pub minor: u32,
}

/// Block devices below a root of /sys, looked up once each.
#[derive(Debug)]
pub struct Devices {
    sys: PathBuf,
    known: HashMap<DeviceId, Device>,
}

#[derive(Debug, Clone)]
struct Device {
    /// Absent when the system does not show the device.
    name: Option<String>,
    kind: Kind,
}

/// What a line or a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole disk with hardware, or a network, behind it.
    Real,
    /// Memory, or stacked on other devices.
    Virtual,
    /// A part of a disk.
    Partition,
    /// The system does not say.
    Unknown,
}

impl Devices {
    /// Nothing looked up yet.
    pub fn new(sys: &Path) -> Self {
        Self {
            sys: sys.to_owned(),
            known: HashMap::new(),
        }
    }

    /// Whether requests of this device count. One that the system does not show counts: paths of multipath disks are
    /// hidden, and they are where requests really go.
    pub fn is_real(&mut self, id: DeviceId) -> bool {
        matches!(self.kind(id), Kind::Real | Kind::Unknown)
    }

    /// Whether the system shows the device.
    pub fn is_known(&mut self, id: DeviceId) -> bool {
        self.kind(id) != Kind::Unknown
    }

    /// The device's name, or `major:minor`.
    pub fn name(&mut self, id: DeviceId) -> String {
        let DeviceId { major, minor } = id;
        self.look_up(id)
            .name
            .clone()
            .unwrap_or_else(|| format!("{major}:{minor}"))
    }

    pub(super) fn kind(&mut self, id: DeviceId) -> Kind {
        self.look_up(id).kind
    }

    /// Forgets what is known, because numbers are given to other devices after a removal.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    fn look_up(&mut self, id: DeviceId) -> &Device {
        let sys = &self.sys;
        self.known.entry(id).or_insert_with(|| {
            let link = sys.join(format!("dev/block/{}:{}", id.major, id.minor));
            let Ok(target) = fs::read_link(&link) else {
                return Device {
                    name: None,
                    kind: Kind::Unknown,
                };
            };
            let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
            let is_partition = link.join("partition").exists();
            // A network block device has a server behind it although it hangs below `virtual`.
            let is_network = name.as_deref().is_some_and(|name| name.starts_with("nbd"));
            let kind = match target.to_string_lossy().contains("/virtual/block/") {
                _ if is_partition => Kind::Partition,
                true if !is_network => Kind::Virtual,
                _ => Kind::Real,
            };
            Device { name, kind }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_devices_are_told_from_stacked_ones_and_parts() {
        let sys = tempfile::tempdir().unwrap();
        let links = sys.path().join("dev/block");
        fs::create_dir_all(&links).unwrap();
        for (number, target) in [
            ("8:0", "devices/pci0000:00/ata1/block/sda"),
            ("8:1", "devices/pci0000:00/ata1/block/sda/sda1"),
            ("7:0", "devices/virtual/block/loop0"),
            ("252:3", "devices/virtual/block/dm-3"),
            ("43:0", "devices/virtual/block/nbd0"),
            ("259:1", "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"),
        ] {
            fs::create_dir_all(sys.path().join(target)).unwrap();
            std::os::unix::fs::symlink(format!("../../{target}"), links.join(number)).unwrap();
        }
        fs::write(
            sys.path()
                .join("devices/pci0000:00/ata1/block/sda/sda1/partition"),
            "1\n",
        )
        .unwrap();
        let mut devices = Devices::new(sys.path());
        for (major, minor, name, real) in [
            (8, 0, "sda", true),
            (8, 1, "sda1", false),
            (7, 0, "loop0", false),
            (252, 3, "dm-3", false),
            (43, 0, "nbd0", true),
            (259, 1, "nvme0n1", true),
            (259, 77, "259:77", true),
        ] {
            let id = DeviceId { major, minor };
            assert_eq!(
                (devices.name(id), devices.is_real(id)),
                (name.to_owned(), real),
                "{name}"
            );
        }
    }
}
