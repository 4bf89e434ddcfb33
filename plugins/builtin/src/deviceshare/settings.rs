//! The arguments of `deviceshare`.

use super::NAME;
use mco_framework::conf::{Arguments, Value};

const SHARING: &str = "deviceshare.GPUSharingEnable";
const NUMBER: &str = "deviceshare.GPUNumberEnable";
const VGPU: &str = "deviceshare.VGPUEnable";
const NODE_LOCK: &str = "deviceshare.NodeLockEnable";
const POLICY: &str = "deviceshare.SchedulePolicy";
const WEIGHT: &str = "deviceshare.ScheduleWeight";

/// Which cards are looked after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// None.
    #[default]
    Off,
    /// Plain cards, shared by memory.
    Memory,
    /// Plain cards, given whole.
    Number,
    /// Cards that nodes' agents registered.
    Registered,
    /// Ways that do not go together: pods that ask for any card go nowhere until one is chosen.
    Contradiction,
}

impl Mode {
    /// What the arguments say, and what is odd about them.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut reader = arguments.reader(NAME);
        let mut on = |key| reader.bool(key).unwrap_or(false);
        let (memory, number, registered) = (on(SHARING), on(NUMBER), on(VGPU));
        let locks = on(NODE_LOCK);
        // The score was never used in Volcano 1.9; its arguments are checked all the same.
        reader.int(WEIGHT);
        if arguments.get(POLICY).is_some_and(|value| *value != Value::Null) {
            reader.str(POLICY);
        }
        let mut warnings: Vec<String> = reader.into_warnings().iter().map(ToString::to_string).collect();
        if locks {
            warnings.push(format!(
                "argument `{NODE_LOCK}` of plugin `{NAME}` has no effect: cards are written together with the binding, so \
                 that no lock is needed"
            ));
        }
        let mode = match (memory, number, registered) {
            (false, false, false) => Self::Off,
            (true, false, false) => Self::Memory,
            (false, true, false) => Self::Number,
            (false, false, true) => Self::Registered,
            _ => {
                warnings.push(format!(
                    "arguments `{SHARING}`, `{NUMBER}` and `{VGPU}` of plugin `{NAME}` do not go together: pods that ask for \
                     cards go nowhere until one of them alone is true"
                ));
                Self::Contradiction
            }
        };
        (mode, warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_at_a_time() {
        let rows = [
            (vec![], Mode::Off, 0),
            (vec![(SHARING, true)], Mode::Memory, 0),
            (vec![(SHARING, false), (NUMBER, true)], Mode::Number, 0),
            (vec![(VGPU, true)], Mode::Registered, 0),
            (vec![(SHARING, true), (NUMBER, true)], Mode::Contradiction, 1),
            (vec![(NUMBER, true), (VGPU, true)], Mode::Contradiction, 1),
            (vec![(NODE_LOCK, true), (VGPU, true)], Mode::Registered, 1),
        ];
        for (pairs, mode, warned) in rows {
            let arguments = pairs.iter().map(|(key, on)| (*key, Value::Bool(*on))).collect();
            let (found, warnings) = Mode::read(&arguments);
            assert_eq!((found, warnings.len()), (mode, warned), "{pairs:?}: {warnings:?}");
        }
    }

    #[test]
    fn values_of_another_type_are_told_and_leave_the_default() {
        let text = |text: &str| Value::Str(text.into());
        for (key, value) in [
            (SHARING, text("true")),
            (VGPU, Value::Int(1)),
            (WEIGHT, text("5")),
            (POLICY, Value::Int(3)),
        ] {
            let (mode, warnings) = Mode::read(&[(key, value)].into_iter().collect());
            assert_eq!(mode, Mode::Off, "{key}");
            assert!(
                warnings.len() == 1 && warnings[0].contains(&format!("`{key}`")),
                "{warnings:?}"
            );
        }
        for policy in ["binpack", "spread", "sideways"] {
            let (_, warnings) = Mode::read(&[(POLICY, text(policy))].into_iter().collect());
            assert!(warnings.is_empty(), "{policy}");
        }
    }
}
