//! Whether the report can be trusted: its age by the scheduler's own clock.

use mco_model::interference::InterferenceReport;
use mco_model::time::Time;

/// What is known of the report's age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freshness {
    /// Young enough; its age in seconds.
    Fresh(f64),
    /// Too old, or of an age that cannot be told.
    Expired,
    /// There is none.
    Missing,
}

impl Freshness {
    /// The age in seconds of a report that can be trusted.
    #[must_use]
    pub fn age(self) -> Option<f64> {
        match self {
            Freshness::Fresh(age) => Some(age),
            Freshness::Expired | Freshness::Missing => None,
        }
    }
}

/// Judges the report at `now`. A report that was seen to change is as old as that sight, whatever the clock of its
/// writer says. The one found at start has only its own time stamp: absent or in the future, it has expired.
#[must_use]
pub fn judge(report: Option<&InterferenceReport>, now: Time, ttl_seconds: f64) -> Freshness {
    let Some(report) = report else {
        return Freshness::Missing;
    };
    let age = match report.changed_at {
        // The own clock may have been set back since.
        Some(seen) => Some(now.seconds_since(seen).max(0.0)),
        None => report
            .last_update
            .map(|stamp| now.seconds_since(stamp))
            .filter(|age| *age >= 0.0),
    };
    match age {
        Some(age) if age <= ttl_seconds => Freshness::Fresh(age),
        _ => Freshness::Expired,
    }
}

/// What is odd about the clock of the report's writer, when it is off by more than the report may age.
pub(crate) fn clock_warning(report: &InterferenceReport, now: Time, ttl_seconds: f64) -> Option<String> {
    let stamp = report.last_update?;
    let (seen, off) = match report.changed_at {
        Some(seen) => (seen, ttl_seconds),
        // Found at start: it may be old, but not from the future.
        None if now < stamp => (now, 0.0),
        None => return None,
    };
    let difference = stamp.seconds_since(seen);
    (difference.abs() > off).then(|| {
        let direction = if difference > 0.0 { "ahead of" } else { "behind" };
        format!(
            "the interference report's lastUpdateTime is {:.0} s {direction} the scheduler's clock: set the clocks of \
             both hosts",
            difference.abs()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000;
    const TTL: f64 = 30.0;

    fn report(last_update: Option<i64>, changed_at: Option<i64>) -> InterferenceReport {
        InterferenceReport {
            last_update: last_update.map(Time::from_seconds),
            changed_at: changed_at.map(Time::from_seconds),
            ..InterferenceReport::default()
        }
    }

    #[test]
    fn a_report_is_as_old_as_the_sight_of_its_change() {
        let rows = [
            // name, its stamp, seen to change, verdict, warned
            (
                "found at start, young",
                Some(970),
                None,
                Freshness::Fresh(30.0),
                false,
            ),
            ("found at start, old", Some(969), None, Freshness::Expired, false),
            (
                "found at start, without a stamp",
                None,
                None,
                Freshness::Expired,
                false,
            ),
            (
                "found at start, from the future",
                Some(1001),
                None,
                Freshness::Expired,
                true,
            ),
            ("seen, young", Some(999), Some(999), Freshness::Fresh(1.0), false),
            ("seen long ago", Some(969), Some(969), Freshness::Expired, false),
            (
                "seen, by a slow clock",
                Some(10),
                Some(999),
                Freshness::Fresh(1.0),
                true,
            ),
            (
                "seen, by a fast clock",
                Some(5000),
                Some(999),
                Freshness::Fresh(1.0),
                true,
            ),
            (
                "seen, without a stamp",
                None,
                Some(999),
                Freshness::Fresh(1.0),
                false,
            ),
            (
                "seen before the own clock was set back",
                None,
                Some(1500),
                Freshness::Fresh(0.0),
                false,
            ),
        ];
        for (name, last_update, changed_at, expected, warned) in rows {
            let report = report(last_update, changed_at);
            let now = Time::from_seconds(NOW);
            assert_eq!(judge(Some(&report), now, TTL), expected, "{name}");
            let warning = clock_warning(&report, now, TTL);
            assert_eq!(warning.is_some(), warned, "{name}: {warning:?}");
        }
        assert_eq!(judge(None, Time::from_seconds(NOW), TTL), Freshness::Missing);
    }

    #[test]
    fn a_part_of_a_second_past_the_limit_is_too_old() {
        let report = InterferenceReport {
            changed_at: Some(Time(0)),
            ..InterferenceReport::default()
        };
        assert_eq!(judge(Some(&report), Time(30_000), TTL), Freshness::Fresh(30.0));
        assert_eq!(judge(Some(&report), Time(30_001), TTL), Freshness::Expired);
    }
}
