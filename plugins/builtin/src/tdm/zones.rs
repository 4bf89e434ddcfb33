//! Zones whose nodes are there for a part of the day only, as the plugin's arguments describe them.

use super::NAME;
use mco_framework::conf::{Arguments, Value};
use mco_model::span::Span;
use mco_model::time::Time;

/// What arguments that describe a zone have in their name.
const ZONE: &str = "tdm.revocable-zone.";

/// The argument: how much time lies between evictions.
const PERIOD: &str = "tdm.evict.period";

const USUAL_PERIOD: Span = Span::seconds(60);
const DAY: i64 = 24 * 60 * 60;

/// The plugin's arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Zones by name, in the order of the arguments.
    pub zones: Vec<Zone>,
    /// At least so much time lies between evictions.
    pub period: Span,
}

/// A zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Its name, as label `volcano.sh/revocable-zone` of nodes has it.
    pub name: String,
    /// When its nodes are there; `None` for never.
    pub window: Option<Window>,
}

/// A part of the day, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Seconds after midnight.
    start: i64,
    /// Seconds after midnight; at or before `start`, it is of the next day.
    end: i64,
}

impl Settings {
    /// What the arguments say, and what is wrong with them. A zone whose value cannot be used is never there.
    #[must_use]
    pub fn read(arguments: &Arguments) -> (Self, Vec<String>) {
        let mut settings = Self {
            zones: Vec::new(),
            period: USUAL_PERIOD,
        };
        let mut warnings = Vec::new();
        for (key, value) in arguments.iter().filter(|(key, _)| key.contains(ZONE)) {
            let window = text(value).and_then(Window::parse);
            if window.is_none() {
                warnings.push(format!(
                    "argument `{key}` of plugin `{NAME}` is {value} ({}) but must be a part of the day like 22:00-06:30; \
                     the zone is never there",
                    value.type_name()
                ));
            }
            let name = key.replacen(ZONE, "", 1);
            settings.zones.retain(|zone| zone.name != name);
            settings.zones.push(Zone { name, window });
        }
        if let Some(value) = arguments.get(PERIOD) {
            match text(value).and_then(|text| Span::parse(text).ok()) {
                Some(period) => settings.period = period,
                None => warnings.push(format!(
                    "argument `{PERIOD}` of plugin `{NAME}` is {value} ({}) but must be a duration like 1m; it stays 1m",
                    value.type_name()
                )),
            }
        }
        (settings, warnings)
    }

    /// Whether nodes of the zone are there now; nodes of zones that nobody described are not.
    #[must_use]
    pub fn is_there(&self, zone: &str, now: Time, utc_offset: i32) -> bool {
        let described = self.zones.iter().find(|described| described.name == zone);
        described.is_some_and(|zone| zone.is_there(now, utc_offset))
    }
}

impl Zone {
    /// Whether its nodes are there now.
    #[must_use]
    pub fn is_there(&self, now: Time, utc_offset: i32) -> bool {
        let second = (now.seconds() + i64::from(utc_offset)).rem_euclid(DAY);
        self.window.is_some_and(|window| window.contains(second))
    }
}

impl Window {
    /// Reads `9:00-17:30`.
    fn parse(text: &str) -> Option<Self> {
        let (start, end) = text.trim().split_once('-')?;
        Some(Self {
            start: time_of_day(start)?,
            end: time_of_day(end)?,
        })
    }

    /// Volcano 1.9 leaves out what a window that goes over midnight has of the new day.
    fn contains(self, second: i64) -> bool {
        if self.start < self.end {
            (self.start..=self.end).contains(&second)
        } else {
            second >= self.start || second <= self.end
        }
    }
}

