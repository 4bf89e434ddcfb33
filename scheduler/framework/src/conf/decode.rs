//! From the tree to a configuration: aliases, merge keys, repeated keys and uniting, in one pass in the order of the
//! text, with every value of the wrong type noted.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::arguments::Arguments;
use super::error::{ConfError, Mismatch, Place, Problem};
use super::records::{RawConf, Record};
use super::resolve::{is_absent, resolve};
use super::value::Value;
use super::yaml::{Kind, NodeId, Scalar, Tree};

pub(super) type Result<T> = std::result::Result<T, ConfError>;

/// How deep values may nest, aliases followed. The text itself may nest deeper where nobody reads it.
const DEPTH_LIMIT: usize = 512;

/// Decodes the whole tree. Fails at the first fault that upstream fails at once for, else with all values of the wrong
/// type together.
pub(super) fn decode(tree: &Tree) -> Result<RawConf> {
    let mut decoder = Decoder {
        tree,
        path: Vec::new(),
        mismatches: Vec::new(),
        open_aliases: HashSet::new(),
        depth: 0,
        // The document itself is one.
        visits: 1,
        alias_visits: 0,
    };
    let mut conf = RawConf::default();
    decoder.record(tree.root(), &mut conf)?;
    match decoder.mismatches.first() {
        Some(first) => Err(ConfError::new(first.at, Problem::WrongType(decoder.mismatches))),
        None => Ok(conf),
    }
}

pub(super) struct Decoder<'a> {
    pub(super) tree: &'a Tree,
    path: Vec<Step>,
    mismatches: Vec<Mismatch>,
    /// Aliases being followed.
    open_aliases: HashSet<NodeId>,
    depth: usize,
    /// How many nodes were visited, each as often as aliases lead to it, and how many of these through aliases.
    visits: u32,
    alias_visits: u32,
}

enum Step {
    Key(String),
    Entry(usize),
}

impl<'a> Decoder<'a> {
    /// Follows the node, or what it is an alias of, into `then`.
    fn visit<T>(&mut self, id: NodeId, then: impl FnOnce(&mut Self, NodeId) -> Result<T>) -> Result<T> {
        let place = self.tree.node(id).place;
        if self.depth == DEPTH_LIMIT {
            return Err(ConfError::new(place, Problem::TooDeep { limit: DEPTH_LIMIT }));
        }
        self.depth += 1;
        self.count(place)?;
        let result = match &self.tree.node(id).kind {
            Kind::Alias { name, target } => {
                if !self.open_aliases.insert(id) {
                    return Err(ConfError::new(
                        place,
                        Problem::RecursiveAnchor { name: name.clone() },
                    ));
                }
                let target = *target;
                self.count(place).and_then(|()| then(self, target)).inspect(|_| {
                    self.open_aliases.remove(&id);
                })
            }
            _ => then(self, id),
        };
        self.depth -= 1;
        result
    }

    /// Counts a visit and refuses texts that are nearly all aliases: up to 400 000 visits 99 % of them may be, from
    /// 4 000 000 on 10 %, and evenly falling between.
    fn count(&mut self, place: Place) -> Result<()> {
        self.visits += 1;
        if !self.open_aliases.is_empty() {
            self.alias_visits += 1;
        }
        let (low, high) = (400_000.0, 4_000_000.0);
        let visits = f64::from(self.visits);
        let allowed = 0.99 - 0.89 * ((visits - low) / (high - low)).clamp(0.0, 1.0);
        let share = f64::from(self.alias_visits) / visits;
        if self.alias_visits > 100 && self.visits > 1000 && share > allowed {
            return Err(ConfError::new(place, Problem::TooMuchAliasing));
        }
        Ok(())
    }

