//! Runs the cases in the folders given and exits with 1 when one fails.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        bail!("usage: conformance DIR…: give one or more folders or files of cases");
    }
    let mut cases = Vec::new();
    for path in &paths {
        let found = conformance::find(path)
            .with_context(|| format!("cannot look for cases in {}", path.display()))?;
        for other in &found.others {
            println!("no case in {}", other.display());
        }
        cases.extend(found.cases);
    }
    let report = conformance::run_all(cases);
    print!("{}", report.text());
    Ok(if report.failed() > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
