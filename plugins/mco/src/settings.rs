//! What the plugin's arguments ask for.

use crate::NAME;
use crate::section::{Section, not_a_mapping};
use mco_framework::conf::Arguments;

/// The plugin's arguments, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `crName`: name of the NodeInterferenceReport to go by.
    pub cr_name: String,
    /// `crStatusTTLSeconds`: a report older than this does not count.
    pub ttl_seconds: f64,
    /// `hardConstraints.psiMemoryFullAvg10`, percent: nodes above it are filtered out.
    pub psi_memory_full_avg10: f64,
    /// `hardConstraints.psiMemoryFullAvg10Release`, percent: a node that was filtered out comes back at or below it.
    pub psi_memory_full_avg10_release: f64,
    /// `hardConstraints.psiIoSomeAvg10Threshold`, percent: nodes above it are filtered out.
    pub psi_io_some_avg10: f64,
    /// `hardConstraints.psiIoSomeAvg10Release`, percent: a node that was filtered out comes back at or below it.
    pub psi_io_some_avg10_release: f64,
    /// `hardConstraints.holdSeconds`: a node that was filtered out does not come back before that long after it was last
    /// seen over the limit.
    pub hold_seconds: f64,
    /// `maxExcludedRatio`, 0 to 1: when more than this part of the nodes a pod could go to is over a hard limit, nodes
    /// are scored but not filtered. At 1 they are always filtered.
    pub max_excluded_ratio: f64,
    /// `expectedLoad.levelPerTask`, 0 to 1: by how much each pod placed of late raises its node's level for scoring.
    pub expected_level_per_task: f64,
    /// `expectedLoad.seconds`: how long a pod counts as placed of late.
    pub expected_seconds: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cr_name: "cluster".to_owned(),
            ttl_seconds: 30.0,
            psi_memory_full_avg10: 0.0,
            psi_memory_full_avg10_release: 0.0,
            psi_io_some_avg10: 20.0,
            psi_io_some_avg10_release: 20.0,
            hold_seconds: 0.0,
            max_excluded_ratio: 1.0,
            expected_level_per_task: 0.0,
            expected_seconds: 10.0,
        }
    }
}

const CR_NAME: &str = "crName";
const TTL: &str = "crStatusTTLSeconds";
const HARD: &str = "hardConstraints";
const MEMORY_FULL: &str = "psiMemoryFullAvg10";
const MEMORY_FULL_RELEASE: &str = "psiMemoryFullAvg10Release";
const IO_SOME: &str = "psiIoSomeAvg10Threshold";
const IO_SOME_RELEASE: &str = "psiIoSomeAvg10Release";
const HOLD: &str = "holdSeconds";
const FALLBACK: &str = "fallbackWhenCROutdated";
const MAX_EXCLUDED: &str = "maxExcludedRatio";
const EXPECTED: &str = "expectedLoad";
const PER_TASK: &str = "levelPerTask";
const SECONDS: &str = "seconds";
/// What is remembered is bounded by the pods placed in this time.
const MOST_EXPECTED_SECONDS: f64 = 3600.0;

impl Settings {
    /// The settings that `arguments` ask for, nested under the plugin's name or not, and what is odd about them. A value
    /// that cannot be used leaves the default.
    #[must_use]
    pub fn from_arguments(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        if let Some(value) = arguments.get(NAME)
            && value.as_map().is_none()
        {
            warnings.push(not_a_mapping(NAME, value));
        }
        let top = arguments.nested_or_flat(NAME);
        let mut settings = Self::default();
        let mut section = Section::of(&top, "");
        settings.read_top(&mut section);
        section.unknown(&[CR_NAME, TTL, HARD, FALLBACK, MAX_EXCLUDED, EXPECTED, NAME]);
        warnings.extend(section.into_warnings());
        within(&top, HARD, "hardConstraints.", &mut warnings, |section| {
            settings.read_hard_constraints(section)
        });
        within(&top, EXPECTED, "expectedLoad.", &mut warnings, |section| {
            settings.read_expected_load(section)
        });
        (settings, warnings)
    }

    /// A node over a hard limit may stay filtered out although its figures are below.
    pub(crate) fn holds_on(&self) -> bool {
        self.hold_seconds > 0.0
            || self.psi_memory_full_avg10_release < self.psi_memory_full_avg10
            || self.psi_io_some_avg10_release < self.psi_io_some_avg10
    }

    /// Pods placed of late count as expected load.
    pub(crate) fn expects_load(&self) -> bool {
        self.expected_level_per_task > 0.0
    }

