//! Files of objects: manifests of one or more YAML documents, JSON, JSON lines, and lists in any of them.

use std::collections::BTreeMap;
use std::fmt;

use mco_model::event::Event;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decode::{self, DecodeError, Decoded, Kind, Options};
use crate::field::{List, Str};
use crate::yaml::{self, YamlError};

/// What a file held.
#[derive(Debug, Default)]
pub struct ReadObjects {
    /// One event for each object that the scheduler reads, in the order of the file.
    pub events: Vec<Event>,
    /// How many objects there were of each kind that the scheduler does not read.
    pub ignored: BTreeMap<String, usize>,
    /// What could not be read. Everything else was.
    pub errors: Vec<ObjectError>,
}

/// A place in a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    /// The file.
    pub file: String,
    /// Which document of the file, counting from one.
    pub document: usize,
    /// The line, counting from one.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: document {}: {}",
            self.file, self.line, self.document, self.problem
        )
    }
}

impl std::error::Error for ObjectError {}

/// Reads a file of objects. What is broken is told in [`ReadObjects::errors`] and never stops the rest.
///
/// A file that begins with `{` is JSON, be it one object, several in a row or one a line; anything else is YAML. An
/// object of kind `List`, or of a typed list such as `PodList`, stands for its items.
pub fn read_objects(bytes: &[u8], file_name: &str, options: &Options) -> ReadObjects {
    let mut reader = Reader {
        file: file_name,
        options,
        read: ReadObjects::default(),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => reader.text(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let line = line_of(bytes, error.valid_up_to());
            reader.fail(1, line, "this is no UTF-8 text".to_owned());
        }
    }
    reader.read
}

struct Reader<'a> {
    file: &'a str,
    options: &'a Options,
    read: ReadObjects,
}

/// A document: its number, its JSON, and how a place in the JSON becomes a line of the file.
struct Source<'a> {
    document: usize,
    json: &'a str,
    line_at: &'a dyn Fn(usize) -> usize,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListObject<'a> {
    #[serde(borrow)]
    api_version: Str<'a>,
    #[serde(borrow)]
    items: List<&'a RawValue>,
}

