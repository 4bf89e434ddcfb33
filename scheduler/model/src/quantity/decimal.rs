//! Decimal numbers of any length, for amounts that do not fit in 64 bits.

use std::cmp::Ordering;
use std::fmt::Write as _;

/// Powers of ten that fit in an `i64`.
pub(super) const POWERS: [u64; 19] = {
    let mut powers = [1; 19];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// A number in its one reduced form: `digits` begin and end with another digit than zero and are multiplied by ten to
/// the power of `exponent`. Zero has no digits, is not negative and has the exponent zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Big {
    pub(super) negative: bool,
    pub(super) digits: String,
    pub(super) exponent: i64,
}

impl Big {
    /// Reduces a number. `digits` are ASCII digits, with zeros wherever.
    pub(super) fn reduce(negative: bool, digits: &str, exponent: i64) -> Self {
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            };
        }
        let exponent = exponent.saturating_add((digits.len() - kept.len()) as i64);
        Self {
            negative,
            digits: kept.to_owned(),
            exponent,
        }
    }

    pub(super) fn from_small(value: i64, exponent: i64) -> Self {
        Self::reduce(value < 0, &value.unsigned_abs().to_string(), exponent)
    }

    pub(super) fn signum(&self) -> i128 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Rounds away from zero to a multiple of ten to the power of `unit`.
    pub(super) fn round_to(self, unit: i64) -> Self {
        let dropped = unit.saturating_sub(self.exponent);
        if dropped <= 0 || self.digits.is_empty() {
            return self;
        }
        // The last digit is not zero, so that whatever is dropped counts.
        let kept = self
            .digits
            .len()
            .saturating_sub(usize::try_from(dropped).unwrap_or(usize::MAX));
        let mut digits: Vec<u8> = self.digits.as_bytes()[..kept].to_vec();
        let nines = digits.iter().rev().take_while(|digit| **digit == b'9').count();
        digits.truncate(kept - nines);
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => digits.push(b'1'),
        }
        let digits: String = digits.into_iter().map(char::from).collect();
        Self::reduce(self.negative, &digits, unit.saturating_add(nines as i64))
    }

    /// The magnitude in units of ten to the power of `unit`, rounded up. `None` when it does not fit.
    pub(super) fn scaled(&self, unit: i64) -> Option<u128> {
        let shift = self.exponent.saturating_sub(unit);
        if self.digits.is_empty() {
            return Some(0);
        }
        if let Ok(zeros) = u32::try_from(shift) {
            return self
                .digits
                .parse::<u128>()
                .ok()?
                .checked_mul(10_u128.checked_pow(zeros)?);
        }
        if shift > 0 {
            return None;
        }
        let dropped = usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX);
        let kept = self.digits.len().saturating_sub(dropped);
        if kept == 0 {
            return Some(1);
        }
        self.digits[..kept].parse::<u128>().ok()?.checked_add(1)
    }

    pub(super) fn as_f64(&self) -> f64 {
        let mut text = String::with_capacity(self.digits.len() + 24);
        if self.negative {
            text.push('-');
        }
        text.push_str(if self.digits.is_empty() { "0" } else { &self.digits });
        // Only what is far beyond the range of floating point is cut here.
        let reach = 10_000_i64.saturating_add(self.digits.len() as i64);
        let _ = write!(text, "e{}", self.exponent.clamp(-reach, reach));
        text.parse().unwrap_or(f64::NAN)
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.signum().cmp(&other.signum());
        if signs != Ordering::Equal || self.digits.is_empty() {
            return signs;
        }
        let top = |big: &Big| big.exponent.saturating_add(big.digits.len() as i64);
        let magnitudes = top(self)
            .cmp(&top(other))
            .then_with(|| self.digits.cmp(&other.digits));
        if self.negative {
            magnitudes.reverse()
        } else {
            magnitudes
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `digits` times two to the power of `power`, again as digits. Linear in the number of digits.
pub(super) fn shift_left(digits: &str, power: u32) -> String {
    const BASE: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = digits
        .as_bytes()
        .rchunks(9)
        .map(|chunk| {
            chunk
                .iter()
                .fold(0, |limb, digit| limb * 10 + u64::from(digit - b'0'))
        })
        .collect();
    let mut left = power;
    while left > 0 {
        let step = left.min(30);
        left -= step;
        let mut carry = 0;
        for limb in &mut limbs {
            let product = (*limb << step) + carry;
            *limb = product % BASE;
            carry = product / BASE;
        }
        while carry > 0 {
            limbs.push(carry % BASE);
            carry /= BASE;
        }
    }
    let mut text = String::with_capacity(limbs.len() * 9);
    for limb in limbs.iter().rev() {
        let _ = write!(text, "{limb:09}");
    }
    text
}

/// The closest floating-point number to `value` times ten to the power of `exponent`.
pub(super) fn times_power_of_ten(value: i64, exponent: i64) -> f64 {
    /// Up to here both the value and the power are exact, so that one operation rounds correctly.
    const EXACT: u64 = 1 << 53;
    let power = usize::try_from(exponent.unsigned_abs())
        .ok()
        .and_then(|at| POWERS.get(at));
    match power {
        Some(power) if value.unsigned_abs() <= EXACT && *power <= EXACT => {
            let (value, power) = (value as f64, *power as f64);
            if exponent < 0 {
                value / power
            } else {
                value * power
            }
        }
        _ => Big::from_small(value, exponent).as_f64(),
    }
}

/// The beginning of a text, for messages.
pub(super) fn shorten(text: &str) -> String {
    const LIMIT: usize = 64;
    match text.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}...", text[..at].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
