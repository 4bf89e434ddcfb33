//! Texts of quantities and the figures taken from them.

use super::number;
use crate::verdict::Verdict;
use mco_model::quantity::{Quantity, QuantityError};
use mco_model::resource::{Resource, ScalarNames};
use serde_json::{Value, json};

/// Runs a case of one text, or of one value of a manifest.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    let expect = &case["expect"];
    let Some(text) = case["q"].as_str() else {
        return Verdict::of(differences_in_manifest(
            case["scalar"].as_str().unwrap_or_default(),
            expect,
        ));
    };
    let mut differences = differences(text, Quantity::parse(text), expect);
    match case
        .get("fromJSONString")
        .or_else(|| expect.get("fromJSONString"))
    {
        Some(trimmed) if trimmed.is_object() => {
            differences.extend(self::differences(
                text.trim(),
                Quantity::parse_trimmed(text),
                trimmed,
            ));
        }
        Some(canonical) => match Quantity::parse_trimmed(text) {
            Ok(quantity) if canonical == &quantity.canonical() => {}
            other => differences.push(format!("trimmed it is {other:?}, not {canonical}")),
        },
        None => {}
    }
    Verdict::of(differences).where_upstream(fault(text, expect))
}

/// What upstream gets wrong about the text, where ours answers something else.
fn fault(text: &str, expect: &Value) -> Option<&'static str> {
    if expect["hang"] == true {
        return Some("hangs");
    }
    let quantity = Quantity::parse(text).ok()?;
    let differs = |key: &str, ours: i64| expect[key].as_i64().is_some_and(|recorded| recorded != ours);
    (differs("value", quantity.value()) || differs("milliValue", quantity.milli_value()))
        .then_some("wraps around or loses the sign")
}

fn differences(text: &str, read: Result<Quantity, QuantityError>, expect: &Value) -> Vec<String> {
    let quantity = match (read, expect["ok"] == true) {
        (Ok(quantity), true) => quantity,
        (Err(_), false) => return Vec::new(),
        (Ok(_), false) if expect["hang"] == true => return Vec::new(),
        (Ok(quantity), false) => return vec![format!("read as {quantity}, but is to be refused")],
        (Err(error), true) => return vec![format!("refused: {error}")],
    };
    let exact = number(&expect["asFloat"]);
    let mut differences = Vec::new();
    let mut check = |what: &str, agrees: bool, got: String| {
        if !agrees {
            differences.push(format!("{what} {got}, not {}", expect[what]));
        }
    };
    let float = quantity.as_f64();
    check(
        "asFloat",
        float == exact || (float / exact - 1.0).abs() <= 1e-12,
        float.to_string(),
    );
    check(
        "value",
        agrees(quantity.value(), &expect["value"], exact),
        quantity.value().to_string(),
    );
    let milli = quantity.milli_value();
    check(
        "milliValue",
        agrees(milli, &expect["milliValue"], exact * 1000.0),
        milli.to_string(),
    );
    check(
        "sign",
        expect["sign"] == quantity.sign(),
        quantity.sign().to_string(),
    );
    check(
        "format",
        expect["format"] == quantity.format().name(),
        quantity.format().name().to_owned(),
    );
    let canonical = quantity.canonical_of(text);
    check(
        "canonical",
        expect["canonical"] == *canonical,
        canonical.to_string(),
    );
    if let Some(recomputed) = expect.get("canonicalRecomputed") {
        check(
            "canonicalRecomputed",
            *recomputed == quantity.canonical(),
            quantity.canonical(),
        );
    }
    for (name, recorded) in expect["newResource"].as_object().into_iter().flatten() {
        differences.extend(difference_as_resource(name, &quantity, recorded, exact));
    }
    differences
}

fn difference_as_resource(name: &str, quantity: &Quantity, recorded: &Value, exact: f64) -> Option<String> {
    if name == "pods/MaxTaskNum" {
        return None;
    }
    let mut names = ScalarNames::new();
    let resource = match Resource::from_list([(name, quantity)], &mut names) {
        Ok(resource) => resource,
        Err(error) => return Some(error.to_string()),
    };
    let got = match name {
        "cpu" => Some(resource.milli_cpu),
        "memory" => Some(resource.memory),
        _ => names.get(name).and_then(|id| resource.scalar(id)),
    };
    let scale = if matches!(name, "memory" | "pods") {
        1.0
    } else {
        1000.0
    };
    let agree = match (got, recorded.as_f64()) {
        (Some(got), Some(recorded)) => got == recorded || !held_upstream(exact * scale, recorded),
        (got, recorded) => got.is_none() && recorded.is_none(),
    };
    (!agree).then(|| format!("{name} {got:?}, not {recorded}"))
}

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

/// A value as it stands in a manifest at `requests.cpu`, read the way objects are read.
fn differences_in_manifest(scalar: &str, expect: &Value) -> Vec<String> {
    let read = mco_objects::yaml::to_json(&format!("cpu: {scalar}\n"));
    let cpu = read.map_err(|error| error.to_string()).and_then(|document| {
        let object: Value = serde_json::from_str(&document.json).map_err(|error| error.to_string())?;
        let pod = json!({"metadata": {"name": "p", "namespace": "ns"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": object}}]}});
        let request =
            mco_objects::request_of_pod(pod.to_string().as_bytes()).map_err(|error| error.to_string())?;
        Ok(request.amounts.milli_cpu)
    });
    let recorded = expect["milliValue"].as_f64();
    match (cpu, expect["ok"] == true, recorded) {
        (Ok(cpu), true, Some(milli))
            if cpu == milli || !held_upstream(number(&expect["asFloat"]) * 1000.0, milli) =>
        {
            Vec::new()
        }
        (Ok(cpu), true, _) => vec![format!("cpu {cpu}, not {}", expect["milliValue"])],
        (Err(_), false, _) => Vec::new(),
        (Ok(_), false, _) if expect["hang"] == true => Vec::new(),
        (Ok(cpu), false, _) => vec![format!("read as {cpu} milli, but is to be refused")],
        (Err(error), true, _) => vec![format!("refused: {error}")],
    }
}
