//! Spans of time as annotations and arguments write them, in Go's way.

use crate::time::Time;
use thiserror::Error;

/// A span in nanoseconds; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub i64);

/// A text that is no span.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no duration; write it like 1h30m, 90s or 1.5h")]
pub struct NoSpan(pub String);

impl Span {
    /// That many seconds.
    #[must_use]
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Reads `1h30m`, `1.5s`, `-300ms` and the like, as Go's `time.ParseDuration` does.
    ///
    /// # Errors
    /// A text that is no duration, or one beyond 292 years.
    pub fn parse(text: &str) -> Result<Self, NoSpan> {
        nanoseconds(text).map(Self).ok_or_else(|| NoSpan(shortened(text)))
    }

    /// The moment this long after `start`, in nanoseconds since the Unix epoch: finer than moments are kept, and never at
    /// the end of its range.
    #[must_use]
    pub fn after(self, start: Time) -> i128 {
        i128::from(start.0) * 1_000_000 + i128::from(self.0)
    }
}

impl Time {
    /// The moment in nanoseconds since the Unix epoch, to compare with [`Span::after`].
    #[must_use]
    pub fn nanoseconds(self) -> i128 {
        Span::default().after(self)
    }
}

fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let (whole, after) = leading_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => leading_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit());
        let (name, after) = after.split_at(end.unwrap_or(after.len()));
        let unit = unit(name)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let part = whole.checked_mul(unit)?.checked_add(part_of(fraction, unit))?;
        sum = sum.checked_add(part).filter(|sum| *sum <= 1 << 63)?;
        rest = after;
    }
    match (negative, i64::try_from(sum)) {
        (true, _) => Some(0_i64.wrapping_sub_unsigned(sum)),
        (false, sum) => sum.ok(),
    }
}

/// The part of a unit that digits behind the point stand for. Digits beyond what a number can hold are not looked at.
fn part_of(fraction: &str, unit: u64) -> u64 {
    let (mut number, mut scale) = (0_u64, 1.0);
    for digit in fraction.bytes() {
        let next = number
            .checked_mul(10)
            .and_then(|number| number.checked_add(u64::from(digit - b'0')));
        match next.filter(|next| *next <= 1 << 63) {
            Some(next) => (number, scale) = (next, scale * 10.0),
            None => break,
        }
    }
    (number as f64 * (unit as f64 / scale)) as u64
}

fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_go_reads_them() {
        const S: i64 = 1_000_000_000;
        let rows = [
            ("0", Some(0)),
            ("1s", Some(S)),
            ("1h30m", Some(5400 * S)),
            ("1.5h", Some(5400 * S)),
            (".5s", Some(S / 2)),
            ("1.s", Some(S)),
            ("-1m", Some(-60 * S)),
            ("+5ns", Some(5)),
            ("1h2m3s4ms5µs6ns", Some(3_723 * S + 4_005_006)),
            ("1us1μs", Some(2_000)),
            ("200000h", Some(720_000_000 * S)),
            ("2562047h47m16.854775807s", Some(i64::MAX)),
            ("-2562047h47m16.854775808s", Some(i64::MIN)),
            ("2562047h47m16.854775808s", None),
            ("99999999999999999999h", None),
            ("0.9999999999999999999999s", Some(S)),
            ("", None),
            ("-", None),
            ("5", None),
            ("1d", None),
            ("s", None),
            (".s", None),
            ("1s2", None),
            ("1 s", None),
            ("bad", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Span::parse(text).ok().map(|span| span.0), expected, "{text:?}");
        }
    }

    #[test]
    fn a_span_after_a_moment_is_exact() {
        assert_eq!(Span(5).after(Time(2)), 2_000_005);
        assert_eq!(Time(-1).nanoseconds(), -1_000_000);
        assert!(Span(i64::MAX).after(Time(i64::MAX)) > Time(i64::MAX).nanoseconds());
    }
}
