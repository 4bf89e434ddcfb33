//! The shared cases of comparing and adding resources.

mod common;

use common::{cases, number};
use mco_model::resource::{Dimension, Missing, Resource, ScalarNames};
use serde_json::Value;

fn resource(value: &Value, names: &mut ScalarNames) -> Resource {
    let mut resource = Resource::new(number(&value["cpu"]), number(&value["memory"]));
    if let Some(scalars) = value["scalars"].as_object() {
        resource = resource.with_scalar_map();
        for (name, amount) in scalars {
            resource.set_scalar(names.intern(name).unwrap(), number(amount));
        }
    }
    resource
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

fn dimension(name: &str, names: &mut ScalarNames) -> Dimension {
    match name {
        "cpu" => Dimension::Cpu,
        "memory" => Dimension::Memory,
        _ => Dimension::Scalar(names.intern(name).unwrap()),
    }
}

/// Whether the case passed; `None` when the core has no such operation.
fn run(case: &Value) -> Option<bool> {
    let names = &mut ScalarNames::new();
    let mut left = resource(&case["left"], names);
    let right = case
        .get("right")
        .map(|right| resource(right, names))
        .unwrap_or_default();
    let missing = if case["default"] == "Infinity" {
        Missing::Infinity
    } else {
        Missing::Zero
    };
    let expect = &case["expect"];
    let says = |result: bool| Some(expect["result"] == result);
    let listed = |dimensions: Vec<Dimension>, names: &ScalarNames| {
        let mut texts: Vec<_> = dimensions
            .into_iter()
            .map(|dimension| dimension.name(names).to_owned())
            .collect();
        texts.sort();
        expect["names"] == Value::from(texts)
    };
    match case["op"].as_str()? {
        "LessEqual" => return says(left.less_equal(&right, missing)),
        "Less" => return says(left.less(&right, missing)),
        "LessPartly" => return says(left.less_partly(&right, missing)),
        "LessEqualPartly" => return says(left.less_equal_partly(&right, missing)),
        "Equal" => return says(left.equal(&right)),
        "IsEmpty" => return says(left.is_empty()),
        "LessEqualWithResourcesName" => {
            let failing = left.less_equal_failing(&right, missing).to_vec();
            return Some(expect["result"] == failing.is_empty() && listed(failing, names));
        }
        "ResourceNames" => return Some(listed(left.dimensions().collect(), names)),
        "Get" => {
            let asked = dimension(case["resourceName"].as_str()?, names);
            return Some(left.get(asked) == number(&expect["value"]));
        }
        "IsZero" => {
            let asked = dimension(case["resourceName"].as_str()?, names);
            let zero = left.is_zero(asked);
            return Some(expect.get("panic").is_some_and(|_| zero) || expect["result"] == zero);
        }
        "Diff" => {
            let (increased, decreased) = left.diff(&right, missing);
            return Some(
                same(&increased, &resource(&expect["increased"], names))
                    && same(&decreased, &resource(&expect["decreased"], names)),
            );
        }
        "Sub" => {
            let outcome = left.sub(&right);
            if expect.get("panic").is_some() {
                return Some(outcome.is_err());
            }
            if outcome.is_err() {
                return Some(false);
            }
        }
        "Add" => left.add(&right),
        "SubWithoutAssert" => left.sub_unchecked(&right),
        "Multi" => left.multiply(number(&case["ratio"])),
        "SetMaxResource" => left.set_max(&right),
        "MinDimensionResource" => left.min_dimension(&right, missing),
        "FitDelta" => left.fit_delta(&right),
        "ExceededPart" => left = left.exceeded_part(&right),
        _ => return None,
    }
    Some(same(&left, &resource(&expect["resource"], names)))
}

#[test]
fn recorded_operations_give_the_recorded_results() {
    let mut failures = Vec::new();
    let mut skipped = std::collections::BTreeMap::new();
    let mut passed = 0;
    for family in ["comparisons", "arithmetic", "single", "only-1.15.1"] {
        for case in cases(&format!("resources-compare/{family}.jsonl"))
            .into_iter()
            .flatten()
        {
            match run(&case) {
                Some(true) => passed += 1,
                Some(false) => failures.push(case.to_string()),
                None => *skipped.entry(case["op"].to_string()).or_insert(0) += 1,
            }
        }
    }
    println!("{passed} cases passed; without such an operation: {skipped:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
