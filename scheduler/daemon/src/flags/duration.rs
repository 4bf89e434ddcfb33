//! Durations as Go writes them.

use std::time::Duration;

/// Reads `1h30m`, `1.5s`, `300ms` and the like; `None` for anything else and for what is below zero.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut seconds = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .filter(|end| *end > 0)?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        seconds += number * unit(&rest[..end])?;
        rest = &rest[end..];
        parts += 1;
    }
    (parts > 0).then_some(())?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn unit(text: &str) -> Option<f64> {
    Some(match text {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let rows = [
            ("1s", Some(1_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("300ms", Some(300)),
            ("1m0.5s", Some(60_500)),
            ("0", Some(0)),
            ("+2s", Some(2_000)),
            ("", None),
            ("5", None),
            ("-1s", None),
            ("1d", None),
            ("s", None),
            ("1s2", None),
            ("..s", None),
        ];
        for (text, millis) in rows {
            let expected = millis.map(Duration::from_millis);
            assert_eq!(parse_duration(text), expected, "{text:?}");
        }
    }
}