/// Hours with one or two digits, minutes with two, in seconds.
fn time_of_day(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(hours.len(), 1 | 2) || minutes.len() != 2 || !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60)
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, Value)]) -> (Settings, Vec<String>) {
        let arguments = pairs.iter().map(|(key, value)| (*key, value.clone())).collect();
        Settings::read(&arguments)
    }

    fn value(text: &str) -> Value {
        Value::Str(text.into())
    }

    /// 9:30 is 34200 s after midnight.
    #[test]
    fn windows_are_parts_of_the_day_with_both_ends() {
        let at = |hours: i64, minutes: i64| (hours * 60 + minutes) * 60;
        let rows: [(&str, &[i64], &[i64]); 6] = [
            (
                "9:30-17:00",
                &[34_200, at(17, 0), at(12, 0)],
                &[34_199, at(17, 0) + 1, 0],
            ),
            (" 09:30-17:00 ", &[34_200], &[34_199]),
            (
                "22:00-06:00",
                &[at(22, 0), at(23, 59), 0, at(6, 0)],
                &[at(21, 59), at(6, 0) + 1, at(12, 0)],
            ),
            ("0:00-0:00", &[0, at(12, 0), DAY - 1], &[]),
            ("12:00-12:00", &[0, at(12, 0), DAY - 1], &[]),
            ("0:00-0:01", &[0, 60], &[61, DAY - 1]),
        ];
        for (text, inside, outside) in rows {
            let (settings, warnings) = settings(&[("tdm.revocable-zone.z", value(text))]);
            assert!(warnings.is_empty(), "{warnings:?}");
            let is_there = |second: &i64| settings.is_there("z", Time::from_seconds(*second), 0);
            assert!(inside.iter().all(is_there), "{text}: inside");
            assert!(!outside.iter().any(is_there), "{text}: outside");
        }
    }

    #[test]
    fn the_day_is_local() {
        let (settings, _) = settings(&[("tdm.revocable-zone.z", value("1:00-2:00"))]);
        let there = |hour: i64, offset: i32| settings.is_there("z", Time::from_seconds(hour * 3600), offset);
        assert!(there(1, 0) && there(23, 7200) && there(2 + 24 * 9, -3600) && there(-23, 0));
        assert!(!there(1, 7200) && !there(3, 0));
        assert!(!settings.is_there("other", Time::from_seconds(3600), 0));
    }

    #[test]
    fn what_cannot_be_used_is_told_and_makes_a_zone_that_is_never_there() {
        let bad = [
            value("bad-zone"),
            value("9-17"),
            value("9:0-10:00"),
            value("24:00-1:00"),
            value("1:60-2:00"),
            value("1:00 - 2:00"),
            value("+1:00-2:00"),
            value("1:00-2:00-3:00"),
            value(""),
            Value::Int(5),
            Value::Null,
        ];
        for bad in bad {
            let (settings, warnings) = settings(&[("tdm.revocable-zone.z", bad.clone())]);
            assert_eq!(
                settings.zones,
                [Zone {
                    name: "z".into(),
                    window: None
                }],
                "{bad}"
            );
            assert!(
                warnings.len() == 1 && warnings[0].contains("`tdm.revocable-zone.z`"),
                "{bad}: {warnings:?}"
            );
        }
    }

    #[test]
    fn the_period_is_a_duration() {
        let period = |given: Value| {
            let (settings, warnings) = settings(&[(PERIOD, given)]);
            (settings.period.0 / 1_000_000_000, warnings.len())
        };
        assert_eq!(settings(&[]).0.period, USUAL_PERIOD);
        assert_eq!(period(value("1h")), (3600, 0));
        assert_eq!(period(value("0")), (0, 0));
        for bad in [value("soon"), value(""), Value::Int(5)] {
            assert_eq!(period(bad.clone()), (60, 1), "{bad}");
        }
    }

    #[test]
    fn a_zone_is_named_by_what_is_left_of_the_argument() {
        let (settings, _) = settings(&[
            ("x.tdm.revocable-zone.a.b", value("1:00-2:00")),
            ("tdm.revocable-zone.", value("1:00-2:00")),
            ("tdm.other", value("1:00-2:00")),
        ]);
        let names: Vec<&str> = settings.zones.iter().map(|zone| &*zone.name).collect();
        assert_eq!(names, ["x.a.b", ""]);
    }
}