    fn read_top(&mut self, section: &mut Section<'_>) {
        self.cr_name = section.text(CR_NAME, &self.cr_name);
        self.ttl_seconds = section.number(TTL, self.ttl_seconds, 0.0, f64::MAX);
        self.max_excluded_ratio = section.number(MAX_EXCLUDED, self.max_excluded_ratio, 0.0, 1.0);
        if section.bool(FALLBACK) == Some(false) {
            section.warn(
                FALLBACK,
                "is false, which has no effect: a report that is too old never counts",
            );
        }
    }

    fn read_hard_constraints(&mut self, section: &mut Section<'_>) {
        let mut limit = |key, release_key, default| {
            let limit = section.number(key, default, 0.0, f64::INFINITY);
            (limit, section.number(release_key, limit, 0.0, limit))
        };
        (self.psi_memory_full_avg10, self.psi_memory_full_avg10_release) =
            limit(MEMORY_FULL, MEMORY_FULL_RELEASE, self.psi_memory_full_avg10);
        (self.psi_io_some_avg10, self.psi_io_some_avg10_release) =
            limit(IO_SOME, IO_SOME_RELEASE, self.psi_io_some_avg10);
        self.hold_seconds = section.number(HOLD, self.hold_seconds, 0.0, f64::MAX);
        section.unknown(&[MEMORY_FULL, MEMORY_FULL_RELEASE, IO_SOME, IO_SOME_RELEASE, HOLD]);
    }

    fn read_expected_load(&mut self, section: &mut Section<'_>) {
        self.expected_level_per_task = section.number(PER_TASK, self.expected_level_per_task, 0.0, 1.0);
        self.expected_seconds = section.number(SECONDS, self.expected_seconds, 0.0, MOST_EXPECTED_SECONDS);
        section.unknown(&[PER_TASK, SECONDS]);
    }
}

