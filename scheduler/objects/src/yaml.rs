//! Manifests: YAML 1.1 as kubectl reads it, turned into JSON text.
//!
//! Plain scalars are resolved as Go's `yaml.v2` does it: `yes` is a boolean, `010` is eight, `1e3` is a number and
//! `1e400` a text. Numbers are printed as Go prints them, so that a quantity reads the same as behind kubectl.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use thiserror::Error;

mod scalar;

use scalar::Scalar;

/// Deeper nesting is refused. JSON readers refuse it as well.
const MAX_DEPTH: usize = 100;

/// Aliases may make the text so many times as long, beyond a floor.
const MAX_GROWTH: usize = 20;
const GROWTH_FLOOR: usize = 1 << 20;

/// One YAML document as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The JSON text, on one line.
    pub json: String,
    /// Where keys and items begin in `json`, and on which line of the document each stands. Ascending.
    lines: Vec<(usize, usize)>,
}

impl Document {
    /// The line of the document, counting from one, that a place in the JSON text comes from.
    pub fn line_at(&self, offset: usize) -> usize {
        let after = self.lines.partition_point(|(start, _)| *start < offset);
        self.lines[..after]
            .last()
            .or(self.lines.first())
            .map_or(1, |(_, line)| *line)
    }
}

/// A text that is no YAML, or YAML that cannot be JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct YamlError {
    /// The line, counting from one.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Cuts a text where lines start with `---`. Yields the first line of each document, counting from one, with its text;
/// those that hold nothing but blanks and comments are left out.
pub fn documents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut cuts = vec![(1, 0)];
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let marker = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if marker && offset > 0 {
            cuts.push((number + 1, offset));
        }
        offset += line.len();
    }
    let ends: Vec<_> = cuts.iter().skip(1).map(|cut| cut.1).chain([text.len()]).collect();
    let documents = cuts
        .into_iter()
        .zip(ends)
        .map(|((line, start), end)| (line, &text[start..end]));
    documents.filter(|(_, document)| !is_blank(document))
}

fn is_blank(document: &str) -> bool {
    let document = document.strip_prefix('\u{feff}').unwrap_or(document);
    document.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---" || line == "..."
    })
}

/// One document as JSON.
///
/// # Errors
/// When it is no YAML, has a value JSON cannot hold, nests too deep or grows too much by aliases.
pub fn to_json(document: &str) -> Result<Document, YamlError> {
    let root = Builder::default().build(document)?;
    let out = Document {
        json: String::with_capacity(document.len()),
        lines: vec![(0, root.line)],
    };
    let mut writer = Writer {
        out,
        limit: GROWTH_FLOOR + document.len() * MAX_GROWTH,
    };
    writer.node(&root)?;
    Ok(writer.out)
}

struct Node {
    line: usize,
    value: Value,
}

enum Value {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

/// A collection that is being read.
struct Open {
    line: usize,
    anchor: usize,
    collection: Collection,
}

enum Collection {
    List(Vec<Rc<Node>>),
    Map {
        entries: Vec<(String, Rc<Node>)>,
        key: Option<String>,
        merged: Vec<Rc<Node>>,
        merging: bool,
    },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Builder {
    fn build(mut self, document: &str) -> Result<Rc<Node>, YamlError> {
        let mut parser = Parser::new_from_str(document);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| scan_error(&error))?;
            let line = span.start.line();
            if self.root.is_some() && !matches!(event, Event::DocumentEnd | Event::StreamEnd) {
                return Err(fail(line, "a second document begins without a `---` line"));
            }
            self.event(event, line)?;
        }
        Ok(self.root.unwrap_or_else(|| {
            Rc::new(Node {
                line: 1,
                value: Value::Scalar(Scalar::Null),
            })
        }))
    }

    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                // A merge key is one only when it is plain.
                if plain && tag.is_none() && text == "<<" && self.begin_merge() {
                    return Ok(());
                }
                let scalar = resolve(text, plain, tag.as_deref()).map_err(|problem| fail(line, &problem))?;
                self.push(
                    Node {
                        line,
                        value: Value::Scalar(scalar),
                    },
                    anchor,
                )
            }
            Event::SequenceStart(_, anchor, _) => self.open(line, anchor, Collection::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => self.open(
                line,
                anchor,
                Collection::Map {
                    entries: Vec::new(),
                    key: None,
                    merged: Vec::new(),
                    merging: false,
                },
            ),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                let value = match open.collection {
                    Collection::List(items) => Value::List(items),
                    Collection::Map { entries, merged, .. } => {
                        Value::Map(merge(entries, &merged, open.line)?)
                    }
                };
                self.push(
                    Node {
                        line: open.line,
                        value,
                    },
                    open.anchor,
                )
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.place(node, line),
                None => Err(fail(line, "an alias that refers into itself")),
            },
            _ => Ok(()),
        }
    }

    fn open(&mut self, line: usize, anchor: usize, collection: Collection) -> Result<(), YamlError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(fail(line, "nested too deep"));
        }
        self.open.push(Open {
            line,
            anchor,
            collection,
        });
        Ok(())
    }

    /// Whether `<<` stands where a key is expected.
    fn begin_merge(&mut self) -> bool {
        match self.open.last_mut() {
            Some(Open {
                collection: Collection::Map {
                    key: None, merging, ..
                },
                ..
            }) => {
                *merging = true;
                true
            }
            _ => false,
        }
    }

    fn push(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        let line = node.line;
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.place(node, line)
    }

    fn place(&mut self, node: Rc<Node>, line: usize) -> Result<(), YamlError> {
        match self.open.last_mut().map(|open| &mut open.collection) {
            None => self.root = Some(node),
            Some(Collection::List(items)) => items.push(node),
            Some(Collection::Map { merged, merging, .. }) if *merging => {
                *merging = false;
                merged.push(node);
            }
            Some(Collection::Map { entries, key, .. }) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(key_text(&node).ok_or_else(|| fail(line, "a key that is no text"))?),
            },
        }
        Ok(())
    }
}