impl Reader<'_> {
    fn text(&mut self, text: &str) {
        if !text.trim_start().starts_with('{') || !self.json_stream(text) {
            self.manifest(text);
        }
    }

    fn manifest(&mut self, text: &str) {
        for (at, (first_line, document)) in yaml::documents(text).enumerate() {
            match yaml::to_json(document) {
                Ok(read) => self.object(&Source {
                    document: at + 1,
                    json: &read.json,
                    line_at: &|offset| first_line + read.line_at(offset) - 1,
                }),
                Err(YamlError { line, problem }) => self.fail(at + 1, first_line + line.max(1) - 1, problem),
            }
        }
    }

    /// Reads JSON objects in a row. False, with nothing done, when the first one is no JSON but YAML in braces.
    fn json_stream(&mut self, text: &str) -> bool {
        let mut document = 0;
        let mut start = 0;
        while !text[start..].trim_start().is_empty() {
            let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<&RawValue>();
            let mut begin = start;
            let error = loop {
                match stream.next() {
                    None => return true,
                    Some(Err(error)) => break error,
                    Some(Ok(raw)) => {
                        document += 1;
                        let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
                        let line_at = |at| line_of(text.as_bytes(), offset + at);
                        self.object(&Source {
                            document,
                            json: raw.get(),
                            line_at: &line_at,
                        });
                        begin = start + stream.byte_offset();
                    }
                }
            };
            if document == 0
                && yaml::documents(text)
                    .next()
                    .is_some_and(|(_, first)| yaml::to_json(first).is_ok())
            {
                return false;
            }
            document += 1;
            let at = start + decode::offset(&text.as_bytes()[start..], &error);
            let problem = error.to_string();
            let problem = problem
                .rsplit_once(" at line ")
                .map_or(problem.as_str(), |(problem, _)| problem);
            self.fail(
                document,
                line_of(text.as_bytes(), at.saturating_sub(1)),
                problem.to_owned(),
            );
            // The next object begins where a brace stands at the beginning of a line.
            match text[begin..].trim_start().find("\n{") {
                Some(next) => start = text.len() - text[begin..].trim_start().len() + next + 1,
                None => return true,
            }
        }
        true
    }

    fn object(&mut self, source: &Source<'_>) {
        if source.json == "null" {
            return;
        }
        match decode::read_head(source.json.as_bytes()) {
            Ok(head) => match head.kind.strip_suffix("List") {
                Some(item_kind) if !item_kind.ends_with("Report") => self.list(item_kind, source),
                _ => self.item(&head.api_version, &head.kind, source.json, source, 0),
            },
            Err(error) => self.fail_decode(&error, source, 0),
        }
    }

    /// Reads the items of a list. Items of a typed list need not say what they are.
    fn list(&mut self, item_kind: &str, source: &Source<'_>) {
        let list: ListObject<'_> = match serde_json::from_str(source.json) {
            Ok(list) => list,
            Err(error) => {
                let line = (source.line_at)(decode::offset(source.json.as_bytes(), &error));
                let problem = error.to_string();
                let problem = problem
                    .rsplit_once(" at line ")
                    .map_or(problem.as_str(), |(problem, _)| problem);
                return self.fail(source.document, line, format!("{item_kind}List: {problem}"));
            }
        };
        for item in list.items.iter() {
            let offset = item.get().as_ptr() as usize - source.json.as_ptr() as usize;
            match decode::read_head(item.get().as_bytes()) {
                Ok(head) => self.item(&head.api_version, &head.kind, item.get(), source, offset),
                Err(error) if item_kind.is_empty() || error.offset.is_some() => {
                    self.fail_decode(&error, source, offset)
                }
                Err(_) => self.item(&list.api_version, item_kind, item.get(), source, offset),
            }
        }
    }

    fn item(&mut self, api_version: &str, kind: &str, json: &str, source: &Source<'_>, offset: usize) {
        let Some(known) = Kind::of(api_version, kind) else {
            *self.read.ignored.entry(kind.to_owned()).or_default() += 1;
            return;
        };
        match decode::decode_as(known, json.as_bytes(), self.options) {
            Ok(Decoded { event, problems }) => {
                if event.as_ref().is_some_and(is_nameless) {
                    let problem = "an object needs a name".to_owned();
                    let about = decode::explained(json.as_bytes());
                    let error = DecodeError {
                        field: "metadata.name".to_owned(),
                        problem,
                        ..about
                    };
                    return self.fail_decode(&error, source, offset);
                }
                if event.is_none() {
                    *self.read.ignored.entry(kind.to_owned()).or_default() += 1;
                }
                self.read.events.extend(event);
                for problem in &problems {
                    self.fail_decode(problem, source, offset);
                }
            }
            Err(error) => self.fail_decode(&error, source, offset),
        }
    }

    fn fail_decode(&mut self, error: &DecodeError, source: &Source<'_>, offset: usize) {
        let line = (source.line_at)(offset + error.offset.unwrap_or(0));
        self.fail(source.document, line, error.to_string());
    }

    fn fail(&mut self, document: usize, line: usize, problem: String) {
        self.read.errors.push(ObjectError {
            file: self.file.to_owned(),
            document,
            line,
            problem,
        });
    }
}

/// Whether an object lacks a name, without which it could not come from a cluster.
fn is_nameless(event: &Event) -> bool {
    match event {
        Event::NodeSet(node) => node.name.is_empty(),
        Event::PodSet(pod) => pod.name.is_empty(),
        Event::PodGroupSet(group) => group.name.is_empty(),
        Event::QueueSet(queue) => queue.name.is_empty(),
        Event::PriorityClassSet(class) => class.name.is_empty(),
        Event::NamespaceSet { name, .. } => name.is_empty(),
        Event::WorkloadSet(workload) => workload.name.is_empty(),
        Event::QuotaSet(quota) => quota.name.is_empty(),
        Event::DisruptionBudgetSet(budget) => budget.name.is_empty(),
        Event::NumatopologySet(topology) => topology.node.is_empty(),
        _ => false,
    }
}

/// The line of a place in a text, counting from one.
fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}
