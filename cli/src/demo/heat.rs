//! How hot a node is, and why: by the report's entry and by the hard limits of the configuration.

use mco_crds::NodeEntry;
use mco_framework::conf::SchedulerConf;
use mco_plugin::Settings;

/// mco-plugin's hard limits in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `hardConstraints.psiMemoryFullAvg10`.
    pub memory_full: f64,
    /// `hardConstraints.psiIoSomeAvg10Threshold`.
    pub io_some: f64,
}

impl Limits {
    /// The limits that the configuration sets; `None` when it does not use the plugin.
    pub fn of(conf: &SchedulerConf) -> Option<Self> {
        let option = conf.plugins().find(|option| option.name == mco_plugin::NAME)?;
        // What is odd about the arguments is told by the cycle.
        let (settings, _) = Settings::from_arguments(&option.arguments);
        Some(Self {
            memory_full: settings.psi_memory_full_avg10,
            io_some: settings.psi_io_some_avg10,
        })
    }
}

/// How hot a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heat {
    /// Its entry is missing, stale or in error.
    Unknown,
    /// No detection, under all limits.
    Calm,
    /// A detection, but under all limits: it is scored low.
    Detected,
    /// Over a hard limit: no pod may go there.
    Excluded,
}

impl Heat {
    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Heat::Unknown => "none",
            Heat::Calm => "calm",
            Heat::Detected => "warm",
            Heat::Excluded => "hot",
        }
    }

    /// A detection or more.
    pub fn is_hot(self) -> bool {
        self >= Heat::Detected
    }
}

/// How hot the node of this entry is.
pub fn heat(entry: Option<&NodeEntry>, limits: Option<Limits>) -> Heat {
    let Some(entry) = entry.filter(|entry| entry.status.is_ok()) else {
        return Heat::Unknown;
    };
    if limits.and_then(|limits| over(entry, limits)).is_some() {
        Heat::Excluded
    } else if entry.detections.is_empty() {
        Heat::Calm
    } else {
        Heat::Detected
    }
}

/// The limit that is crossed: its name, the value and the limit. Only figures of a node with pressure figures count.
fn over(entry: &NodeEntry, limits: Limits) -> Option<(&'static str, f64, f64)> {
    let rows = [
        (
            "psi_memory_full",
            entry.metrics.psi_memory_full_avg10,
            limits.memory_full,
        ),
        ("psi_io_some", entry.metrics.psi_io_some_avg10, limits.io_some),
    ];
    let crossed = rows
        .into_iter()
        .find_map(|(name, value, limit)| Some((name, value.filter(|value| *value > limit)?, limit)));
    crossed.filter(|_| entry.psi_available)
}

/// Why the node is as hot as it is, in a line.
pub fn why(entry: Option<&NodeEntry>, limits: Option<Limits>) -> String {
    let Some(entry) = entry else {
        return "no report: scored 50".to_owned();
    };
    if !entry.status.is_ok() {
        let message = entry.message.as_deref().unwrap_or("no reason given");
        return format!("{}: {message}: scored 50", entry.status);
    }
    let mut parts = Vec::new();
    if let Some((name, value, limit)) = limits.and_then(|limits| over(entry, limits)) {
        parts.push(format!("{name} {value:.1} > {limit:.0}: kept off"));
    }
    let detections = entry.detections.iter();
    parts.extend(detections.map(|detection| match &detection.message {
        Some(message) => format!("{} ({message})", detection.kind),
        None => detection.kind.clone(),
    }));
    if parts.is_empty() {
        parts.extend(absent(entry, |source, reason| format!("{source} ({reason})")));
    }
    parts.join("; ")
}

/// The same in a few words, for a table.
pub fn why_in_short(entry: Option<&NodeEntry>, limits: Option<Limits>) -> String {
    let Some(entry) = entry else {
        return "no report".to_owned();
    };
    if !entry.status.is_ok() {
        return entry.reason.clone().unwrap_or_else(|| entry.status.to_string());
    }
    if let Some((name, value, limit)) = limits.and_then(|limits| over(entry, limits)) {
        return format!("{name} {value:.1} > {limit:.0}");
    }
    match entry.detections.is_empty() {
        false => {
            let kinds: Vec<_> = entry
                .detections
                .iter()
                .map(|detection| detection.kind.as_str())
                .collect();
            kinds.join(", ")
        }
        true => absent(entry, |source, _| source.to_owned()).unwrap_or_default(),
    }
}