    /// Decodes a mapping into the record, whose other fields stay. Null empties it.
    pub(super) fn record<R: Record>(&mut self, id: NodeId, record: &mut R) -> Result<()> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Map(pairs) => decoder.fields(pairs, record),
            Kind::Scalar(scalar) if decoder.is_null(id, scalar)? => {
                *record = R::default();
                Ok(())
            }
            _ => {
                decoder.mismatch::<()>(id, R::WANTED);
                Ok(())
            }
        })
    }

    fn fields<R: Record>(&mut self, pairs: &'a [(NodeId, NodeId)], record: &mut R) -> Result<()> {
        for &(key, value) in pairs {
            if self.is_merge(key) {
                self.merge(value, |decoder, id| decoder.record(id, record))?;
            } else if let Some(name) = self.text(key, "a text as key")? {
                self.path.push(Step::Key(name.clone()));
                record.field(&name, value, self)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    /// A list of records with their places; null is an empty list. `None` if it is of another type.
    pub(super) fn records<R: Record>(
        &mut self,
        id: NodeId,
        wanted: &'static str,
    ) -> Result<Option<(Vec<R>, Vec<Place>)>> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::List(entries) => {
                let (mut records, mut places) = (Vec::new(), Vec::new());
                for (at, &entry) in entries.iter().enumerate() {
                    let mut record = R::default();
                    decoder.path.push(Step::Entry(at));
                    decoder.record(entry, &mut record)?;
                    decoder.path.pop();
                    records.push(record);
                    places.push(decoder.tree.node(entry).place);
                }
                Ok(Some((records, places)))
            }
            Kind::Scalar(scalar) if decoder.is_null(id, scalar)? => Ok(Some((Vec::new(), Vec::new()))),
            _ => Ok(decoder.mismatch(id, wanted)),
        })
    }

    /// A text. Numbers, booleans and dates are taken as spelt, null as the empty text.
    pub(super) fn text(&mut self, id: NodeId, wanted: &'static str) -> Result<Option<String>> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Scalar(scalar) => Ok(Some(match decoder.resolve(id, scalar)? {
                Value::Null => String::new(),
                Value::Str(text) => text,
                _ => scalar.text.clone(),
            })),
            _ => Ok(decoder.mismatch(id, wanted)),
        })
    }

    pub(super) fn switch(&mut self, id: NodeId) -> Result<Option<bool>> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Scalar(scalar) => match decoder.resolve(id, scalar)? {
                Value::Bool(value) => Ok(Some(value)),
                Value::Null => Ok(if is_absent(scalar) { None } else { Some(false) }),
                _ => Ok(decoder.mismatch(id, "true or false, without quotes")),
            },
            _ => Ok(decoder.mismatch(id, "true or false")),
        })
    }

    /// Adds the mapping to the arguments there are; null leaves none.
    pub(super) fn arguments(&mut self, id: NodeId, arguments: &mut Arguments) -> Result<()> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Map(pairs) => {
                arguments.mark_given();
                for &(key, value) in pairs {
                    if decoder.is_merge(key) {
                        decoder.merge(value, |decoder, id| decoder.arguments(id, arguments))?;
                    } else if let Some(name) = decoder.text(key, "a text as key")? {
                        let value = decoder.value(value)?;
                        arguments.set(name, value);
                    }
                }
                Ok(())
            }
            Kind::Scalar(scalar) if decoder.is_null(id, scalar)? => {
                *arguments = Arguments::default();
                Ok(())
            }
            _ => {
                decoder.mismatch::<()>(id, "a mapping");
                Ok(())
            }
        })
    }

    /// Adds the mapping to the texts there are; null leaves none.
    pub(super) fn metrics(
        &mut self,
        id: NodeId,
        metrics: &mut Option<IndexMap<String, String>>,
    ) -> Result<()> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Map(pairs) => {
                metrics.get_or_insert_with(IndexMap::new);
                for &(key, value) in pairs {
                    if decoder.is_merge(key) {
                        decoder.merge(value, |decoder, id| decoder.metrics(id, metrics))?;
                    } else if let Some(name) = decoder.text(key, "a text as key")? {
                        decoder.path.push(Step::Key(name.clone()));
                        if let Some(text) = decoder.text(value, "a text")? {
                            metrics.get_or_insert_with(IndexMap::new).insert(name, text);
                        }
                        decoder.path.pop();
                    }
                }
                Ok(())
            }
            Kind::Scalar(scalar) if decoder.is_null(id, scalar)? => {
                *metrics = None;
                Ok(())
            }
            _ => {
                decoder.mismatch::<()>(id, "a mapping of texts");
                Ok(())
            }
        })
    }

    fn value(&mut self, id: NodeId) -> Result<Value> {
        self.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
            Kind::Scalar(scalar) => decoder.resolve(id, scalar),
            Kind::List(entries) => {
                let values = entries
                    .iter()
                    .map(|&entry| decoder.value(entry))
                    .collect::<Result<_>>()?;
                Ok(Value::List(values))
            }
            Kind::Map(pairs) => {
                let mut map = ValueMap::default();
                decoder.value_pairs(pairs, &mut map)?;
                Ok(Value::Map(map.pairs))
            }
            Kind::Alias { .. } => unreachable!("an anchor never stands at an alias"),
        })
    }

    fn value_pairs(&mut self, pairs: &'a [(NodeId, NodeId)], map: &mut ValueMap) -> Result<()> {
        for &(key, value) in pairs {
            if self.is_merge(key) {
                self.merge(value, |decoder, id| {
                    decoder.visit(id, |decoder, id| match &decoder.tree.node(id).kind {
                        Kind::Map(pairs) => decoder.value_pairs(pairs, map),
                        _ => unreachable!("only mappings are merged"),
                    })
                })?;
                continue;
            }
            let place = self.tree.node(key).place;
            let what = match self.value(key)? {
                Value::List(_) => "list",
                Value::Map(_) => "mapping",
                key => {
                    map.insert(key, self.value(value)?);
                    continue;
                }
            };
            return Err(ConfError::new(place, Problem::KeyNotScalar { what }));
        }
        Ok(())
    }

    /// Whether this key merges. Quoted it does not.
    fn is_merge(&self, key: NodeId) -> bool {
        match &self.tree.node(key).kind {
            Kind::Scalar(Scalar { text, tag, plain }) => {
                text == "<<" && (*plain || tag == "tag:yaml.org,2002:merge")
            }
            _ => false,
        }
    }

    /// Merges one mapping, or a list of them backwards so that earlier ones take precedence.
    fn merge(&mut self, id: NodeId, mut each: impl FnMut(&mut Self, NodeId) -> Result<()>) -> Result<()> {
        let sources = match &self.tree.node(id).kind {
            Kind::List(entries) => entries.as_slice(),
            _ => &[id],
        };
        for &source in sources.iter().rev() {
            let node = self.tree.node(source);
            let target = match &node.kind {
                Kind::Alias { target, .. } => &self.tree.node(*target).kind,
                kind => kind,
            };
            if !matches!(target, Kind::Map(_)) {
                return Err(ConfError::new(node.place, Problem::MergeWithoutMap));
            }
            each(self, source)?;
        }
        Ok(())
    }

    fn resolve(&self, id: NodeId, scalar: &Scalar) -> Result<Value> {
        resolve(scalar).map_err(|problem| ConfError::new(self.tree.node(id).place, problem))
    }

    fn is_null(&self, id: NodeId, scalar: &Scalar) -> Result<bool> {
        self.resolve(id, scalar).map(|value| value == Value::Null)
    }

    /// Notes that something else is wanted here.
    fn mismatch<T>(&mut self, id: NodeId, wanted: &'static str) -> Option<T> {
        let node = self.tree.node(id);
        let found = match &node.kind {
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
            Kind::Scalar(scalar) => format!("`{}`", shorten(&scalar.text)),
            Kind::Alias { name, .. } => format!("alias `*{name}`"),
        };
        let path = self.path.iter().fold(String::new(), |path, step| match step {
            Step::Entry(at) => format!("{path}[{at}]"),
            Step::Key(key) if path.is_empty() => key.clone(),
            Step::Key(key) => format!("{path}.{key}"),
        });
        let path = if path.is_empty() {
            "the file".to_owned()
        } else {
            path
        };
        self.mismatches.push(Mismatch {
            at: node.place,
            path,
            found,
            wanted,
        });
        None
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A mapping being put together: of a key given twice the last value counts.
#[derive(Default)]
struct ValueMap {
    pairs: Vec<(Value, Value)>,
    places: HashMap<String, usize>,
}

impl ValueMap {
    fn insert(&mut self, key: Value, value: Value) {
        // Not a number equals nothing, itself included.
        if matches!(key, Value::Float(number) if number.is_nan()) {
            self.pairs.push((key, value));
            return;
        }
        // The type belongs to the key: 1, 1.0 and "1" are three keys. Both noughts are one.
        let text = match &key {
            Value::Float(0.0) => "float 0".to_owned(),
            Value::Float(number) => format!("float {number:e}"),
            other => format!("{} {other}", other.type_name()),
        };
        let next = self.pairs.len();
        let place = *self.places.entry(text).or_insert(next);
        if place == next {
            self.pairs.push((key, value));
        } else {
            self.pairs[place] = (key, value);
        }
    }
}
