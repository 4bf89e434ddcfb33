//! Printing a quantity.

use std::borrow::Cow;
use std::fmt;

use super::decimal::Big;
use super::{Format, Quantity};

impl Quantity {
    /// The text Kubernetes prints for a quantity that it has just read from `text`: simple numbers keep their spelling
    /// (`007`, `+1`, `5.`), others become [`Quantity::canonical`].
    pub fn canonical_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.keeps_spelling {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(self.canonical())
        }
    }

    /// The text Kubernetes prints for this amount.
    ///
    /// Beyond `E`, decimal amounts lose their power of ten there: 10^21 prints as `1`. `to_string` is the same text with
    /// an exponent in this case, fit to be read again.
    pub fn canonical(&self) -> String {
        self.text().0
    }

    /// The text, and the exponent it lacks.
    fn text(&self) -> (String, Option<i64>) {
        let mut number = self.reduced();
        if number.digits.is_empty() {
            return ("0".to_owned(), None);
        }
        if self.format == Format::BinarySi
            && number.exponent >= 0
            && let Some(text) = binary(&number)
        {
            return (text, None);
        }
        let surplus = number.exponent.rem_euclid(3);
        number.exponent -= surplus;
        number.digits.extend(std::iter::repeat_n('0', surplus as usize));
        let sign = if number.negative { "-" } else { "" };
        let digits = &number.digits;
        if matches!(self.format, Format::DecimalExponent | Format::Unset) {
            return match number.exponent {
                0 => (format!("{sign}{digits}"), None),
                exponent => (format!("{sign}{digits}e{exponent}"), None),
            };
        }
        match decimal_suffix(number.exponent) {
            Some(suffix) => (format!("{sign}{digits}{suffix}"), None),
            None => (format!("{sign}{digits}"), Some(number.exponent)),
        }
    }
}

/// The same as [`Quantity::canonical`], but always with its power of ten, so that it reads as the same amount again.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, exponent) = self.text();
        match exponent {
            None => f.pad(&text),
            Some(exponent) => f.pad(&format!("{text}e{exponent}")),
        }
    }
}

/// A whole number with a binary suffix; `None` when it is too small for one.
fn binary(number: &Big) -> Option<String> {
    const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let mut magnitude = number.scaled(0).filter(|magnitude| *magnitude >= 1024)?;
    let mut suffixes = SUFFIXES.iter();
    let mut suffix = suffixes.next()?;
    while magnitude % 1024 == 0 {
        suffix = suffixes.next()?;
        magnitude /= 1024;
    }
    let sign = if number.negative { "-" } else { "" };
    Some(format!("{sign}{magnitude}{suffix}"))
}

fn decimal_suffix(exponent: i64) -> Option<&'static str> {
    const SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    SUFFIXES.get(usize::try_from(exponent / 3 + 3).ok()?).copied()
}