/// Reads the mapping under `key`, when there is one.
fn within(
    top: &Arguments,
    key: &str,
    prefix: &'static str,
    warnings: &mut Vec<String>,
    read: impl FnOnce(&mut Section<'_>),
) {
    let Some(value) = top.get(key) else { return };
    match top.nested(key) {
        Some(arguments) => {
            let mut section = Section::of(&arguments, prefix);
            read(&mut section);
            warnings.extend(section.into_warnings());
        }
        None => warnings.push(not_a_mapping(key, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::map;
    use mco_framework::conf::Value;

    fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    #[test]
    fn arguments_of_the_guide_nested_or_flat() {
        let hard = map(&[
            (MEMORY_FULL, Value::Int(1)),
            (MEMORY_FULL_RELEASE, Value::Float(0.5)),
            (IO_SOME, Value::Float(15.5)),
            (IO_SOME_RELEASE, Value::Int(10)),
            (HOLD, Value::Int(45)),
        ]);
        let pairs = [
            (CR_NAME, text("other")),
            (TTL, Value::Int(60)),
            (HARD, hard),
            (FALLBACK, Value::Bool(true)),
            (MAX_EXCLUDED, Value::Float(0.5)),
            (
                EXPECTED,
                map(&[(PER_TASK, Value::Float(0.05)), (SECONDS, Value::Int(30))]),
            ),
        ];
        let flat: Arguments = pairs.iter().cloned().collect();
        let nested: Arguments = [(NAME, map(&pairs))].into_iter().collect();
        let expected = Settings {
            cr_name: "other".into(),
            ttl_seconds: 60.0,
            psi_memory_full_avg10: 1.0,
            psi_memory_full_avg10_release: 0.5,
            psi_io_some_avg10: 15.5,
            psi_io_some_avg10_release: 10.0,
            hold_seconds: 45.0,
            max_excluded_ratio: 0.5,
            expected_level_per_task: 0.05,
            expected_seconds: 30.0,
        };
        for arguments in [flat, nested] {
            assert_eq!(Settings::from_arguments(&arguments), (expected.clone(), vec![]));
        }
        assert_eq!(
            Settings::from_arguments(&Arguments::default()),
            (Settings::default(), vec![])
        );
    }

    #[test]
    fn what_cannot_be_used_leaves_the_default_and_a_warning_that_names_it() {
        let hard = |key: &str, value: Value| (HARD, map(&[(key, value)]));
        let load = |key: &str, value: Value| (EXPECTED, map(&[(key, value)]));
        let rows = [
            ((TTL, Value::Int(-1)), TTL),
            ((TTL, Value::Float(f64::NAN)), TTL),
            ((TTL, Value::Float(f64::INFINITY)), TTL),
            ((TTL, text("30")), TTL),
            ((CR_NAME, Value::Int(5)), CR_NAME),
            ((CR_NAME, text("")), CR_NAME),
            ((MAX_EXCLUDED, Value::Float(1.5)), MAX_EXCLUDED),
            ((FALLBACK, Value::Bool(false)), FALLBACK),
            ((FALLBACK, text("no")), FALLBACK),
            ((HARD, Value::Int(20)), HARD),
            ((NAME, Value::Null), NAME),
            (("crStatusTtlSeconds", Value::Int(5)), "crStatusTtlSeconds"),
            (
                hard(MEMORY_FULL, Value::Int(-1)),
                "hardConstraints.psiMemoryFullAvg10",
            ),
            (
                hard(IO_SOME, Value::Float(f64::NAN)),
                "hardConstraints.psiIoSomeAvg10Threshold",
            ),
            (
                hard(IO_SOME, text("20")),
                "hardConstraints.psiIoSomeAvg10Threshold",
            ),
            (
                hard(IO_SOME_RELEASE, Value::Float(20.5)),
                "hardConstraints.psiIoSomeAvg10Release",
            ),
            (
                hard(IO_SOME_RELEASE, Value::Int(-1)),
                "hardConstraints.psiIoSomeAvg10Release",
            ),
            (
                hard(IO_SOME_RELEASE, Value::Float(f64::NAN)),
                "hardConstraints.psiIoSomeAvg10Release",
            ),
            (
                hard(IO_SOME_RELEASE, text("10")),
                "hardConstraints.psiIoSomeAvg10Release",
            ),
            (
                hard(MEMORY_FULL_RELEASE, Value::Int(1)),
                "hardConstraints.psiMemoryFullAvg10Release",
            ),
            (hard(HOLD, Value::Int(-1)), "hardConstraints.holdSeconds"),
            (
                hard(HOLD, Value::Float(f64::INFINITY)),
                "hardConstraints.holdSeconds",
            ),
            (hard(HOLD, Value::Bool(true)), "hardConstraints.holdSeconds"),
            ((EXPECTED, Value::Float(0.1)), EXPECTED),
            (load(PER_TASK, Value::Float(1.5)), "expectedLoad.levelPerTask"),
            (load(PER_TASK, Value::Float(-0.1)), "expectedLoad.levelPerTask"),
            (
                load(PER_TASK, Value::Float(f64::NAN)),
                "expectedLoad.levelPerTask",
            ),
            (load(PER_TASK, text("0.1")), "expectedLoad.levelPerTask"),
            (load(SECONDS, Value::Int(-1)), "expectedLoad.seconds"),
            (load(SECONDS, Value::Int(3601)), "expectedLoad.seconds"),
            (load(SECONDS, Value::Bool(false)), "expectedLoad.seconds"),
            (load("perTask", Value::Float(0.1)), "expectedLoad.perTask"),
            (
                hard("psiIoSomeAvg10", Value::Int(5)),
                "hardConstraints.psiIoSomeAvg10",
            ),
        ];
        for ((key, value), named) in rows {
            let arguments: Arguments = [(key, value.clone())].into_iter().collect();
            let (settings, warnings) = Settings::from_arguments(&arguments);
            assert_eq!(settings, Settings::default(), "{key}: {value}");
            assert_eq!(warnings.len(), 1, "{key}: {value}: {warnings:?}");
            assert!(
                warnings[0].contains(&format!("`{named}`")),
                "{named}: {warnings:?}"
            );
        }
    }

    #[test]
    fn release_values_go_by_the_limits_that_hold() {
        let rows = [
            // limit, release value, limit that holds, release value that holds, warnings
            (Value::Int(50), None, 50.0, 50.0, 0),
            (Value::Int(50), Some(Value::Int(50)), 50.0, 50.0, 0),
            (Value::Int(50), Some(Value::Int(0)), 50.0, 0.0, 0),
            (Value::Int(50), Some(Value::Int(51)), 50.0, 50.0, 1),
            (Value::Int(-5), Some(Value::Int(15)), 20.0, 15.0, 1),
            (Value::Int(-5), Some(Value::Int(30)), 20.0, 20.0, 2),
        ];
        for (limit, release, expected_limit, expected_release, warned) in rows {
            let mut pairs = vec![(IO_SOME, limit.clone())];
            pairs.extend(release.map(|release| (IO_SOME_RELEASE, release)));
            let arguments = [(HARD, map(&pairs))].into_iter().collect();
            let (settings, warnings) = Settings::from_arguments(&arguments);
            let found = (settings.psi_io_some_avg10, settings.psi_io_some_avg10_release);
            assert_eq!(found, (expected_limit, expected_release), "{pairs:?}");
            assert_eq!(warnings.len(), warned, "{pairs:?}: {warnings:?}");
            assert_eq!(
                settings.holds_on(),
                expected_release < expected_limit,
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn a_limit_without_end_turns_a_filter_off() {
        let pairs = [(HARD, map(&[(IO_SOME, Value::Float(f64::INFINITY))]))];
        let (settings, warnings) = Settings::from_arguments(&pairs.into_iter().collect());
        assert_eq!((settings.psi_io_some_avg10, warnings.len()), (f64::INFINITY, 0));
    }
}
