//! Kubernetes quantities: `500m`, `1.5`, `4Gi`, `1e3`.
//!
//! Amounts are exact. Nothing wraps around: what is asked for in 64 bits saturates. Below a nano everything is rounded
//! away from zero, as Kubernetes does: whoever asks for something gets something.

mod decimal;
mod parse;
mod print;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use thiserror::Error;

use decimal::{Big, POWERS, times_power_of_ten};

/// How a quantity was written, which is how it is printed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Not written at all (`null`).
    #[default]
    Unset,
    /// With the suffixes `n`, `u`, `m`, none, `k`, `M`, `G`, `T`, `P`, `E`.
    DecimalSi,
    /// With the suffixes `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`.
    BinarySi,
    /// With an exponent, as in `1e3`.
    DecimalExponent,
}

impl Format {
    /// The name Kubernetes gives this format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Unset => "",
            Format::DecimalSi => "DecimalSI",
            Format::BinarySi => "BinarySI",
            Format::DecimalExponent => "DecimalExponent",
        }
    }
}

/// A text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{}` is no quantity: {fault}; write it like 2, 1.5, 500m, 4Gi or 1e3",
    decimal::shorten(text)
)]
pub struct QuantityError {
    /// The text as it was given.
    pub text: String,
    /// What is wrong with it.
    pub fault: QuantityFault,
}

/// What is wrong with a text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityFault {
    /// There is no text.
    #[error("it is empty")]
    Empty,
    /// A character that occurs in no quantity at this place.
    #[error("unexpected {found:?} after {} bytes", at)]
    Character {
        /// Offset of the character in bytes.
        at: usize,
        /// The character.
        found: char,
    },
    /// Something behind the number that is neither a unit nor an exponent.
    #[error("unknown suffix `{}`", decimal::shorten(suffix))]
    Suffix {
        /// The part behind the number.
        suffix: String,
    },
    /// A unit or an exponent without a number.
    #[error("it has no digits")]
    NoDigits,
}

/// An exact amount and the way it was written.
///
/// Comparisons look at the amount alone: `1000m` equals `1`.
#[derive(Clone, Debug, Default)]
pub struct Quantity {
    amount: Amount,
    format: Format,
    keeps_spelling: bool,
}

#[derive(Clone, Debug)]
enum Amount {
    /// `value` times ten to the power of `exponent`. Any `value` and `exponent`; not reduced.
    Small { value: i64, exponent: i64 },
    /// More than 64 bits of digits.
    Big(Box<Big>),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Small {
            value: 0,
            exponent: 0,
        }
    }
}

impl Quantity {
    /// A whole amount.
    pub fn from_value(value: i64, format: Format) -> Self {
        Self {
            amount: Amount::Small { value, exponent: 0 },
            format,
            keeps_spelling: false,
        }
    }

    /// An amount in thousandths.
    pub fn from_milli(value: i64, format: Format) -> Self {
        Self {
            amount: Amount::Small { value, exponent: -3 },
            format,
            keeps_spelling: false,
        }
    }

    /// Reads a quantity as Kubernetes reads a JSON string: blanks around it are trimmed.
    ///
    /// # Errors
    /// When the rest is no quantity.
    pub fn parse_trimmed(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text.trim())
    }

    /// The amount in whole units, rounded away from zero; saturates at the ends of `i64`.
    pub fn value(&self) -> i64 {
        self.scaled(0)
    }

    /// The amount in thousandths, rounded away from zero; saturates at the ends of `i64`.
    pub fn milli_value(&self) -> i64 {
        self.scaled(-3)
    }

    /// The amount in billionths, which is exact unless it saturates at the ends of `i128`.
    pub fn nanos(&self) -> i128 {
        match &self.amount {
            Amount::Small { value, exponent } => {
                let (value, shift) = (i128::from(*value), exponent.saturating_add(9));
                if value == 0 {
                    return 0;
                }
                match u32::try_from(shift)
                    .ok()
                    .and_then(|shift| 10_i128.checked_pow(shift))
                {
                    Some(factor) => value.saturating_mul(factor),
                    // Amounts this small are rounded to nanos on parsing; only constructed ones could come here.
                    None if shift < 0 => value.signum(),
                    None => saturated(value.signum()),
                }
            }
            Amount::Big(big) => match big.scaled(-9) {
                Some(magnitude) => {
                    i128::try_from(magnitude).map_or(saturated(big.signum()), |m| m * big.signum())
                }
                None => saturated(big.signum()),
            },
        }
    }

    /// The amount as the closest floating-point number; infinite when beyond its range.
    pub fn as_f64(&self) -> f64 {
        match &self.amount {
            Amount::Small { value, exponent: 0 } => *value as f64,
            Amount::Small { value, exponent } => times_power_of_ten(*value, *exponent),
            Amount::Big(big) => big.as_f64(),
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match &self.amount {
            Amount::Small { value, .. } => value.signum() as i32,
            Amount::Big(big) => big.signum() as i32,
        }
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// How the quantity was written. A binary fraction below one counts as decimal.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The amount in units of ten to the power of `exponent`, rounded away from zero and saturating.
    fn scaled(&self, unit: i64) -> i64 {
        match &self.amount {
            Amount::Small { value, exponent } => scale_small(*value, exponent.saturating_sub(unit)),
            Amount::Big(big) => {
                let magnitude = big.scaled(unit).unwrap_or(u128::MAX);
                signed(magnitude, big.negative)
            }
        }
    }

    /// The amount in its one reduced form: sign, digits without zeros at either end, power of ten.
    fn reduced(&self) -> Big {
        match &self.amount {
            Amount::Small { value, exponent } => Big::from_small(*value, *exponent),
            Amount::Big(big) => (**big).clone(),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.amount, &other.amount) {
            (
                Amount::Small {
                    value: l,
                    exponent: le,
                },
                Amount::Small {
                    value: r,
                    exponent: re,
                },
            ) if le == re => l.cmp(r),
            _ => self.reduced().cmp(&other.reduced()),
        }
    }
}

fn scale_small(value: i64, shift: i64) -> i64 {
    if shift == 0 || value == 0 {
        return value;
    }
    let power = usize::try_from(shift.unsigned_abs())
        .ok()
        .and_then(|shift| POWERS.get(shift));
    match (power, shift > 0) {
        (Some(factor), true) => value.saturating_mul(*factor as i64),
        (Some(divisor), false) => signed(u128::from(value.unsigned_abs().div_ceil(*divisor)), value < 0),
        (None, true) => signed(u128::MAX, value < 0),
        (None, false) => value.signum(),
    }
}

fn signed(magnitude: u128, negative: bool) -> i64 {
    let limit = if negative { i64::MIN } else { i64::MAX };
    let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
    i64::try_from(if negative { -magnitude } else { magnitude }).unwrap_or(limit)
}

fn saturated(sign: i128) -> i128 {
    if sign < 0 { i128::MIN } else { i128::MAX }
}
