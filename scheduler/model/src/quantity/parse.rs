//! Reading a quantity.
//!
//! The grammar is the one Kubernetes really accepts, which is wider than the documented one: `.`, `-`, `m` and `Ki` are
//! zeros, `5.` and `.5` are numbers.

use std::str::FromStr;

use super::decimal::{Big, shift_left};
use super::{Amount, Format, Quantity, QuantityError, QuantityFault};

/// So many decimal digits surely fit in an `i64`.
const SAFE_DIGITS: usize = 18;

/// Nothing smaller than ten to this power is told apart.
const NANO: i64 = -9;

/// A text taken apart.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether there was any digit at all, be it a leading zero.
    has_digits: bool,
    suffix: &'a str,
}

enum Unit {
    Decimal { exponent: i64, format: Format },
    Binary { power: u32 },
}

impl Quantity {
    /// Reads a quantity. Blanks are not allowed, see [`Quantity::parse_trimmed`].
    ///
    /// # Errors
    /// When the text is no quantity. Time and memory are bounded by the length of the text, whatever its exponent.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse(text).map_err(|fault| QuantityError {
            text: text.to_owned(),
            fault,
        })
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

fn parse(text: &str) -> Result<Quantity, QuantityFault> {
    let parts = split(text)?;
    let unit = unit(parts.suffix)?;
    let digits = parts.whole.len().max(1) + parts.fraction.len();
    if digits <= SAFE_DIGITS
        && let Some(quantity) = short(&parts, &unit)
    {
        return Ok(quantity);
    }
    if !parts.has_digits {
        return Err(QuantityFault::NoDigits);
    }
    Ok(long(&parts, &unit))
}

/// A number of few digits that is a multiple of a nano.
#[inline]
fn short(parts: &Parts<'_>, unit: &Unit) -> Option<Quantity> {
    let digits = parts.whole.bytes().chain(parts.fraction.bytes());
    let magnitude = digits.fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    let sign = if parts.negative { -1 } else { 1 };
    match *unit {
        Unit::Decimal { exponent, format } => {
            let exponent = exponent.checked_sub(parts.fraction.len() as i64)?;
            if exponent < NANO {
                return None;
            }
            let amount = Amount::Small {
                value: sign * magnitude,
                exponent: if magnitude == 0 { 0 } else { exponent },
            };
            let leading_zero = parts.whole.is_empty();
            let keeps_spelling = exponent % 3 == 0 && !leading_zero && !parts.ends_in_thousands();
            Some(Quantity {
                amount,
                format,
                keeps_spelling,
            })
        }
        Unit::Binary { power } => {
            if !parts.fraction.is_empty() {
                return None;
            }
            let value = sign * magnitude.saturating_mul(1 << power);
            // Kubernetes keeps the text only on its own quick way, which is taken up to about 15 digits.
            let quick = parts.whole.len().max(1) + (power as usize * 3 / 10) < 15;
            let amount = Amount::Small { value, exponent: 0 };
            Some(Quantity {
                amount,
                format: Format::BinarySi,
                keeps_spelling: quick && magnitude % 8 != 0,
            })
        }
    }
}

/// A number of many digits, or one with a part below a nano, or a binary fraction.
fn long(parts: &Parts<'_>, unit: &Unit) -> Quantity {
    let mut digits = [parts.whole, parts.fraction].concat();
    let places = -(parts.fraction.len() as i64);
    let (amount, format) = match *unit {
        Unit::Decimal { exponent, format } => (
            Big::reduce(parts.negative, &digits, places.saturating_add(exponent)).round_to(NANO),
            format,
        ),
        Unit::Binary { power } => {
            digits = shift_left(&digits, power);
            let amount = Big::reduce(parts.negative, &digits, places).round_to(NANO);
            match amount.scaled(0) {
                Some(magnitude) if magnitude <= i64::MAX as u128 => {
                    let below_one =
                        amount.exponent + (amount.digits.len() as i64) <= 0 && !amount.digits.is_empty();
                    (
                        amount,
                        if below_one {
                            Format::DecimalSi
                        } else {
                            Format::BinarySi
                        },
                    )
                }
                _ => (
                    Big::reduce(parts.negative, &i64::MAX.to_string(), 0),
                    Format::BinarySi,
                ),
            }
        }
    };
    Quantity {
        amount: pack(amount),
        format,
        keeps_spelling: false,
    }
}

fn pack(big: Big) -> Amount {
    match big.digits.parse::<i64>() {
        Ok(value) => Amount::Small {
            value: if big.negative { -value } else { value },
            exponent: big.exponent,
        },
        Err(_) if big.digits.is_empty() => Amount::default(),
        Err(_) => Amount::Big(Box::new(big)),
    }
}

fn split(text: &str) -> Result<Parts<'_>, QuantityFault> {
    let bytes = text.as_bytes();
    let (negative, start) = match bytes.first() {
        None => return Err(QuantityFault::Empty),
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        Some(_) => (false, 0),
    };
    let run = |from: usize, wanted: fn(u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| wanted(**byte)).count()
    };
    let digit: fn(u8) -> bool = |byte| byte.is_ascii_digit();

    let significant = run(start, |byte| byte == b'0');
    let point = run(significant, digit);
    let (fraction, suffix) = if bytes.get(point) == Some(&b'.') {
        let end = run(point + 1, digit);
        (&text[point + 1..end], end)
    } else {
        ("", point)
    };

    let letters = run(suffix, |byte| b"eEinumkKMGTP".contains(&byte));
    let sign = letters + usize::from(matches!(bytes.get(letters), Some(b'+' | b'-')));
    let end = run(sign, digit);
    if let Some(found) = text[end..].chars().next() {
        return Err(QuantityFault::Character { at: end, found });
    }
    Ok(Parts {
        negative,
        whole: &text[significant..point],
        fraction,
        has_digits: point > start || !fraction.is_empty(),
        suffix: &text[suffix..],
    })
}

fn unit(suffix: &str) -> Result<Unit, QuantityFault> {
    let decimal = |exponent| {
        Ok(Unit::Decimal {
            exponent,
            format: Format::DecimalSi,
        })
    };
    let binary = |power| Ok(Unit::Binary { power });
    match suffix {
        "" => decimal(0),
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => match suffix
            .strip_prefix(['e', 'E'])
            .and_then(|exponent| exponent.parse().ok())
        {
            Some(exponent) => Ok(Unit::Decimal {
                exponent,
                format: Format::DecimalExponent,
            }),
            None => Err(QuantityFault::Suffix {
                suffix: suffix.to_owned(),
            }),
        },
    }
}

impl Parts<'_> {
    /// Whether the digits, point left out, end in three zeros.
    fn ends_in_thousands(&self) -> bool {
        let mut last = self.whole.bytes().chain(self.fraction.bytes()).rev();
        (0..3).all(|_| last.next() == Some(b'0'))
    }
}
