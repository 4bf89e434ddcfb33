//! Comparing and adding resources.

use super::number;
use crate::verdict::Verdict;
use mco_model::resource::{Dimension, Missing, Resource, ScalarNames};
use serde_json::Value;

/// Runs a case of one operation.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    match holds(case) {
        Ok(true) => Verdict::Passed,
        Ok(false) => Verdict::Failed(format!("not {}", case["expect"])),
        Err(why) => Verdict::Skipped(why),
    }
}

/// Whether our operation gives what was recorded.
fn holds(case: &Value) -> Result<bool, String> {
    let names = &mut ScalarNames::new();
    let mut left = resource(&case["left"], names)?;
    let right = case
        .get("right")
        .map(|right| resource(right, names))
        .transpose()?
        .unwrap_or_default();
    let missing = if case["default"] == "Infinity" {
        Missing::Infinity
    } else {
        Missing::Zero
    };
    let expect = &case["expect"];
    let panics = expect.get("panic").is_some();
    let says = |result: bool| Ok(expect["result"] == result);
    let operation = case["op"].as_str().unwrap_or_default();
    match operation {
        "LessEqual" => return says(left.less_equal(&right, missing)),
        "Less" => return says(left.less(&right, missing)),
        "LessPartly" => return says(left.less_partly(&right, missing)),
        "LessEqualPartly" => return says(left.less_equal_partly(&right, missing)),
        "Equal" => return says(left.equal(&right)),
        "IsEmpty" => return says(left.is_empty()),
        "LessEqualWithResourcesName" => {
            let failing = left.less_equal_failing(&right, missing).to_vec();
            return Ok(expect["result"] == failing.is_empty() && are_named(expect, &failing, names));
        }
        "ResourceNames" => {
            let dimensions: Vec<Dimension> = left.dimensions().collect();
            return Ok(are_named(expect, &dimensions, names));
        }
        "Get" => return Ok(left.get(dimension(case, names)?) == number(&expect["value"])),
        "IsZero" => {
            let zero = left.is_zero(dimension(case, names)?);
            return Ok(if panics { zero } else { expect["result"] == zero });
        }
        "Diff" => {
            let (increased, decreased) = left.diff(&right, missing);
            return Ok(same(&increased, &resource(&expect["increased"], names)?)
                && same(&decreased, &resource(&expect["decreased"], names)?));
        }
        "Sub" => {
            let refused = left.sub(&right).is_err();
            if panics || refused {
                return Ok(panics && refused);
            }
        }
        "Add" => left.add(&right),
        "SubWithoutAssert" => left.sub_unchecked(&right),
        "Multi" => left.multiply(number(&case["ratio"])),
        "SetMaxResource" => left.set_max(&right),
        "MinDimensionResource" => left.min_dimension(&right, missing),
        "FitDelta" => left.fit_delta(&right),
        "ExceededPart" => left = left.exceeded_part(&right),
        other => return Err(format!("no operation {other}")),
    }
    Ok(same(&left, &resource(&expect["resource"], names)?))
}

fn resource(value: &Value, names: &mut ScalarNames) -> Result<Resource, String> {
    let mut resource = Resource::new(number(&value["cpu"]), number(&value["memory"]));
    if let Some(scalars) = value["scalars"].as_object() {
        resource = resource.with_scalar_map();
        for (name, amount) in scalars {
            let id = names.intern(name).map_err(|error| error.to_string())?;
            resource.set_scalar(id, number(amount));
        }
    }
    Ok(resource)
}

fn dimension(case: &Value, names: &mut ScalarNames) -> Result<Dimension, String> {
    match case["resourceName"].as_str() {
        Some("cpu") => Ok(Dimension::Cpu),
        Some("memory") => Ok(Dimension::Memory),
        Some(name) => names
            .intern(name)
            .map(Dimension::Scalar)
            .map_err(|error| error.to_string()),
        None => Err("no resourceName".to_owned()),
    }
}

fn are_named(expect: &Value, dimensions: &[Dimension], names: &ScalarNames) -> bool {
    let mut texts: Vec<&str> = dimensions.iter().map(|dimension| dimension.name(names)).collect();
    texts.sort_unstable();
    expect["names"] == Value::from(texts)
}

/// Equal as numbers, with an absent map like an empty one and `NaN` like itself.
fn same(got: &Resource, expected: &Resource) -> bool {
    let alike = |l: f64, r: f64| l == r || (l.is_nan() && r.is_nan());
    alike(got.milli_cpu, expected.milli_cpu)
        && alike(got.memory, expected.memory)
        && got.scalars().len() == expected.scalars().len()
        && got
            .scalars()
            .zip(expected.scalars())
            .all(|(l, r)| l.0 == r.0 && alike(l.1, r.1))
}
