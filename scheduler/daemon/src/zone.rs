//! How far local time is ahead of UTC: some plugins speak of parts of the day.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mco_model::time::Time;

/// Seconds that local time, by `TZ` or the system, is ahead of UTC at that moment.
pub(crate) fn utc_offset(moment: Time) -> i32 {
    offset_in(&TimeZone::system(), moment)
}

fn offset_in(zone: &TimeZone, moment: Time) -> i32 {
    Timestamp::from_millisecond(moment.0).map_or(0, |moment| zone.to_offset(moment).seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::Offset;

    #[test]
    fn the_offset_is_that_of_the_zone() {
        let zone = TimeZone::fixed(Offset::constant(-3));
        assert_eq!(offset_in(&zone, Time::default()), -3 * 3600);
        assert_eq!(offset_in(&zone, Time(i64::MAX)), 0, "no such moment");
        assert_eq!(offset_in(&TimeZone::UTC, Time::default()), 0);
    }
}
