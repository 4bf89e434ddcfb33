//! The recorded configuration files, each against what upstream makes of it. Skipped where the cases are absent.

use std::fs;
use std::path::PathBuf;

use mco_framework::conf::{Change, ConfError, ConfStore, SchedulerConf, read};
use serde_json::Value;

const FAMILIES: [&str; 10] = [
    "actions",
    "arguments",
    "configurations",
    "encoding",
    "mco",
    "scalars",
    "stock",
    "structure",
    "switches",
    "yaml",
];

#[test]
fn every_recorded_file_reads_as_upstream_reads_it() {
    let mut wrong = Vec::new();
    for family in FAMILIES {
        let Some(cases) = cases(family) else { return };
        assert!(!cases.is_empty(), "{family} has cases");
        for case in &cases {
            let name = case["name"].as_str().expect("a case has a name");
            let result = read(&content(case));
            if let Err(difference) = compare(&result, &case["expect"]) {
                wrong.push(format!("{name}: {difference}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_reload_replaces_all_or_nothing() {
    let Some(cases) = cases("reload") else { return };
    for case in &cases {
        let name = case["name"].as_str().expect("a case has a name");
        let mut store = ConfStore::default();
        for (at, step) in case["steps"]
            .as_array()
            .expect("a reload has steps")
            .iter()
            .enumerate()
        {
            let before = store.active();
            let text = content(step);
            let outcome = store.load(&text);
            if let Ok(change) = outcome {
                assert_ne!(change, Change::StillRefused, "{name}, step {at}");
            } else {
                assert_eq!(
                    store.active(),
                    before,
                    "{name}, step {at}: what was in force stays"
                );
            }
            let result = outcome.map(|_| SchedulerConf::clone(&store.active()));
            assert_eq!(compare(&result, &step["expect"]), Ok(()), "{name}, step {at}");
        }
    }
}

fn compare(result: &Result<SchedulerConf, ConfError>, expected: &Value) -> Result<(), String> {
    match (result, expected.get("error")) {
        (Err(error), Some(recorded)) if recorded["kind"] == error.kind() => Ok(()),
        (Err(error), Some(recorded)) => Err(format!("refused as `{}`, not as {recorded}", error.kind())),
        (Err(error), None) => Err(format!("refused ({error}), but upstream takes it")),
        (Ok(conf), Some(recorded)) => Err(format!("read as {}, not refused as {recorded}", conf.summary())),
        (Ok(conf), None) => {
            let mut wanted = expected.clone();
            // What plugins make of it is theirs to show.
            wanted
                .as_object_mut()
                .expect("an expectation is an object")
                .remove("effective");
            let mut found: Value = serde_json::from_str(&conf.summary()).expect("a summary is JSON");
            sort_maps(&mut wanted);
            sort_maps(&mut found);
            if found == wanted {
                Ok(())
            } else {
                Err(format!("read as {found}, not as {wanted}"))
            }
        }
    }
}

/// Puts the pairs of mappings into one order, whatever that is.
fn sort_maps(value: &mut Value) {
    match value {
        Value::Array(entries) => {
            entries.iter_mut().for_each(sort_maps);
            if let [Value::String(kind), Value::Array(pairs)] = entries.as_mut_slice()
                && kind == "map"
            {
                pairs.sort_by_key(Value::to_string);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(sort_maps),
        _ => {}
    }
}

fn content(case: &Value) -> Vec<u8> {
    match (case["conf"].as_str(), case["confBase64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(base64)) => decode_base64(base64),
        (None, None) => panic!("{} has no content", case["name"]),
    }
}

/// The cases are known to be sound, so what is no digit is padding.
fn decode_base64(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for value in text.chars().filter_map(|char| digits.find(char)) {
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

fn cases(family: &str) -> Option<Vec<Value>> {
    let root = match std::env::var_os("MCO_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    let path = root.join("conformance/conf").join(format!("{family}.jsonl"));
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return None;
    };
    let lines = text.lines().filter(|line| !line.is_empty());
    Some(
        lines
            .map(|line| serde_json::from_str(line).expect("a case is JSON"))
            .collect(),
    )
}
