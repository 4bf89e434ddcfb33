//! Reads the spec of a DetectionRuleConfig as a client without a schema could have written it.

use std::fmt;

use serde_json::{Map, Value};
use thiserror::Error;

use super::values::Rules;

/// Weights whose sum is further from 1 than this are accepted with a warning.
const SUM_TOLERANCE: f64 = 0.05;
/// The largest value of any rule, as in the schema; keeps all arithmetic on rules finite.
const LARGEST: f64 = 1e9;

/// Rules that were accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The values, defaults filled in.
    pub rules: Rules,
    /// What is accepted but probably not meant.
    pub warnings: Vec<Fault>,
}

/// A field and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path from the object's root, for example `spec.weights.io`.
    pub field: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// Rules that cannot be used, with every fault found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct RulesError {
    /// At least one fault, in the order of the rules.
    pub faults: Vec<Fault>,
}

/// Reads a spec. Unknown keys are ignored; what is absent or null has its default.
///
/// # Errors
/// Every value of the wrong type or out of its range, by field.
pub fn parse(spec: &Value) -> Result<Parsed, RulesError> {
    let mut reader = Reader::default();
    let mut rules = Rules::default();
    let nothing = Map::new();
    let spec = reader.object(Some(spec), "spec").unwrap_or(&nothing);
    for section in SECTIONS {
        let path = format!("spec.{}", section.name);
        let Some(values) = reader.object(spec.get(section.name), &path) else {
            continue;
        };
        for field in section.fields {
            if let Some(value) = reader.number(
                values.get(field.name),
                &format!("{path}.{}", field.name),
                field.bound,
            ) {
                *(field.place)(&mut rules) = value;
            }
        }
    }
    let weights = &rules.weights;
    let sum = weights.cache + weights.memory + weights.io;
    if reader.faults.is_empty() && sum <= 0.0 {
        reader.refuse(
            "spec.weights",
            "all weights are 0; at least one must be above 0".to_owned(),
        );
    }
    if !reader.faults.is_empty() {
        return Err(RulesError {
            faults: reader.faults,
        });
    }
    let mut warnings = Vec::new();
    // The tolerance itself is meant to pass, whatever rounding makes of a sum like 1.05.
    if (sum - 1.0).abs() > SUM_TOLERANCE + 1e-9 {
        let problem = format!("the weights add up to {sum:.3}, not about 1; levels are scaled by that");
        warnings.push(Fault {
            field: "spec.weights".to_owned(),
            problem,
        });
    }
    Ok(Parsed { rules, warnings })
}

struct Section {
    name: &'static str,
    fields: &'static [Field],
}

struct Field {
    name: &'static str,
    bound: Bound,
    place: fn(&mut Rules) -> &mut f64,
}

#[derive(Clone, Copy)]
enum Bound {
    NotNegative,
    AboveZero,
    AtLeastOne,
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        let lower = match self {
            Bound::NotNegative => value >= 0.0,
            Bound::AboveZero => value > 0.0,
            Bound::AtLeastOne => value >= 1.0,
        };
        lower && value <= LARGEST
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::NotNegative => "a number from 0 to 1e9",
            Bound::AboveZero => "a number above 0, up to 1e9",
            Bound::AtLeastOne => "a number from 1 to 1e9",
        })
    }
}

macro_rules! fields {
    ($($section:ident: $bound:ident { $($name:literal => $field:ident),+ $(,)? })+) => {
        &[$(
            $(Field { name: $name, bound: Bound::$bound, place: |rules| &mut rules.$section.$field }),+
        ),+]
    };
}

/// Every rule there is: the one list that names, bounds and places come from.
const SECTIONS: &[Section] = &[
    Section {
        name: "weights",
        fields: fields!(weights: NotNegative { "cache" => cache, "memory" => memory, "io" => io }),
    },
    Section {
        name: "saturation",
        fields: fields!(saturation: AboveZero {
            "cacheProduct" => cache_product,
            "psiMemory" => psi_memory,
            "bioLatencyP99Ms" => bio_latency_p99_ms,
            "psiIo" => psi_io,
        }),
    },
    Section {
        name: "thresholds",
        fields: fields!(thresholds: NotNegative {
            "cacheMissRate" => cache_miss_rate,
            "llcOccupancy" => llc_occupancy,
            "bioLatencyP99Ms" => bio_latency_p99_ms,
            "psiIo" => psi_io,
            "psiMemorySome" => psi_memory_some,
            "psiMemoryFull" => psi_memory_full,
            "ioPenaltyP99Ms" => io_penalty_p99_ms,
            "ioPenaltyPsiIo" => io_penalty_psi_io,
            "memIoPenaltyMemory" => mem_io_penalty_memory,
            "memIoPenaltyPsiIo" => mem_io_penalty_psi_io,
        }),
    },
    Section {
        name: "penalties",
        fields: fields!(penalties: AtLeastOne {
            "ioMultiplier" => io_multiplier,
            "memIoMultiplier" => mem_io_multiplier,
        }),
    },
    Section {
        name: "degradedMemory",
        fields: fields!(degraded_memory: AboveZero {
            "memAvailableRatioThreshold" => mem_available_ratio_threshold,
            "pageScanRateThreshold" => page_scan_rate_threshold,
        }),
    },
];

