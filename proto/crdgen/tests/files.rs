//! The files are those of the types.

use std::collections::BTreeSet;
use std::path::Path;

use mco_crds::quantity::QUANTITY_PATTERN;
use serde_json::{Value, json};

fn schema(name: &str) -> Value {
    let definitions = mco_crdgen::all().unwrap();
    let found = definitions
        .into_iter()
        .find(|definition| definition.name == name)
        .unwrap();
    found.object["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_files_in_the_chart_are_those_of_the_types() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let problems = mco_crdgen::check(root).unwrap();
    assert!(problems.is_empty(), "run `make crds`: {problems:#?}");
}

#[test]
fn a_changed_a_missing_and_a_left_over_file_are_told() {
    let root = std::env::temp_dir().join(format!("mco-crdgen-{}", std::process::id()));
    mco_crdgen::write(&root).unwrap();
    assert_eq!(mco_crdgen::check(&root).unwrap(), Vec::<String>::new());
    let [first, second, ..] = &mco_crdgen::all().unwrap()[..] else {
        panic!("two definitions at least")
    };
    let text = first.text().unwrap().replacen("served: true", "served: false", 1);
    std::fs::write(root.join(first.path()), text).unwrap();
    std::fs::remove_file(root.join(second.path())).unwrap();
    std::fs::write(root.join(second.folder).join("old.yaml"), "").unwrap();
    let problems = mco_crdgen::check(&root).unwrap();
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(
        problems[0].contains("is `served: false`, the types make it `served: true`"),
        "{problems:#?}"
    );
    assert!(
        problems[1].ends_with(": missing") && problems[2].ends_with("old.yaml: no type makes this file"),
        "{problems:#?}"
    );
}

#[test]
fn rules_that_are_not_given_are_filled_in_with_the_guides_values() {
    let rules = schema("detectionruleconfigs.mco.many-core.io");
    let spec = &rules["properties"]["spec"];
    assert_eq!(spec["default"], json!({}));
    let guide = serde_json::to_value(mco_crds::DetectionRuleConfigSpec::default()).unwrap();
    assert_eq!(keys(&spec["properties"]), keys(&guide));
    for (section, values) in guide.as_object().unwrap() {
        let schema = &spec["properties"][section];
        assert_eq!(schema["default"], json!({}), "{section}");
        assert_eq!(keys(&schema["properties"]), keys(values), "{section}");
        assert_eq!(schema.get("required"), None, "{section}");
        for (field, value) in values.as_object().unwrap() {
            let schema = &schema["properties"][field];
            assert_eq!(schema["default"].as_f64(), value.as_f64(), "{section}.{field}");
            assert_eq!(schema["type"], "number", "{section}.{field}");
        }
    }
}

#[test]
fn rules_have_bounds() {
    let rules = schema("detectionruleconfigs.mco.many-core.io");
    let bounds = |section: &str, field: &str| {
        let field = &rules["properties"]["spec"]["properties"][section]["properties"][field];
        (
            field["minimum"].clone(),
            field["maximum"].clone(),
            field.get("exclusiveMinimum").cloned(),
        )
    };
    let rows = [
        ("weights", "io", 0, 1, None),
        ("saturation", "psiIo", 0, 1_000_000_000, Some(json!(true))),
        ("saturation", "cacheProduct", 0, 1_000_000_000, Some(json!(true))),
        ("thresholds", "cacheMissRate", 0, 1, None),
        ("thresholds", "psiMemoryFull", 0, 100, None),
        ("thresholds", "memIoPenaltyMemory", 0, 100, None),
        ("thresholds", "bioLatencyP99Ms", 0, 1_000_000_000, None),
        ("penalties", "memIoMultiplier", 1, 10, None),
        ("degradedMemory", "memAvailableRatioThreshold", 0, 1, None),
        ("degradedMemory", "pageScanRateThreshold", 0, 1_000_000_000, None),
    ];
    for (section, field, least, most, exclusive) in rows {
        assert_eq!(
            bounds(section, field),
            (json!(least), json!(most), exclusive),
            "{section}.{field}"
        );
    }
}

#[test]
fn the_map_of_nodes_is_replaced_as_a_whole() {
    let report = schema("nodeinterferencereports.mco.many-core.io");
    let nodes = &report["properties"]["status"]["properties"]["nodes"];
    assert_eq!(nodes["x-kubernetes-map-type"], "atomic");
    assert_eq!(
        nodes["additionalProperties"]["properties"]["metrics"]["properties"]["psiIoSomeAvg10"]["type"],
        "number"
    );
}

#[test]
fn podgroups_and_queues_have_the_fields_of_1_9() {
    let group = schema("podgroups.scheduling.volcano.sh");
    assert_eq!(
        keys(&group["properties"]["spec"]["properties"]),
        BTreeSet::from([
            "minMember",
            "minTaskMember",
            "queue",
            "priorityClassName",
            "minResources"
        ])
    );
    assert_eq!(
        keys(&group["properties"]["status"]["properties"]),
        BTreeSet::from(["phase", "conditions", "running", "succeeded", "failed"])
    );
    assert_eq!(
        keys(&group["properties"]["status"]["properties"]["conditions"]["items"]["properties"]),
        BTreeSet::from([
            "type",
            "status",
            "transitionID",
            "lastTransitionTime",
            "reason",
            "message"
        ])
    );
    let queue = schema("queues.scheduling.volcano.sh");
    assert_eq!(
        keys(&queue["properties"]["spec"]["properties"]),
        BTreeSet::from([
            "weight",
            "capability",
            "reclaimable",
            "guarantee",
            "deserved",
            "affinity",
            "type",
            "parent",
            "extendClusters"
        ])
    );
    let status = &queue["properties"]["status"];
    assert_eq!(
        keys(&status["properties"]),
        BTreeSet::from([
            "state",
            "unknown",
            "pending",
            "running",
            "inqueue",
            "completed",
            "reservation",
            "allocated"
        ])
    );
    assert_eq!(status["required"], json!(["allocated"]));
    let amount = &status["properties"]["allocated"]["additionalProperties"];
    assert_eq!(
        (&amount["x-kubernetes-int-or-string"], &amount["pattern"]),
        (&json!(true), &json!(QUANTITY_PATTERN))
    );
}

#[test]
fn volcanos_definitions_judge_and_fill_in_nothing() {
    fn words(value: &Value, found: &mut Vec<String>) {
        for (key, value) in value.as_object().into_iter().flatten() {
            if ["enum", "default", "minimum", "maximum"].contains(&key.as_str()) {
                found.push(key.clone());
            }
            words(value, found);
        }
    }
    for name in [
        "podgroups.scheduling.volcano.sh",
        "queues.scheduling.volcano.sh",
        "numatopologies.nodeinfo.volcano.sh",
    ] {
        let mut found = Vec::new();
        words(&schema(name), &mut found);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}