/// The sources without data, if there are any.
fn absent(entry: &NodeEntry, each: impl Fn(&str, &str) -> String) -> Option<String> {
    let sources: Vec<_> = entry
        .unavailable
        .iter()
        .map(|(source, reason)| each(source, reason))
        .collect();
    (!sources.is_empty()).then(|| format!("without {}", sources.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_crds::{Detection, Metrics, NodeStatus};
    use mco_framework::conf;

    const LIMITS: Option<Limits> = Some(Limits {
        memory_full: 0.0,
        io_some: 20.0,
    });

    fn entry(io: f64, memory_full: f64) -> NodeEntry {
        NodeEntry {
            status: NodeStatus::Ok,
            psi_available: true,
            metrics: Metrics {
                psi_io_some_avg10: Some(io),
                psi_memory_full_avg10: Some(memory_full),
                ..Metrics::default()
            },
            ..NodeEntry::default()
        }
    }

    #[test]
    fn heat_follows_limits_and_detections() {
        let detected = NodeEntry {
            detections: vec![Detection {
                kind: "CachePollution".into(),
                ..Detection::default()
            }],
            ..entry(3.0, 0.0)
        };
        let rows = [
            ("at the limit", Some(entry(20.0, 0.0)), Heat::Calm, ""),
            (
                "over the limit",
                Some(entry(20.1, 0.0)),
                Heat::Excluded,
                "psi_io_some 20.1 > 20: kept off",
            ),
            (
                "memory first",
                Some(entry(50.0, 0.2)),
                Heat::Excluded,
                "psi_memory_full 0.2 > 0: kept off",
            ),
            ("detected", Some(detected), Heat::Detected, "CachePollution"),
            (
                "without pressure",
                Some(NodeEntry {
                    psi_available: false,
                    ..entry(90.0, 9.0)
                }),
                Heat::Calm,
                "",
            ),
            (
                "stale",
                Some(NodeEntry {
                    status: NodeStatus::Stale,
                    ..entry(90.0, 9.0)
                }),
                Heat::Unknown,
                "stale: no reason given: scored 50",
            ),
            ("missing", None, Heat::Unknown, "no report: scored 50"),
        ];
        for (name, entry, expected, told) in rows {
            assert_eq!(heat(entry.as_ref(), LIMITS), expected, "{name}");
            assert_eq!(why(entry.as_ref(), LIMITS), told, "{name}");
        }
        let short = |entry: &NodeEntry| why_in_short(Some(entry), LIMITS);
        assert_eq!(short(&entry(20.1, 0.0)), "psi_io_some 20.1 > 20");
        let without = NodeEntry {
            unavailable: [("llc".to_owned(), "not_supported".to_owned())].into(),
            ..entry(3.0, 0.0)
        };
        assert_eq!(short(&without), "without llc");
        assert_eq!(why(Some(&without), LIMITS), "without llc (not_supported)");
        assert_eq!(
            heat(Some(&entry(90.0, 9.0)), None),
            Heat::Calm,
            "without the plugin there is no limit"
        );
    }

    #[test]
    fn limits_come_from_the_configuration_nested_or_flat() {
        let read = |arguments: &str| {
            let text = format!("actions: allocate\ntiers:\n- plugins:\n  - name: mco-plugin\n{arguments}");
            Limits::of(&conf::read(text.as_bytes()).expect("it reads"))
        };
        assert_eq!(read(""), LIMITS);
        let nested = "    arguments:\n      mco-plugin:\n        hardConstraints:\n          psiIoSomeAvg10Threshold: 15\n";
        assert_eq!(
            read(nested),
            Some(Limits {
                memory_full: 0.0,
                io_some: 15.0
            })
        );
        let flat = "    arguments:\n      hardConstraints:\n        psiMemoryFullAvg10: 2.5\n";
        assert_eq!(
            read(flat),
            Some(Limits {
                memory_full: 2.5,
                io_some: 20.0
            })
        );
        assert_eq!(Limits::of(&SchedulerConf::built_in()), None);
    }
}
