//! The shared interference cases, where they are at hand.

use std::path::PathBuf;

fn shared(name: &str) -> Option<String> {
    let root = std::env::var_os("MCO_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let path = root.join("conformance/interference").join(name);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        println!("skipped: {name} is not in the shared folder");
    }
    text
}

fn all_pass(name: &str, at_least: usize) {
    let Some(text) = shared(name) else { return };
    let outcomes = mco_analyzer::conformance::judge(&text).expect("a list of cases");
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|outcome| !outcome.differences.is_empty())
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} cases differ: {failed:#?}",
        failed.len(),
        outcomes.len()
    );
    assert!(
        outcomes.len() >= at_least,
        "only {} cases in {name}",
        outcomes.len()
    );
    println!("{name}: {} cases pass", outcomes.len());
}

#[test]
fn levels_are_right_to_the_last_digit() {
    all_pass("levels.json", 90);
}

#[test]
fn rules_are_accepted_and_refused_as_the_contract_says() {
    all_pass("rules.json", 9);
}

#[test]
fn a_wrong_expectation_is_noticed() {
    let cases = r#"[
        {"name": "level", "samples": [{"atMs": 0, "psiIoSomeAvg10": 15}], "nowMs": 0, "expect": {"status": "stale"}},
        {"name": "rules", "rules": {"weights": {"io": -1}}, "accepted": true},
        {"name": "warning", "rules": {}, "accepted": true, "warning": "weights"}
    ]"#;
    let outcomes = mco_analyzer::conformance::judge(cases).unwrap();
    assert!(
        outcomes.iter().all(|outcome| !outcome.differences.is_empty()),
        "{outcomes:#?}"
    );
    assert!(mco_analyzer::conformance::judge("{}").is_err());
}
