//! What quantities do beyond the recorded cases: no panic, no wrapping, no loss on printing, errors that help.

use proptest::prelude::*;

use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap()
}

#[test]
fn what_does_not_fit_saturates_and_keeps_its_sign() {
    for (text, value, milli) in [
        ("9223372036854775807", i64::MAX, i64::MAX),
        ("9223372036854775808", i64::MAX, i64::MAX),
        ("-9223372036854775808", i64::MIN, i64::MIN),
        ("-9223372036854775809", i64::MIN, i64::MIN),
        ("9223372036854775.807", 9_223_372_036_854_776, i64::MAX),
        ("9223372036854775807.1m", 9_223_372_036_854_776, i64::MAX),
        ("1e400", i64::MAX, i64::MAX),
        ("-1e400", i64::MIN, i64::MIN),
        ("1e9223372036854775807", i64::MAX, i64::MAX),
        ("123456789012345678901e9223372036854775807", i64::MAX, i64::MAX),
        ("1e-9223372036854775808", 1, 1),
        ("-1e-9223372036854775808", -1, -1),
        ("-0.1n", -1, -1),
        ("16Ei", i64::MAX, i64::MAX),
        ("-16Ei", -i64::MAX, i64::MIN),
        ("-1.5Ki", -1536, -1_536_000),
        ("1e30", i64::MAX, i64::MAX),
        ("0e30", 0, 0),
    ] {
        let quantity = quantity(text);
        assert_eq!(
            (quantity.value(), quantity.milli_value()),
            (value, milli),
            "{text}"
        );
    }
}

#[test]
fn rounding_is_away_from_zero_and_only_below_a_nano() {
    for (text, canonical) in [
        ("0.9999999999", "1"),
        ("1.0000000001", "1000000001n"),
        ("-1.0000000001", "-1000000001n"),
        ("99.9999999999999999999999", "100"),
        ("0.1n", "1n"),
        ("1.00000000000000000000000000000000000001Ki", "1024000000001n"),
        ("0.0001Ki", "102400u"),
        ("0.5Mi", "512Ki"),
        ("1.1Ki", "1126400m"),
    ] {
        assert_eq!(quantity(text).canonical(), canonical, "{text}");
    }
}

#[test]
fn canonical_drops_powers_beyond_exa_as_kubernetes_does_and_display_does_not() {
    let huge = quantity("100000000000000000000000");
    assert_eq!(
        (huge.canonical().as_str(), huge.to_string().as_str()),
        ("100", "100e21")
    );
    assert_eq!(quantity("100e21"), huge);
}

#[test]
fn comparison_looks_at_the_amount_alone() {
    assert_eq!(quantity("1000m"), quantity("1"));
    assert_eq!(quantity("1Ki"), quantity("1.024k"));
    assert_eq!(quantity("0"), quantity("-0Ki"));
    let ascending = [
        "-1e40", "-10", "-9", "-1n", "0", "1n", "0.5", "1", "1.5", "9", "10", "1Ki", "1e40", "2e40",
    ];
    assert!(ascending.map(quantity).is_sorted());
}

#[test]
fn nanos_are_exact() {
    for (text, nanos) in [
        ("1", 1_000_000_000),
        ("1.5n", 2),
        ("-250m", -250_000_000),
        ("1e-3", 1_000_000),
        ("0", 0),
    ] {
        assert_eq!(quantity(text).nanos(), nanos, "{text}");
    }
    assert_eq!(
        quantity("12345678901234567890").nanos(),
        12_345_678_901_234_567_890_000_000_000
    );
    assert_eq!(
        (quantity("1e400").nanos(), quantity("-1e400").nanos()),
        (i128::MAX, i128::MIN)
    );
    assert_eq!(Quantity::from_value(0, Format::DecimalSi).nanos(), 0);
    assert_eq!(Quantity::from_milli(1500, Format::DecimalSi).to_string(), "1500m");
}

#[test]
fn errors_name_the_text_and_what_is_wrong() {
    for (text, message) in [
        (
            "",
            "`` is no quantity: it is empty; write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
        (
            "1GB",
            "`1GB` is no quantity: unexpected 'B' after 2 bytes; write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
        (
            "1K",
            "`1K` is no quantity: unknown suffix `K`; write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
        (
            "1\n",
            r"`1\n` is no quantity: unexpected '\n' after 1 bytes; write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
        (
            "e-20",
            "`e-20` is no quantity: it has no digits; write it like 2, 1.5, 500m, 4Gi or 1e3",
        ),
    ] {
        assert_eq!(Quantity::parse(text).unwrap_err().to_string(), message);
    }
    let long = Quantity::parse(&"x".repeat(1_000_000)).unwrap_err();
    assert!(long.to_string().len() < 200 && long.text.len() == 1_000_000);
}

#[test]
fn a_megabyte_of_digits_is_read_in_linear_time() {
    let nines = "9".repeat(1_000_000);
    assert_eq!(quantity(&nines).value(), i64::MAX);
    assert_eq!(quantity(&format!("0.{nines}Ei")).value(), 1 << 60);
    assert_eq!(quantity(&format!("{nines}Ei")).value(), i64::MAX);
    assert_eq!(quantity(&format!("0.{nines}")).canonical(), "1");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        if let Ok(quantity) = Quantity::parse_trimmed(&text) {
            let _ = (quantity.value(), quantity.milli_value(), quantity.as_f64(), quantity.canonical(), quantity.nanos());
        }
    }

    #[test]
    fn printing_loses_nothing(text in "[-+]?[0-9]{0,30}(\\.[0-9]{0,30})?([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,19})?") {
        if let Ok(quantity) = Quantity::parse(&text) {
            let _ = (quantity.value(), quantity.milli_value(), quantity.as_f64(), quantity.nanos());
            prop_assert_eq!(&Quantity::parse(&quantity.to_string()).unwrap(), &quantity);
            let spelled = quantity.canonical_of(&text);
            if quantity.canonical() == quantity.to_string() {
                prop_assert_eq!(&Quantity::parse(&spelled).unwrap(), &quantity);
            }
        }
    }

    #[test]
    fn amounts_agree_with_floating_point(value in -1_000_000_000_i64..1_000_000_000, places in 0_u32..9, unit in 0_usize..12) {
        let units = ["n", "u", "m", "", "k", "M", "Ki", "Mi", "e3", "e-2", "E2", "Gi"];
        let factors = [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1024.0, 1048576.0, 1e3, 1e-2, 1e2, 1073741824.0];
        let digits = format!("{:0width$}", value.unsigned_abs(), width = places as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places as usize);
        let text = format!("{}{whole}.{fraction}{}", if value < 0 { "-" } else { "" }, units[unit]);
        let expected = value as f64 / 10_f64.powi(places as i32) * factors[unit];
        let got = quantity(&text);
        prop_assert!((got.as_f64() - expected).abs() <= 1e-9 + expected.abs() * 1e-12, "{text}: {} {expected}", got.as_f64());
        prop_assert_eq!(got.sign(), value.signum() as i32);
        prop_assert!((got.value() as f64).abs() >= expected.abs() - expected.abs() * 1e-12);
    }
}
