//! Amounts of cpu, memory and scalar resources, with Volcano's rules for what an absent scalar means.
//!
//! A scalar that is absent is not a scalar at zero: comparisons and subtractions tell them apart. Even a resource
//! without any scalar map (`has_scalar_map` is false) differs from one with an empty map: subtracting scalars from the
//! former leaves it alone, from the latter gives negative entries.

mod arithmetic;
mod compare;
mod key;
mod list;
mod names;
#[cfg(test)]
mod tests;

pub use arithmetic::{Underflow, share};
pub use key::ExactResource;
pub use list::{Unit, unit_of};
pub use names::{ScalarId, ScalarNames, TooManyNames};

use std::fmt;

use smallvec::SmallVec;

/// Amounts closer than this count as equal, and less than this counts as nothing: 0.1 milli-CPU, 0.1 byte,
/// 0.1 of a scalar's unit. Exclusive.
pub const MIN_RESOURCE: f64 = 0.1;

/// What a scalar counts as in a comparison when one side lacks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// An absent scalar is an amount of zero.
    Zero,
    /// An absent scalar is unlimited.
    Infinity,
}

/// One kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Processor time in thousandths of a cpu.
    Cpu,
    /// Memory in bytes.
    Memory,
    /// Any other kind; `pods` in whole pods, all others in thousandths.
    Scalar(ScalarId),
}

impl Dimension {
    /// The Kubernetes name of this kind.
    pub fn name(self, names: &ScalarNames) -> &str {
        match self {
            Dimension::Cpu => "cpu",
            Dimension::Memory => "memory",
            Dimension::Scalar(id) => names.name(id),
        }
    }
}

pub(crate) type Scalars = SmallVec<[(ScalarId, f64); 2]>;

/// An amount of every kind of resource. One cache line; no allocation up to two scalars.
///
/// `==` is exact, bar the usual `NaN != NaN` and `-0.0 == 0.0`; [`Resource::equal`] is the tolerant comparison and
/// [`ExactResource`] the bitwise one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    /// Processor time in thousandths of a cpu.
    pub milli_cpu: f64,
    /// Memory in bytes.
    pub memory: f64,
    /// Sorted by id, each id once. `None` is the absent map.
    scalars: Option<Scalars>,
}

impl Resource {
    /// An amount without any scalar. `milli_cpu` in thousandths of a cpu, `memory` in bytes.
    pub fn new(milli_cpu: f64, memory: f64) -> Self {
        Self {
            milli_cpu,
            memory,
            scalars: None,
        }
    }

    /// The same amount with the scalar `id` set to `amount`.
    pub fn with_scalar(mut self, id: ScalarId, amount: f64) -> Self {
        self.set_scalar(id, amount);
        self
    }

    /// The same amount with a scalar map, an empty one where it had none.
    pub fn with_scalar_map(mut self) -> Self {
        self.scalars.get_or_insert_default();
        self
    }

    /// The amount of one kind, zero when absent.
    #[inline]
    pub fn get(&self, dimension: Dimension) -> f64 {
        self.get_present(dimension).unwrap_or(0.0)
    }

    /// The amount of one kind, `None` when it is an absent scalar.
    #[inline]
    pub fn get_present(&self, dimension: Dimension) -> Option<f64> {
        match dimension {
            Dimension::Cpu => Some(self.milli_cpu),
            Dimension::Memory => Some(self.memory),
            Dimension::Scalar(id) => self.scalar(id),
        }
    }

    /// The amount of a scalar, `None` when absent.
    #[inline]
    pub fn scalar(&self, id: ScalarId) -> Option<f64> {
        self.scalar_slice()
            .iter()
            .find(|entry| entry.0 == id)
            .map(|entry| entry.1)
    }

    /// Sets the amount of one kind.
    pub fn set(&mut self, dimension: Dimension, amount: f64) {
        match dimension {
            Dimension::Cpu => self.milli_cpu = amount,
            Dimension::Memory => self.memory = amount,
            Dimension::Scalar(id) => self.set_scalar(id, amount),
        }
    }

    /// Sets the amount of a scalar, creating the map when there is none.
    pub fn set_scalar(&mut self, id: ScalarId, amount: f64) {
        *entry(self.scalars.get_or_insert_default(), id, &mut 0) = amount;
    }

    /// Adds to the amount of a scalar, creating it when absent.
    pub fn add_scalar(&mut self, id: ScalarId, amount: f64) {
        *entry(self.scalars.get_or_insert_default(), id, &mut 0) += amount;
    }

    /// Takes a scalar out, so that it is absent afterwards; the map stays. Returns what it was.
    pub fn remove_scalar(&mut self, id: ScalarId) -> Option<f64> {
        let scalars = self.scalars.as_mut()?;
        let at = scalars.iter().position(|entry| entry.0 == id)?;
        Some(scalars.remove(at).1)
    }

    /// The scalars that are present, in the order of their ids. Those at zero are included.
    #[inline]
    pub fn scalars(&self) -> impl ExactSizeIterator<Item = (ScalarId, f64)> + Clone + '_ {
        self.scalar_slice().iter().copied()
    }

    /// Whether there is a scalar map, be it an empty one.
    pub fn has_scalar_map(&self) -> bool {
        self.scalars.is_some()
    }

    /// The kinds that amount to something, that is to [`MIN_RESOURCE`] or more: cpu, memory, then scalars by id.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> + '_ {
        let cpu = (self.milli_cpu >= MIN_RESOURCE).then_some(Dimension::Cpu);
        let memory = (self.memory >= MIN_RESOURCE).then_some(Dimension::Memory);
        let scalars = self.scalars().filter(|(_, amount)| *amount >= MIN_RESOURCE);
        cpu.into_iter()
            .chain(memory)
            .chain(scalars.map(|(id, _)| Dimension::Scalar(id)))
    }

    /// Whether no kind but `pods` amounts to anything. A negative amount is nothing, one that is not a number is
    /// something.
    pub fn is_empty(&self) -> bool {
        self.milli_cpu < MIN_RESOURCE
            && self.memory < MIN_RESOURCE
            && !self
                .scalars()
                .any(|(id, amount)| id != ScalarId::PODS && amount >= MIN_RESOURCE)
    }

    /// Whether one kind amounts to nothing. Volcano asserts here that a scalar asked for is present unless there is no
    /// scalar map; an absent one simply counts as nothing.
    pub fn is_zero(&self, dimension: Dimension) -> bool {
        self.get(dimension) < MIN_RESOURCE
    }

    /// This amount as a text, with scalars by name.
    pub fn display<'a>(&'a self, names: &'a ScalarNames) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            write!(f, "cpu {:.2}, memory {:.2}", self.milli_cpu, self.memory)?;
            self.scalars()
                .try_for_each(|(id, amount)| write!(f, ", {} {amount:.2}", names.name(id)))
        })
    }

    #[inline]
    pub(crate) fn scalar_slice(&self) -> &[(ScalarId, f64)] {
        self.scalars.as_deref().unwrap_or_default()
    }
}

/// The place of `id`, made at zero when absent. The search starts at `*hint`, which must be at or before that place,
/// and leaves `*hint` there: feeding sorted ids with one hint walks the list once.
#[inline]
fn entry<'a>(scalars: &'a mut Scalars, id: ScalarId, hint: &mut usize) -> &'a mut f64 {
    while *hint < scalars.len() && scalars[*hint].0 < id {
        *hint += 1;
    }
    if *hint == scalars.len() || scalars[*hint].0 != id {
        scalars.insert(*hint, (id, 0.0));
    }
    &mut scalars[*hint].1
}