/// Identifies the values: equal rules have equal hashes, in every run and version. Hexadecimal.
pub fn hash_of(rules: &Rules) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut rules = *rules;
    let mut hash = OFFSET;
    for field in SECTIONS.iter().flat_map(|section| section.fields) {
        // Adding 0 makes one zero of the two.
        for byte in (*(field.place)(&mut rules) + 0.0).to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:016x}")
}

#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn object<'v>(&mut self, value: Option<&'v Value>, field: &str) -> Option<&'v Map<String, Value>> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => Some(map),
            Some(other) => {
                self.refuse(field, format!("expected an object, found {}", shown(other)));
                None
            }
        }
    }

    fn number(&mut self, value: Option<&Value>, field: &str, bound: Bound) -> Option<f64> {
        match value {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_f64() {
                Some(number) if bound.holds(number) => Some(number),
                _ => {
                    self.refuse(field, format!("expected {bound}, found {}", shown(value)));
                    None
                }
            },
        }
    }

    fn refuse(&mut self, field: &str, problem: String) {
        self.faults.push(Fault {
            field: field.to_owned(),
            problem,
        });
    }
}

/// The value as it stands in the object, cut short.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        text
    } else {
        text.chars().take(LONGEST).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_named_by_its_field() {
        let rows = [
            (
                json!({"weights": {"io": -0.4}}),
                "spec.weights.io: expected a number from 0 to 1e9, found -0.4",
            ),
            (
                json!({"weights": {"cache": 0, "memory": 0, "io": 0}}),
                "spec.weights: all weights are 0; at least one must be above 0",
            ),
            (
                json!({"weights": [0.3]}),
                "spec.weights: expected an object, found [0.3]",
            ),
            (
                json!({"saturation": {"psiIo": 0}}),
                "spec.saturation.psiIo: expected a number above 0, up to 1e9, found 0",
            ),
            (
                json!({"penalties": {"ioMultiplier": 0.5}}),
                "spec.penalties.ioMultiplier: expected a number from 1 to 1e9, found 0.5",
            ),
            (
                json!({"thresholds": {"psiIo": "20"}}),
                "spec.thresholds.psiIo: expected a number from 0 to 1e9, found \"20\"",
            ),
            (
                json!({"thresholds": {"psiIo": true}}),
                "spec.thresholds.psiIo: expected a number from 0 to 1e9, found true",
            ),
            (
                json!({"thresholds": {"psiIo": 1e300}}),
                "spec.thresholds.psiIo: expected a number from 0 to 1e9, found 1e+300",
            ),
            (
                json!({"degradedMemory": {"pageScanRateThreshold": 0}}),
                "spec.degradedMemory.pageScanRateThreshold: expected a number above 0, up to 1e9, found 0",
            ),
            (json!("x"), "spec: expected an object, found \"x\""),
            (
                json!({"weights": 1, "thresholds": {"psiIo": -1}}),
                "spec.weights: expected an object, found 1; spec.thresholds.psiIo: expected a number from 0 to 1e9, found -1",
            ),
        ];
        for (spec, message) in rows {
            assert_eq!(parse(&spec).expect_err(message).to_string(), message);
        }
    }

    #[test]
    fn unknown_keys_and_nulls_are_ignored() {
        let spec = json!({"weights": null, "thresholds": {"psiIo": 15, "later": "x", "psiMemorySome": null}, "later": []});
        let mut expected = Rules::default();
        expected.thresholds.psi_io = 15.0;
        assert_eq!(
            parse(&spec),
            Ok(Parsed {
                rules: expected,
                warnings: vec![]
            })
        );
        assert_eq!(parse(&Value::Null).unwrap().rules, Rules::default());
    }

    #[test]
    fn weights_far_from_one_are_accepted_with_a_warning() {
        for (io, warns) in [
            (0.40, false),
            (0.45, false),
            (0.35, false),
            (0.451, true),
            (0.2, true),
            (1.0, true),
        ] {
            let parsed = parse(&json!({"weights": {"io": io}})).unwrap();
            assert_eq!(
                parsed
                    .warnings
                    .iter()
                    .any(|warning| warning.field == "spec.weights"),
                warns,
                "{io}"
            );
        }
    }

    #[test]
    fn the_written_defaults_read_back_as_the_defaults() {
        let written = serde_json::to_value(mco_crds::DetectionRuleConfigSpec::default()).unwrap();
        let parsed = parse(&written).unwrap();
        assert_eq!(parsed.rules, Rules::default());
        let fields = written
            .as_object()
            .unwrap()
            .values()
            .map(|section| section.as_object().unwrap().len());
        assert_eq!(
            fields.sum::<usize>(),
            SECTIONS.iter().map(|section| section.fields.len()).sum::<usize>()
        );
    }

    #[test]
    fn every_field_lands_in_a_place_of_its_own() {
        for section in SECTIONS {
            for field in section.fields {
                let parsed = parse(&json!({section.name: {field.name: 1.5}})).unwrap();
                let mut expected = Rules::default();
                *(field.place)(&mut expected) = 1.5;
                assert_eq!(parsed.rules, expected, "{}.{}", section.name, field.name);
                assert_ne!(
                    hash_of(&parsed.rules),
                    hash_of(&Rules::default()),
                    "{}.{}",
                    section.name,
                    field.name
                );
            }
        }
    }
}
