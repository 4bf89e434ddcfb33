//! Writes the definitions of the custom resources into the chart's folders, or with `--check` compares them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

fn main() -> anyhow::Result<ExitCode> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            mco_crdgen::write(root)?;
            Ok(ExitCode::SUCCESS)
        }
        ["--check"] => {
            let problems = mco_crdgen::check(root)?;
            for problem in &problems {
                eprintln!("{problem}");
            }
            if problems.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            eprintln!("the definitions are not those of the types; run `make crds`");
            Ok(ExitCode::FAILURE)
        }
        _ => {
            bail!("unknown arguments {arguments:?}; give none to write the files, or --check to compare them")
        }
    }
}
