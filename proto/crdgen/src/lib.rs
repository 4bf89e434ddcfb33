//! The definitions of all custom resources, made from their types, and the files they are kept in.

mod definitions;
mod structural;

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use serde_json::Value;

pub use definitions::all;

/// Stands first in every file.
const HEAD: &str = "# Made by crdgen from the types in proto/crds; run `make crds` after changing them.\n";

/// A CustomResourceDefinition and where it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name, for example `queues.scheduling.volcano.sh`.
    pub name: String,
    /// The folder it is kept in, from the project's root.
    pub folder: &'static str,
    /// The object, ready to be sent to an API server.
    pub object: Value,
}

impl Definition {
    /// Its file, from the project's root.
    pub fn path(&self) -> PathBuf {
        Path::new(self.folder).join(format!("{}.yaml", self.name))
    }

    /// The file's text.
    ///
    /// # Errors
    /// The object cannot be written as YAML, which does not happen to those of [`all`].
    pub fn text(&self) -> anyhow::Result<String> {
        let yaml =
            serde_saphyr::to_string(&self.object).with_context(|| format!("cannot write {}", self.name))?;
        Ok(format!("{HEAD}{yaml}"))
    }
}

/// Writes all files below this root.
///
/// # Errors
/// A file cannot be written.
pub fn write(root: &Path) -> anyhow::Result<()> {
    for definition in all()? {
        let path = root.join(definition.path());
        let folder = root.join(definition.folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&path, definition.text()?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// What is wrong with the files below this root, one sentence each: those that are missing, differ, or that nothing
/// makes any more.
///
/// # Errors
/// A file or folder cannot be read.
pub fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let definitions = all()?;
    let mut problems = Vec::new();
    for definition in &definitions {
        let path = root.join(definition.path());
        let wanted = definition.text()?;
        match fs::read_to_string(&path) {
            Ok(found) if found == wanted => {}
            Ok(found) => problems.push(difference(&definition.path(), &found, &wanted)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                problems.push(format!("{}: missing", definition.path().display()));
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
    let mut folders: Vec<_> = definitions.iter().map(|definition| definition.folder).collect();
    folders.dedup();
    for folder in folders {
        for file in listed(&root.join(folder))? {
            let path = Path::new(folder).join(file);
            if !definitions.iter().any(|definition| definition.path() == path) {
                problems.push(format!("{}: no type makes this file", path.display()));
            }
        }
    }
    Ok(problems)
}

/// The names of the YAML files in a folder, sorted; none when there is no folder.
fn listed(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = PathBuf::from(
            entry
                .with_context(|| format!("cannot read {}", folder.display()))?
                .file_name(),
        );
        if name
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn difference(path: &Path, found: &str, wanted: &str) -> String {
    let mut lines = found.lines().zip(wanted.lines()).zip(1..);
    let path = path.display();
    match lines.find(|((found, wanted), _)| found != wanted) {
        Some(((found, wanted), line)) => {
            format!(
                "{path}:{line}: is `{}`, the types make it `{}`",
                found.trim(),
                wanted.trim()
            )
        }
        None => format!(
            "{path}: has {} lines, the types make it {}",
            found.lines().count(),
            wanted.lines().count()
        ),
    }
}
