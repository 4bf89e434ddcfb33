//! The cluster that surrounds this machine: files of Kubernetes objects, with a few annotations that only the demo reads.

use super::profile::Profile;
use anyhow::{Context, Result, bail};
use mco_model::Event;
use mco_objects::{Options, decode, read_objects, yaml};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What annotations and labels of the demo begin with.
pub const PREFIX: &str = "demo.mco.many-core.io/";
/// The files used when none are given.
const BUILT_IN: [(&str, &str); 2] = [
    ("built-in nodes.yaml", include_str!("../../demo/nodes.yaml")),
    ("built-in gangs.yaml", include_str!("../../demo/gangs.yaml")),
];
/// The most pods that one object may stand for.
const MOST_COPIES: u32 = 1000;

/// When a gang arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// While all is calm.
    Calm = 1,
    /// While this machine is hot.
    Hot = 2,
    /// After that.
    Last = 3,
}

impl Act {
    fn of(text: &str) -> Option<Self> {
        match text {
            "1" => Some(Act::Calm),
            "2" => Some(Act::Hot),
            "3" => Some(Act::Last),
            _ => None,
        }
    }
}

/// A gang that arrives during the demo.
#[derive(Clone, Debug)]
pub struct Gang {
    /// `namespace/name` of the PodGroup.
    pub uid: String,
    /// When it arrives.
    pub act: Act,
    /// Its PodGroup and its pods.
    pub events: Vec<Event>,
}

/// Everything the files say.
#[derive(Debug, Default)]
pub struct Scenario {
    /// What is there from the beginning.
    pub events: Vec<Event>,
    /// Names of the nodes, in the order of the files.
    pub nodes: Vec<String>,
    /// What the simulated collectors send.
    pub profiles: Vec<Profile>,
    /// Gangs by their names.
    pub gangs: BTreeMap<String, Gang>,
    /// What could not be read, each with its place; everything else was.
    pub problems: Vec<String>,
}

/// Reads these files, or the built-in ones when there are none.
///
/// # Errors
/// A file that cannot be opened, or nothing to show: no node beside this one and no gang.
pub fn load(paths: &[PathBuf], host: &str) -> Result<Scenario> {
    let mut scenario = Scenario::default();
    if paths.is_empty() {
        for (name, text) in BUILT_IN {
            scenario.take(name, text, host);
        }
    }
    for path in paths {
        let text = read(path)?;
        scenario.take(&path.display().to_string(), &text, host);
    }
    let lonely: Vec<String> = scenario
        .gangs
        .values()
        .filter(|gang| !has_group(gang))
        .map(|gang| gang.uid.clone())
        .collect();
    for uid in lonely {
        scenario.gangs.remove(&uid);
        scenario.problems.push(format!(
            "gang {uid}: its pods name a PodGroup that no file has; add it"
        ));
    }
    if scenario.gangs.is_empty() {
        bail!(
            "{}no gang to place: give files with at least one PodGroup and its pods",
            join(&scenario.problems)
        );
    }
    Ok(scenario)
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read --cluster {}", path.display()))?;
    // The object reader tells where text is broken; what is left is read here.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn join(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn has_group(gang: &Gang) -> bool {
    gang.events
        .iter()
        .any(|event| matches!(event, Event::PodGroupSet(_)))
}

impl Scenario {
    fn take(&mut self, file: &str, text: &str, host: &str) {
        let options = Options::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let checked = read_objects(text.as_bytes(), file, &options);
        self.problems
            .extend(checked.errors.iter().map(ToString::to_string));
        for (kind, count) in checked.ignored {
            self.problems.push(format!(
                "{file}: {count} of kind {kind} left out: the scheduler does not read it"
            ));
        }
        for (line, document) in yaml::documents(text) {
            // What does not read was told above, with its place.
            let Ok(document) = yaml::to_json(document) else {
                continue;
            };
            let Ok(object) = serde_json::from_str::<Value>(&document.json) else {
                continue;
            };
            let items = items(object);
            let alone = items.len() == 1;
            // The line where a text stands; of a list, which may have it in several items, its first line.
            let place = |text: &str| {
                let offset = document.json.find(text).filter(|_| alone).unwrap_or(0);
                format!("{file}:{}", line + document.line_at(offset) - 1)
            };
            for object in items {
                self.object(object, &place, host, &options);
            }
        }
    }

