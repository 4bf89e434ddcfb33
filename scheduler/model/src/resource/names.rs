//! The registry of scalar resource names: a name becomes a small number once, where it enters.

use std::collections::HashMap;

use thiserror::Error;

/// A scalar resource name, as registered in the [`ScalarNames`] of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarId(u16);

impl ScalarId {
    /// `pods`, which every registry knows from the start.
    pub const PODS: ScalarId = ScalarId(0);

    /// The id with the number `index`, the inverse of [`Self::index`].
    ///
    /// # Panics
    /// When no registry can have given out such an id.
    pub fn at(index: usize) -> ScalarId {
        ScalarId(u16::try_from(index).expect("ids are given out by a registry"))
    }

    /// The number of this name, counting up from zero in the order of registration; fit to index a column.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Resource names to ids and back. Ids of one registry mean nothing in another.
#[derive(Clone, Debug)]
pub struct ScalarNames {
    names: Vec<Box<str>>,
    ids: HashMap<Box<str>, ScalarId>,
}

/// Every id is taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("resource `{name}` cannot be counted: there are already {} different resource names", usize::from(u16::MAX) + 1)]
pub struct TooManyNames {
    /// The name that found no place.
    pub name: String,
}

impl ScalarNames {
    /// A registry that knows `pods` alone.
    pub fn new() -> Self {
        let pods: Box<str> = "pods".into();
        Self {
            names: vec![pods.clone()],
            ids: HashMap::from([(pods, ScalarId::PODS)]),
        }
    }

    /// The id of a name, a new one when it is not known yet.
    ///
    /// # Errors
    /// When 65536 other names are known. Names known by then go on working.
    pub fn intern(&mut self, name: &str) -> Result<ScalarId, TooManyNames> {
        if let Some(id) = self.get(name) {
            return Ok(id);
        }
        let Ok(number) = u16::try_from(self.names.len()) else {
            return Err(TooManyNames {
                name: name.to_owned(),
            });
        };
        self.names.push(name.into());
        self.ids.insert(name.into(), ScalarId(number));
        Ok(ScalarId(number))
    }

    /// The id of a name, `None` when no object has mentioned it yet.
    pub fn get(&self, name: &str) -> Option<ScalarId> {
        self.ids.get(name).copied()
    }

    /// The name of an id of this registry; of a foreign id, `unknown`.
    pub fn name(&self, id: ScalarId) -> &str {
        self.names.get(id.index()).map_or("unknown", |name| name)
    }

    /// How many names are known.
    #[expect(
        clippy::len_without_is_empty,
        reason = "`pods` is always known, so it is never empty"
    )]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (ScalarId, &str)> {
        (0..=u16::MAX)
            .map(ScalarId)
            .zip(self.names.iter().map(|name| &**name))
    }
}

impl Default for ScalarNames {
    fn default() -> Self {
        Self::new()
    }
}
