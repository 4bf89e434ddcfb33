//! The shared cases of quantities.

mod common;

use common::{cases, number};
use mco_model::quantity::{Quantity, QuantityError};
use mco_model::resource::{Resource, ScalarNames};
use serde_json::Value;

/// Whether `got` is what was recorded, or what it should have been where upstream wrapped around or lost the sign.
fn agrees(got: i64, recorded: &Value, exact: f64) -> bool {
    Some(got) == recorded.as_i64()
        || (!held_upstream(exact, recorded.as_f64().unwrap_or(exact))
            && got.signum() as f64 == exact.signum()
            && (got as f64).abs() >= exact.abs().min(i64::MAX as f64) * (1.0 - 1e-9))
}

/// Whether upstream holds amounts like this one: they fit in 64 bits, and it did not lose the sign.
fn held_upstream(exact: f64, recorded: f64) -> bool {
    exact.abs() < i64::MAX as f64 * (1.0 - 1e-12) && !(exact < 0.0 && recorded >= 0.0)
}

fn check(
    case: &Value,
    text: &str,
    read: Result<Quantity, QuantityError>,
    expect: &Value,
) -> Result<(), String> {
    let wrong = |what: &str, got: String| {
        Err(format!(
            "{}: {what} of {text:?} is {got}, not {}",
            case["name"], expect[what]
        ))
    };
    if expect["ok"] != true {
        return match read {
            Err(_) => Ok(()),
            Ok(_) if expect["hang"] == true => Ok(()),
            Ok(quantity) => wrong("ok", quantity.to_string()),
        };
    }
    let quantity = match read {
        Ok(quantity) => quantity,
        Err(error) => return wrong("ok", error.to_string()),
    };
    let float = number(&expect["asFloat"]);
    if !(quantity.as_f64() == float || (quantity.as_f64() / float - 1.0).abs() <= 1e-12) {
        return wrong("asFloat", quantity.as_f64().to_string());
    }
    if !agrees(quantity.value(), &expect["value"], float) {
        return wrong("value", quantity.value().to_string());
    }
    if !agrees(quantity.milli_value(), &expect["milliValue"], float * 1000.0) {
        return wrong("milliValue", quantity.milli_value().to_string());
    }
    if expect["sign"] != quantity.sign() {
        return wrong("sign", quantity.sign().to_string());
    }
    if expect["format"] != quantity.format().name() {
        return wrong("format", quantity.format().name().to_owned());
    }
    if expect["canonical"] != *quantity.canonical_of(text) {
        return wrong("canonical", quantity.canonical_of(text).into_owned());
    }
    if expect
        .get("canonicalRecomputed")
        .is_some_and(|text| *text != quantity.canonical())
    {
        return wrong("canonicalRecomputed", quantity.canonical());
    }
    for (name, recorded) in expect["newResource"].as_object().into_iter().flatten() {
        if name == "pods/MaxTaskNum" {
            continue;
        }
        let mut names = ScalarNames::new();
        let resource = Resource::from_list([(name.as_str(), &quantity)], &mut names).unwrap();
        let got = match name.as_str() {
            "cpu" => Some(resource.milli_cpu),
            "memory" => Some(resource.memory),
            _ => names.get(name).and_then(|id| resource.scalar(id)),
        };
        let scale = if matches!(name.as_str(), "memory" | "pods") {
            1.0
        } else {
            1000.0
        };
        let recorded = recorded.as_f64();
        let agree = match (got, recorded) {
            (Some(got), Some(recorded)) => got == recorded || !held_upstream(float * scale, recorded),
            (got, recorded) => got.is_none() && recorded.is_none(),
        };
        if !agree {
            return Err(format!("{}: {name} is {got:?}, not {recorded:?}", case["name"]));
        }
    }
    Ok(())
}

#[test]
fn recorded_texts_read_as_in_kubernetes() {
    let mut failures = Vec::new();
    let mut passed = 0;
    for family in ["plain", "suffix", "exponent", "extreme", "malformed", "slow"] {
        for case in cases(&format!("quantities/{family}.jsonl")).into_iter().flatten() {
            let text = case["q"].as_str().unwrap();
            let trimmed = case
                .get("fromJSONString")
                .or_else(|| case["expect"].get("fromJSONString"));
            let outcome =
                check(&case, text, Quantity::parse(text), &case["expect"]).and_then(|()| match trimmed {
                    Some(expect) if expect.is_object() => {
                        check(&case, text.trim(), Quantity::parse_trimmed(text), expect)
                    }
                    Some(expect) => match Quantity::parse_trimmed(text) {
                        Ok(quantity) if expect == &quantity.canonical() => Ok(()),
                        other => Err(format!("{}: trimmed it is {other:?}, not {expect}", case["name"])),
                    },
                    None => Ok(()),
                });
            match outcome {
                Ok(()) => passed += 1,
                Err(failure) => failures.push(failure),
            }
        }
    }
    println!("{passed} cases passed");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