    fn object(&mut self, mut object: Value, place: &dyn Fn(&str) -> String, host: &str, options: &Options) {
        let notes = notes_of(&object);
        let kind = object
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let name = object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let told = |key: &str, problem: &str| {
            let place = place(&format!("\"{PREFIX}{key}\""));
            format!("{place}: {kind} {name}: annotation `{PREFIX}{key}` {problem}")
        };
        if kind == "Node" {
            if name == host {
                return self.problems.push(format!(
                    "{}: Node {name} has the name of this machine, which the demo adds by itself; rename it",
                    place("\"name\"")
                ));
            }
            label(&mut object, "simulated", "true");
            let (profile, problems) = Profile::read(&name, &notes);
            self.problems
                .extend(problems.iter().map(|(key, problem)| told(key, problem)));
            self.profiles.extend(profile);
        }
        let copies = match copies(&notes) {
            Ok(copies) => copies,
            Err(problem) => return self.problems.push(told("copies", &problem)),
        };
        let act = match notes.get("arrives").map(|text| (Act::of(text), text)) {
            None => Act::Calm,
            Some((Some(act), _)) => act,
            Some((None, text)) => {
                let problem = format!("is `{text}`; write \"1\", \"2\" or \"3\"");
                self.problems.push(told("arrives", &problem));
                Act::Calm
            }
        };
        for copy in 0..copies.unwrap_or(1) {
            if copies.is_some() {
                rename(&mut object, &format!("{name}-{copy}"));
            }
            let decoded = serde_json::to_vec(&object)
                .ok()
                .and_then(|json| decode(&json, options).ok());
            if let Some(event) = decoded.and_then(|decoded| decoded.event) {
                self.event(event, act);
            }
        }
    }

    fn event(&mut self, event: Event, act: Act) {
        let uid = match &event {
            Event::PodGroupSet(group) => format!("{}/{}", group.namespace, group.name),
            Event::PodSet(pod) if pod.node.is_empty() && !pod.group.is_empty() => {
                format!("{}/{}", pod.namespace, pod.group)
            }
            _ => {
                if let Event::NodeSet(node) = &event
                    && !self.nodes.iter().any(|known| *known == *node.name)
                {
                    self.nodes.push(node.name.to_string());
                }
                return self.events.push(event);
            }
        };
        let gang = self.gangs.entry(uid.clone()).or_insert_with(|| Gang {
            uid,
            act: Act::Calm,
            events: Vec::new(),
        });
        if matches!(event, Event::PodGroupSet(_)) {
            gang.act = act;
        }
        gang.events.push(event);
    }
}

/// The items of a list, or the object itself.
fn items(mut object: Value) -> Vec<Value> {
    let is_list = object
        .get("kind")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.ends_with("List"));
    match object.get_mut("items").filter(|_| is_list).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => vec![object],
    }
}

/// The demo's annotations, without their prefix.
fn notes_of(object: &Value) -> BTreeMap<String, String> {
    let annotations = object.pointer("/metadata/annotations").and_then(Value::as_object);
    let ours = annotations.into_iter().flatten().filter_map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some((key.strip_prefix(PREFIX)?.to_owned(), value))
    });
    ours.collect()
}

fn copies(notes: &BTreeMap<String, String>) -> Result<Option<u32>, String> {
    let Some(text) = notes.get("copies") else {
        return Ok(None);
    };
    match text.parse() {
        Ok(copies @ 1..=MOST_COPIES) => Ok(Some(copies)),
        _ => Err(format!("is `{text}`; write a number from 1 to {MOST_COPIES}")),
    }
}

fn label(object: &mut Value, key: &str, value: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let labels = metadata
        .entry("labels")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(format!("{PREFIX}{key}"), json!(value));
    }
}

fn rename(object: &mut Value, name: &str) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("name".to_owned(), json!(name));
        metadata.remove("uid");
    }
}

#[cfg(test)]
mod tests;
