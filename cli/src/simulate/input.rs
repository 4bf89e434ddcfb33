//! What `simulate` reads: the configuration, and files or folders of objects. A broken object is told and left out.

use super::Arguments;
use anyhow::{Context, Result};
use mco_framework::conf::{self, SchedulerConf};
use mco_model::Event;
use mco_model::event::QueueRecord;
use mco_objects::{Options, read_objects};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The objects of all files.
#[derive(Default)]
pub struct Objects {
    /// In the order of the files.
    pub events: Vec<Event>,
    /// Kinds that the scheduler does not read, with their numbers.
    pub ignored: BTreeMap<String, usize>,
    /// What could not be read, each with its place.
    pub errors: Vec<String>,
}

/// Reads the configuration; the built-in default without a file.
pub fn read_conf(path: Option<&Path>) -> Result<SchedulerConf> {
    let Some(path) = path else {
        return Ok(SchedulerConf::built_in());
    };
    let bytes = std::fs::read(path).with_context(|| format!("cannot read --conf {}", path.display()))?;
    conf::read(&bytes).with_context(|| format!("--conf {}", path.display()))
}

/// The queue that the scheduler makes when it starts; one of the same name in the files takes its place.
pub fn default_queue(name: &str) -> Event {
    Event::QueueSet(Box::new(QueueRecord {
        name: name.into(),
        weight: 1,
        reclaimable: true,
        ..QueueRecord::default()
    }))
}

/// Reads every file given, folders with all their files in the order of their names.
pub fn read_cluster(arguments: &Arguments) -> Result<Objects> {
    let options = Options {
        scheduler_names: arguments
            .scheduler_name
            .iter()
            .map(|name| name.as_str().into())
            .collect(),
        ..Options::default()
    };
    let mut objects = Objects::default();
    for path in &arguments.cluster {
        for file in files(path)? {
            match read(&file) {
                Ok(bytes) => objects.take(read_objects(&bytes, &file.display().to_string(), &options)),
                Err(error) => objects.errors.push(format!("{error:#}")),
            }
        }
    }
    Ok(objects)
}

impl Objects {
    fn take(&mut self, read: mco_objects::ReadObjects) {
        self.events.extend(read.events);
        self.errors.extend(read.errors.iter().map(ToString::to_string));
        for (kind, count) in read.ignored {
            *self.ignored.entry(kind).or_default() += count;
        }
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = || format!("cannot list --cluster {}", path.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).with_context(cannot)? {
        let file = entry.with_context(cannot)?.path();
        let wanted = file
            .extension()
            .is_some_and(|end| ["yaml", "yml", "json", "jsonl"].iter().any(|e| end == *e));
        if file.is_file() && wanted {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("cannot read objects from standard input")?;
        return Ok(bytes);
    }
    std::fs::read(path).with_context(|| format!("cannot read --cluster {}", path.display()))
}
