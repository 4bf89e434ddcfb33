//! Objects from YAML files, such as those of the chart.

use crate::objects::Object;
use anyhow::{Context, bail};
use serde_json::Value;
use std::path::Path;

/// The objects of a YAML text of one or more documents.
///
/// # Errors
/// When it is no YAML, or an object has no kind.
pub fn yaml_objects(text: &str) -> anyhow::Result<Vec<Object>> {
    let values: Vec<Value> = serde_saphyr::from_multiple(text)?;
    let objects: Vec<Object> = values
        .into_iter()
        .filter(|value| !value.is_null())
        .map(Object)
        .collect();
    if let Some(odd) = objects.iter().find(|object| !object.0["kind"].is_string()) {
        bail!("no kind in {}", odd.0);
    }
    Ok(objects)
}

/// The objects of all YAML files in a folder.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn yaml_files(dir: &Path) -> anyhow::Result<Vec<Object>> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut objects = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path)?;
            let read = yaml_objects(&text).with_context(|| format!("cannot read {}", path.display()))?;
            objects.extend(read);
        }
    }
    Ok(objects)
}
