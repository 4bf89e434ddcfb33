//! The recorded cases: those kept here, and those of the shared folder where it is present.

use std::path::{Path, PathBuf};

fn hold(folders: &[PathBuf], at_least: usize) {
    let mut cases = Vec::new();
    for folder in folders {
        cases.extend(conformance::find(folder).expect("cases can be looked for").cases);
    }
    let report = conformance::run_all(cases);
    let text = report.text();
    println!("{text}");
    assert_eq!(report.failed(), 0, "{text}");
    assert!(
        report.passed() >= at_least,
        "only {} cases passed\n{text}",
        report.passed()
    );
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "takes its time without optimisation: `make test-slow` runs these cases"
)]
fn the_cases_kept_here_pass_or_are_skipped_by_name() {
    hold(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")], 350);
}

#[test]
fn the_small_families_and_the_cases_from_the_field_pass() {
    let root = std::env::var_os("MCO_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    if !root.is_dir() {
        println!("skipped: no {}", root.display());
        return;
    }
    let families = [
        "conf",
        "quantities",
        "pod-requests",
        "selectors",
        "resources-compare",
        "interference",
    ];
    let mut folders: Vec<PathBuf> = families
        .iter()
        .map(|family| root.join("conformance").join(family))
        .collect();
    folders.push(root.join("cases-from-the-field"));
    hold(&folders, 1500);
}
