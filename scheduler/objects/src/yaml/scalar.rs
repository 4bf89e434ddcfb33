//! What a plain scalar means to Go's `yaml.v2`, and how Go's JSON prints it.

/// A scalar as JSON knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    /// The JSON text of a number.
    Number(String),
    Text(String),
}

impl Scalar {
    /// What a plain scalar stands for.
    ///
    /// # Errors
    /// When it is an infinity or no number, which JSON does not know.
    pub(super) fn resolve(text: &str) -> Result<Self, String> {
        Ok(match text {
            "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                Scalar::Bool(true)
            }
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                Scalar::Bool(false)
            }
            ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
            | "-.Inf" | "-.INF" => return Err(format!("JSON has no `{text}`")),
            _ => match number(text) {
                Some(number) => Scalar::Number(number),
                None => Scalar::Text(text.to_owned()),
            },
        })
    }
}

/// The JSON text of a number; `None` when the text is none.
fn number(text: &str) -> Option<String> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return None;
    }
    // Underscores are digit separators, except behind a leading point.
    let plain = if text.starts_with('.') {
        text.to_owned()
    } else {
        text.replace('_', "")
    };
    if let Some(integer) = integer(&plain) {
        return Some(integer.to_string());
    }
    let number: f64 = is_float(&plain).then(|| plain.parse().ok())??;
    number.is_finite().then(|| print(number))
}

/// An integer with sign and prefix, within `i64` and `u64`.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    // Beyond `i64` only numbers without a sign are integers.
    let signed = text.starts_with(['+', '-']);
    (value >= i64::MIN.into() && (value <= i64::MAX.into() || !signed)).then_some(value)
}

/// Whether a text has the form of a YAML 1.1 decimal float.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        ),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// A number as Go's JSON prints it: shortest digits, with an exponent below 1e-6 and from 1e21 on.
fn print(number: f64) -> String {
    let magnitude = number.abs();
    if number == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return format!("{number}");
    }
    let text = format!("{number:e}");
    if magnitude >= 1.0 {
        text.replace('e', "e+")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_kubectl_takes_them_for() {
        let number = |text: &str| Scalar::Number(text.to_owned());
        let text = |text: &str| Scalar::Text(text.to_owned());
        for (given, expected) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("y", Scalar::Bool(true)),
            ("Off", Scalar::Bool(false)),
            ("yEs", text("yEs")),
            ("1", number("1")),
            ("-1", number("-1")),
            ("+1", number("1")),
            ("1_000", number("1000")),
            ("010", number("8")),
            ("-010", number("-8")),
            ("0o17", number("15")),
            ("0x1F", number("31")),
            ("-0b11", number("-3")),
            ("08", number("8")),
            ("0x", text("0x")),
            ("18446744073709551615", number("18446744073709551615")),
            ("18446744073709551616", number("18446744073709552000")),
            ("-9223372036854775808", number("-9223372036854775808")),
            ("-9223372036854775809", number("-9223372036854776000")),
            ("1.50", number("1.5")),
            (".5", number("0.5")),
            ("5.", number("5")),
            ("1e3", number("1000")),
            ("1E21", number("1e+21")),
            ("1e-7", number("1e-7")),
            ("0.000001", number("0.000001")),
            ("1e400", text("1e400")),
            ("1e", text("1e")),
            ("1Gi", text("1Gi")),
            ("-", text("-")),
            (".", text(".")),
            ("2001-01-01", text("2001-01-01")),
            ("1:30", text("1:30")),
            ("0.0", number("0")),
        ] {
            assert_eq!(Scalar::resolve(given), Ok(expected), "{given:?}");
        }
        assert!(
            Scalar::resolve(".inf").is_err()
                && Scalar::resolve("-.INF").is_err()
                && Scalar::resolve(".nan").is_err()
        );
    }
}
