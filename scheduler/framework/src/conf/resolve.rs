//! What a scalar means in YAML 1.1, as upstream's reader has it: booleans, null, numbers, and tags that force a type.

use super::error::Problem;
use super::value::Value;
use super::yaml::Scalar;

/// A scalar and its type. Dates are texts, since no plugin gets to see them otherwise.
pub(super) fn resolve(scalar: &Scalar) -> Result<Value, Problem> {
    let Scalar { text, tag, plain } = scalar;
    if tag.is_empty() {
        return Ok(if *plain {
            implicit(text)
        } else {
            Value::Str(text.clone())
        });
    }
    let Some(tag) = tag.strip_prefix("tag:yaml.org,2002:") else {
        return Ok(Value::Str(text.clone()));
    };
    let value = match tag {
        "bool" | "int" | "float" | "null" | "timestamp" => implicit(text),
        "binary" => return decode_base64(text),
        _ => return Ok(Value::Str(text.clone())),
    };
    let (found, fits) = match &value {
        Value::Bool(_) => ("!!bool", tag == "bool"),
        // A large number is one to `!!int` but not to `!!float`.
        Value::Int(number) if tag == "float" => return Ok(Value::Float(*number as f64)),
        Value::Int(_) | Value::Uint(_) => ("!!int", tag == "int"),
        Value::Float(_) => ("!!float", tag == "float"),
        Value::Null => ("!!null", tag == "null"),
        _ if text == "<<" => ("!!merge", false),
        _ => ("!!str", tag == "timestamp" && is_timestamp(text)),
    };
    if fits {
        Ok(value)
    } else {
        Err(Problem::TagMismatch {
            tag: format!("!!{tag}"),
            text: text.clone(),
            found,
        })
    }
}

/// Whether this is the null that leaves a switch alone. `Null` and `NULL` mean null as well, but set a switch to off.
pub(super) fn is_absent(scalar: &Scalar) -> bool {
    match scalar.tag.as_str() {
        "tag:yaml.org,2002:null" => true,
        "" => scalar.plain && matches!(scalar.text.as_str(), "" | "~" | "null"),
        _ => false,
    }
}

fn implicit(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Value::Float(f64::NEG_INFINITY),
        _ => number(text).unwrap_or_else(|| Value::Str(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Value> {
    match text.as_bytes().first()? {
        // Here underscores must part digits; in numbers that begin otherwise they may stand anywhere.
        b'.' if underscores_part_digits(text) => float(&text.replace('_', "")),
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            integer(&digits)
                .or_else(|| float(&digits))
                .or_else(|| odd_binary(&digits))
        }
        _ => None,
    }
}

fn underscores_part_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).all(|at| bytes[at] != b'_' || (at > 0 && is_digit(at - 1) && is_digit(at + 1)))
}

/// A whole number, with the base that its prefix names; a leading nought alone means octal.
fn integer(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.get(..2).map(str::to_ascii_lowercase);
    let (base, digits) = match lower.as_deref() {
        Some("0x") => (16, &unsigned[2..]),
        Some("0b") => (2, &unsigned[2..]),
        Some("0o") => (8, &unsigned[2..]),
        _ if unsigned.len() > 1 && unsigned.starts_with('0') => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    if !digits.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    let signed = if text.starts_with('-') {
        format!("-{digits}")
    } else {
        digits.to_owned()
    };
    if let Ok(number) = i64::from_str_radix(&signed, base) {
        return Some(Value::Int(number));
    }
    let has_sign = text.len() != unsigned.len();
    u64::from_str_radix(digits, base)
        .ok()
        .filter(|_| !has_sign)
        .map(Value::Uint)
}

/// A binary number with its sign behind the prefix: `0b-101`. Upstream happens to take it.
fn odd_binary(text: &str) -> Option<Value> {
    let digits = text.strip_prefix("0b")?;
    i64::from_str_radix(digits, 2).ok().map(Value::Int)
}

/// A decimal number with point or exponent. One too large for 64 bits is none, so it stays a text.
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    if !(has_digits && is_digits(whole) && is_digits(fraction) && exponent_fits) {
        return None;
    }
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .map(Value::Float)
}

/// The text behind base64. Bytes that are no UTF-8 are replaced, since an argument is a text.
fn decode_base64(text: &str) -> Result<Value, Problem> {
    let fault = || Problem::Syntax {
        detail: "the value of `!!binary` is no valid base64".into(),
    };
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    if !symbols.len().is_multiple_of(4) {
        return Err(fault());
    }
    let padding = symbols
        .iter()
        .rev()
        .take(2)
        .take_while(|symbol| **symbol == b'=')
        .count();
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for symbol in &symbols[..symbols.len() - padding] {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(fault()),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Ok(Value::Str(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether `!!timestamp` fits: a date, or a date and a time either after `T` with a zone or after a blank without.
fn is_timestamp(text: &str) -> bool {
    let mut rest = text;
    let Some(year) = take_digits(&mut rest, 4, 4) else {
        return false;
    };
    let mut part = |separator: &str, highest: u32| {
        rest = rest.strip_prefix(separator)?;
        take_digits(&mut rest, 1, 2).filter(|number| *number <= highest)
    };
    let (Some(month), Some(day)) = (part("-", 12), part("-", 31)) else {
        return false;
    };
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let last_day = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if month == 0 || day == 0 || day > last_day {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    let zoned = !rest.starts_with(' ');
    let Some(time) = rest.strip_prefix(['T', 't', ' ']) else {
        return false;
    };
    rest = time;
    is_time(&mut rest) && (if zoned { is_zone(rest) } else { rest.is_empty() })
}

fn is_time(rest: &mut &str) -> bool {
    if take_digits(rest, 1, 2).is_none_or(|hour| hour > 23) {
        return false;
    }
    for _ in 0..2 {
        let Some(after) = rest.strip_prefix(':') else {
            return false;
        };
        *rest = after;
        if take_digits(rest, 1, 2).is_none_or(|number| number > 59) {
            return false;
        }
    }
    if let Some(fraction) = rest.strip_prefix(['.', ','])
        && fraction.starts_with(|first: char| first.is_ascii_digit())
    {
        *rest = fraction.trim_start_matches(|char: char| char.is_ascii_digit());
    }
    true
}

fn is_zone(rest: &str) -> bool {
    if rest == "Z" {
        return true;
    }
    let Some((hours, minutes)) = rest
        .strip_prefix(['+', '-'])
        .and_then(|zone| zone.split_once(':'))
    else {
        return false;
    };
    let within = |text: &str, highest: u32| {
        let mut left = text;
        take_digits(&mut left, 2, 2).is_some_and(|number| number <= highest) && left.is_empty()
    };
    within(hours, 24) && within(minutes, 60)
}

/// Takes as many digits as there are, up to `most`; `None` if they are fewer than `least`.
fn take_digits(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    let (digits, after) = rest.split_at(count);
    *rest = after;
    digits.parse().ok()
}
