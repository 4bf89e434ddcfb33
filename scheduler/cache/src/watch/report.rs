//! When the interference report was seen to change, by the scheduler's own clock.

use mco_model::interference::InterferenceReport;
use mco_model::time::Time;

/// The report as last seen.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    seen: Option<InterferenceReport>,
    /// The kind was listed once since the start: whatever comes now has changed.
    settled: bool,
}

impl Sight {
    /// Takes a report in, and marks when it changed: never, as far as can be told, for the one found at start. Returns whether
    /// it differs from what was seen before.
    pub(crate) fn see(&mut self, report: &mut InterferenceReport, now: Time) -> bool {
        if let Some(seen) = &self.seen
            && seen.last_update == report.last_update
            && seen.nodes == report.nodes
        {
            report.changed_at = seen.changed_at;
            return false;
        }
        report.changed_at = (self.settled || self.seen.is_some()).then_some(now);
        self.seen = Some(report.clone());
        true
    }

    /// The report is gone.
    pub(crate) fn gone(&mut self) {
        self.seen = None;
    }

    /// A list has ended.
    pub(crate) fn listed(&mut self) {
        self.settled = true;
    }

    /// Another report counts from now on, which will be found as if at start.
    pub(crate) fn renamed(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(last_update: i64) -> InterferenceReport {
        InterferenceReport {
            last_update: Some(Time(last_update)),
            ..InterferenceReport::default()
        }
    }

    fn see(sight: &mut Sight, last_update: i64, now: i64) -> (bool, Option<i64>) {
        let mut report = report(last_update);
        let differs = sight.see(&mut report, Time(now));
        (differs, report.changed_at.map(|at| at.0))
    }

    #[test]
    fn the_report_found_at_start_changed_nobody_knows_when() {
        let mut sight = Sight::default();
        assert_eq!(see(&mut sight, 1, 10), (true, None));
        sight.listed();
        assert_eq!(
            see(&mut sight, 1, 20),
            (false, None),
            "a list of the same is no change"
        );
        assert_eq!(see(&mut sight, 2, 30), (true, Some(30)));
        assert_eq!(see(&mut sight, 2, 40), (false, Some(30)));
    }

    #[test]
    fn a_report_that_appears_later_was_written_then() {
        let mut sight = Sight::default();
        sight.listed();
        assert_eq!(see(&mut sight, 1, 10), (true, Some(10)));
        sight.gone();
        assert_eq!(see(&mut sight, 1, 20), (true, Some(20)), "made anew");
        sight.renamed();
        assert_eq!(see(&mut sight, 1, 30), (true, None));
    }
}
