//! The arguments of `predicates`.

use super::proportional::Proportion;
use super::reasons::NAME;
use mco_framework::conf::Arguments;

/// Which filters run, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// `predicate.NodeAffinityEnable`.
    pub node_affinity: bool,
    /// `predicate.NodePortsEnable`.
    pub node_ports: bool,
    /// `predicate.TaintTolerationEnable`.
    pub taint_toleration: bool,
    /// `predicate.PodAffinityEnable`.
    pub pod_affinity: bool,
    /// `predicate.PodTopologySpreadEnable`.
    pub topology_spread: bool,
    /// `predicate.CacheEnable`.
    pub cache: bool,
    /// `predicate.ProportionalEnable` with `predicate.resources`; `None` when off.
    pub proportions: Option<Vec<Proportion>>,
}

impl Switches {
    /// What the arguments say, and what was odd about them. A value of a wrong type leaves the default.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = arguments.reader(NAME);
        let mut on = |key: &str, default: bool| reader.bool(key).unwrap_or(default);
        let mut switches = Self {
            node_affinity: on("predicate.NodeAffinityEnable", true),
            node_ports: on("predicate.NodePortsEnable", true),
            taint_toleration: on("predicate.TaintTolerationEnable", true),
            pod_affinity: on("predicate.PodAffinityEnable", true),
            topology_spread: on("predicate.PodTopologySpreadEnable", true),
            cache: on("predicate.CacheEnable", false),
            proportions: None,
        };
        // Without volumes they have nothing to switch; their type is checked all the same.
        on("predicate.NodeVolumeLimitsEnable", true);
        on("predicate.VolumeZoneEnable", true);
        let proportional = on("predicate.ProportionalEnable", false);
        let names = arguments.raw_str("predicate.resources").unwrap_or_default();
        let mut proportions: Vec<Proportion> = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let mut rate = |part: &str| {
                let rate = reader
                    .float(&format!("predicate.resources.{name}.{part}"))
                    .unwrap_or(1.0);
                if rate < 0.0 { 1.0 } else { rate }
            };
            let proportion = Proportion {
                resource: name.into(),
                cpu: rate("cpu"),
                memory: rate("memory"),
            };
            if !proportions.contains(&proportion) {
                proportions.push(proportion);
            }
        }
        switches.proportions = proportional.then_some(proportions);
        let warnings = reader.into_warnings().iter().map(ToString::to_string).collect();
        (switches, warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_framework::conf::Value;

    #[test]
    fn only_true_booleans_switch() {
        let arguments: Arguments = [
            ("predicate.NodePortsEnable", Value::Bool(false)),
            ("predicate.PodAffinityEnable", Value::Str("false".into())),
            ("predicate.CacheEnable", Value::Int(1)),
            ("predicate.VolumeZoneEnable", Value::Int(0)),
        ]
        .into_iter()
        .collect();
        let (switches, warnings) = Switches::read(&arguments);
        assert!(!switches.node_ports && switches.pod_affinity && !switches.cache);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
    }

    #[test]
    fn rates_stand_under_the_name_of_their_resource() {
        let arguments: Arguments = [
            ("predicate.ProportionalEnable", Value::Bool(true)),
            ("predicate.resources", Value::Str(" nvidia.com/gpu, ,x/y".into())),
            ("predicate.resources.nvidia.com/gpu.cpu", Value::Int(4)),
            ("predicate.resources.nvidia.com/gpu.memory", Value::Float(8.5)),
            ("predicate.resources.x/y.cpu", Value::Float(-2.0)),
        ]
        .into_iter()
        .collect();
        let (switches, warnings) = Switches::read(&arguments);
        let expected = [
            Proportion {
                resource: "nvidia.com/gpu".into(),
                cpu: 4.0,
                memory: 8.5,
            },
            Proportion {
                resource: "x/y".into(),
                cpu: 1.0,
                memory: 1.0,
            },
        ];
        assert_eq!(switches.proportions.as_deref(), Some(&expected[..]));
        assert!(warnings.is_empty());
        assert_eq!(Switches::read(&Arguments::default()).0.proportions, None);
    }
}
