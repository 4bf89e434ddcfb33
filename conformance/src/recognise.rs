//! Which cases there are: files are told apart by what they hold, wherever they lie.

use crate::verdict::Verdict;
use crate::{case, families, field};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A case that can be run.
pub struct Case {
    /// The folder it lies in, as reports show it.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Runs it.
    pub judge: Box<dyn FnOnce() -> Verdict + Send>,
}

/// What folders and files hold.
#[derive(Default)]
pub struct Found {
    /// The cases, by path.
    pub cases: Vec<Case>,
    /// YAML and JSON files without a case in them.
    pub others: Vec<PathBuf>,
}

/// Looks for cases in a folder and everything below it, or in a single file.
///
/// # Errors
/// A path that cannot be read.
pub fn find(root: &Path) -> Result<Found> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut found = Found::default();
    for file in files {
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let before = found.cases.len();
        let place = Place {
            folder: folder_of(root, &file),
            file: file.clone(),
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => lines(&place, &text, &mut found.cases),
            Some("json") => list(&place, &text, &mut found.cases),
            _ => manifest(&place, text, &mut found.cases),
        }
        if found.cases.len() == before {
            found.others.push(file);
        }
    }
    Ok(found)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let about = || format!("cannot read {}", path.display());
    if !path.metadata().with_context(about)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).with_context(about)? {
        let entry = entry.with_context(about)?.path();
        let known = entry.extension().is_some_and(|extension| {
            ["yaml", "yml", "json", "jsonl"]
                .iter()
                .any(|known| extension == *known)
        });
        if entry.is_dir() || known {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// The file's folder below `root`; `root`'s own name when it lies there directly.
fn folder_of(root: &Path, file: &Path) -> String {
    let folder = file.parent().unwrap_or(Path::new(""));
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let shown = if below.as_os_str().is_empty() {
        folder.file_name().map(Path::new).unwrap_or(folder)
    } else {
        below
    };
    shown.display().to_string()
}

struct Place {
    folder: String,
    file: PathBuf,
}

impl Place {
    fn case(&self, name: &str, judge: impl FnOnce() -> Verdict + Send + 'static) -> Case {
        Case {
            folder: self.folder.clone(),
            name: name.to_owned(),
            judge: Box::new(judge),
        }
    }

    fn stem(&self) -> String {
        self.file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }
}

/// JSON lines: one case a line, all of one family.
fn lines(place: &Place, text: &str, cases: &mut Vec<Case>) {
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let numbered = format!("{}:{}", place.stem(), number + 1);
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => {
                cases.push(place.case(&numbered, move || Verdict::Failed(format!("no JSON: {error}"))));
                continue;
            }
        };
        let name = value["name"].as_str().unwrap_or(&numbered).to_owned();
        let judge: fn(&Value) -> Verdict = match family(&value) {
            Some(judge) => judge,
            None => continue,
        };
        cases.push(place.case(&name, move || judge(&value)));
    }
}

fn family(case: &Value) -> Option<fn(&Value) -> Verdict> {
    let has = |key: &str| case.get(key).is_some();
    if has("op") {
        Some(families::resources::judge)
    } else if has("q") || has("scalar") {
        Some(families::quantities::judge)
    } else if has("pod") && has("kubernetes1.34") {
        Some(families::requests::judge)
    } else if has("pod") && has("nodes") {
        Some(families::selectors::judge)
    } else if has("conf") || has("confBase64") || has("steps") {
        Some(families::conf::judge)
    } else {
        None
    }
}

/// A JSON list of interference cases.
fn list(place: &Place, text: &str, cases: &mut Vec<Case>) {
    let Ok(Value::Array(list)) = serde_json::from_str(text) else {
        return;
    };
    for value in list {
        let has = |key: &str| value.get(key).is_some();
        let judge: fn(&Value) -> Verdict = if has("samples") || has("accepted") {
            families::interference::judge_level_or_rules
        } else if has("nodeLabels") {
            families::interference::judge_plugin
        } else {
            continue;
        };
        let name = value["name"].as_str().unwrap_or("(without a name)").to_owned();
        cases.push(place.case(&name, move || judge(&value)));
    }
}

/// A cluster with what the scheduler is to make of it. YAML is read when the case is run, since that takes its time; a
/// look at the lines that begin at the margin tells what it is.
fn manifest(place: &Place, text: String, cases: &mut Vec<Case>) {
    let at_margin = |key: &str| text.lines().any(|line| line.starts_with(key));
    if !at_margin("conf:") || !at_margin("objects:") || !at_margin("expect:") {
        return;
    }
    let is_field = text
        .lines()
        .skip_while(|line| !line.starts_with("expect:"))
        .nth(1)
        .is_some_and(|line| line.starts_with('-'));
    let name = place.stem();
    let text = if is_field {
        without_nan(&text)
    } else {
        with_quoted_names(&text)
    };
    cases.push(place.case(&name, move || match read_yaml(&text) {
        Ok(value) if is_field => field::judge(&value),
        Ok(value) => case::judge(&value),
        Err(error) => Verdict::Failed(error),
    }));
}

/// YAML as JSON.
fn read_yaml(text: &str) -> Result<Value, String> {
    let document = mco_objects::yaml::to_json(text).map_err(|error| format!("no YAML: {error}"))?;
    serde_json::from_str(&document.json).map_err(|error| format!("no JSON: {error}"))
}

/// JSON has no such number; a field that is no number at all is what is left of it behind a server.
fn without_nan(text: &str) -> String {
    text.replace(".nan", "\"NaN\"")
}

/// What is expected was written by a program to which `n` and `y` are names of nodes, not booleans.
fn with_quoted_names(text: &str) -> String {
    let Some(start) = text.find("\nexpect:") else {
        return text.to_owned();
    };
    let (inputs, expect) = text.split_at(start);
    let mut expect = expect.to_owned();
    for name in ["n", "y"] {
        for (before, after) in [
            (": ", ","),
            (": ", "}"),
            (": ", "\n"),
            ("{", ":"),
            (", ", ":"),
            ("[", ","),
            ("[", "]"),
        ] {
            expect = expect.replace(
                &format!("{before}{name}{after}"),
                &format!("{before}'{name}'{after}"),
            );
        }
    }
    format!("{inputs}{expect}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_of_nodes_stay_names() {
        let text = "conf: x\nexpect:\n  binds: {a/b: n, a/c: nn, y: n}\n  scores: {n: 1, m: 2}\n";
        let value = read_yaml(&with_quoted_names(text)).expect("YAML");
        assert_eq!(
            value["expect"],
            serde_json::json!({"binds": {"a/b": "n", "a/c": "nn", "y": "n"}, "scores": {"n": 1, "m": 2}})
        );
    }
}
