//! This machine as a node of the cluster.

use super::files::PREFIX;
use anyhow::{Context, Result, bail};
use mco_model::Event;
use mco_objects::{Options, decode};
use serde::Serialize;
use serde_json::json;

/// What the demo knows of this machine.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// The node's name: the host name in lower case, as a kubelet would register it.
    pub name: String,
    /// CPUs that this process may use.
    pub cpus: usize,
    /// MemTotal in bytes.
    pub memory_bytes: u64,
}

impl Host {
    /// Looks at the machine.
    ///
    /// # Errors
    /// When `/proc/meminfo` or the number of CPUs cannot be read.
    pub fn look() -> Result<Self> {
        let meminfo = std::fs::read_to_string("/proc/meminfo")
            .context("cannot read /proc/meminfo; the demo needs Linux")?;
        let Some(memory_bytes) = mem_total(&meminfo) else {
            bail!("/proc/meminfo has no MemTotal");
        };
        let cpus = std::thread::available_parallelism()
            .context("cannot tell the number of CPUs")?
            .get();
        let name = node_name(&rustix::system::uname().nodename().to_string_lossy());
        Ok(Self {
            name,
            cpus,
            memory_bytes,
        })
    }

    /// The event that brings it into the cluster, read from a Node object like any other.
    ///
    /// # Errors
    /// Never in practice: the object is ours.
    pub fn event(&self) -> Result<Event> {
        let amounts = json!({
            "cpu": self.cpus.to_string(),
            "memory": self.memory_bytes.to_string(),
            "pods": "110",
        });
        let object = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": {
                "kubernetes.io/hostname": self.name,
                (format!("{PREFIX}simulated")): "false",
            }},
            "status": {"allocatable": amounts, "capacity": amounts},
        });
        let decoded = decode(&serde_json::to_vec(&object)?, &Options::default())?;
        decoded.event.context("a Node object became no event")
    }
}

/// A host name as a node's name: lower case, and only characters that names of objects may have.
fn node_name(host: &str) -> String {
    let name: String = host
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        })
        .take(253)
        .collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "this-host".to_owned()
    } else {
        name.to_owned()
    }
}

fn mem_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_host_name_becomes_a_name_of_a_node() {
        let rows = [
            ("Box_1.Example", "box-1.example"),
            ("", "this-host"),
            ("-.-", "this-host"),
            ("(none)", "none"),
        ];
        for (host, name) in rows {
            assert_eq!(node_name(host), name, "{host}");
        }
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(mem_total("MemFree: 3 kB\nMemTotal:     16 kB\n"), Some(16_384));
        assert_eq!(mem_total("MemTotal: lots"), None);
    }

    #[test]
    fn the_machine_becomes_a_node_with_its_size() {
        let host = Host {
            name: "h".into(),
            cpus: 2,
            memory_bytes: 4096,
        };
        let Event::NodeSet(node) = host.event().expect("it reads") else {
            panic!("no node")
        };
        assert_eq!(
            (node.allocatable.milli_cpu, node.allocatable.memory, node.max_pods),
            (2000.0, 4096.0, 110)
        );
    }
}