/// The text of a key. Kubernetes knows text keys only; numbers and booleans turn into their text.
fn key_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Scalar(Scalar::Text(text)) => Some(text.clone()),
        Value::Scalar(Scalar::Number(text)) => Some(text.clone()),
        Value::Scalar(Scalar::Bool(value)) => Some(value.to_string()),
        _ => None,
    }
}

/// A map with what it merges in. Its own keys win, then the maps named first; of a key given twice the last counts.
fn merge(
    own: Vec<(String, Rc<Node>)>,
    merged: &[Rc<Node>],
    line: usize,
) -> Result<Vec<(String, Rc<Node>)>, YamlError> {
    let mut entries: Vec<(String, Rc<Node>)> = Vec::with_capacity(own.len());
    let mut places: HashMap<String, usize> = HashMap::with_capacity(own.len());
    for (key, node) in own {
        match places.get(&key) {
            Some(&place) => entries[place].1 = node,
            None => {
                places.insert(key.clone(), entries.len());
                entries.push((key, node));
            }
        }
    }
    let sources = merged.iter().flat_map(|node| match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    });
    for source in sources {
        let Value::Map(more) = &source.value else {
            return Err(fail(line, "`<<` needs a map or a list of maps"));
        };
        for (key, node) in more {
            if !places.contains_key(key) {
                places.insert(key.clone(), entries.len());
                entries.push((key.clone(), Rc::clone(node)));
            }
        }
    }
    Ok(entries)
}

fn resolve(text: Cow<'_, str>, plain: bool, tag: Option<&Tag>) -> Result<Scalar, String> {
    let Some(core) = tag.and_then(Tag::core_suffix) else {
        // An own tag says nothing to kubectl; the bare `!` means text.
        let bare = tag.is_some_and(|tag| tag.handle().is_empty() && tag.suffix() == "!");
        return if plain && !bare {
            Scalar::resolve(&text)
        } else {
            Ok(Scalar::Text(text.into_owned()))
        };
    };
    match (core, Scalar::resolve(&text)) {
        ("str", _) => Ok(Scalar::Text(text.into_owned())),
        ("int" | "float", Ok(scalar @ Scalar::Number(_)))
        | ("bool", Ok(scalar @ Scalar::Bool(_)))
        | ("null", Ok(scalar @ Scalar::Null)) => Ok(scalar),
        ("int" | "float" | "bool" | "null", Err(problem)) => Err(problem),
        ("timestamp", _) => Ok(Scalar::Text(text.into_owned())),
        (core, _) => Err(format!("`{text}` cannot be read as `!!{core}`")),
    }
}

struct Writer {
    out: Document,
    limit: usize,
}

impl Writer {
    fn node(&mut self, node: &Node) -> Result<(), YamlError> {
        if self.out.json.len() > self.limit {
            return Err(fail(node.line, "aliases make this document too large"));
        }
        match &node.value {
            Value::Scalar(Scalar::Null) => self.out.json.push_str("null"),
            Value::Scalar(Scalar::Bool(value)) => {
                self.out.json.push_str(if *value { "true" } else { "false" })
            }
            Value::Scalar(Scalar::Number(text)) => self.out.json.push_str(text),
            Value::Scalar(Scalar::Text(text)) => self.text(text),
            Value::List(items) => {
                self.out.json.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.separate(at, item.line);
                    self.node(item)?;
                }
                self.out.json.push(']');
            }
            Value::Map(entries) => {
                self.out.json.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    self.separate(at, value.line);
                    self.text(key);
                    self.out.json.push(':');
                    self.node(value)?;
                }
                self.out.json.push('}');
            }
        }
        Ok(())
    }

    fn separate(&mut self, at: usize, line: usize) {
        if at > 0 {
            self.out.json.push(',');
        }
        self.out.lines.push((self.out.json.len(), line));
    }

    fn text(&mut self, text: &str) {
        match serde_json::to_string(text) {
            Ok(quoted) => self.out.json.push_str(&quoted),
            Err(_) => self.out.json.push_str("\"\""),
        }
    }
}

fn fail(line: usize, problem: &str) -> YamlError {
    YamlError {
        line,
        problem: problem.to_owned(),
    }
}

fn scan_error(error: &ScanError) -> YamlError {
    fail(error.marker().line(), &error.info())
}
