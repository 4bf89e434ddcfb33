//! Comparisons of two resources: whole, in part, and naming what falls short.

use smallvec::SmallVec;

use super::{Dimension, MIN_RESOURCE, Missing, Resource, ScalarId};

impl Resource {
    /// Whether every kind is at most the other's, within [`MIN_RESOURCE`].
    ///
    /// A scalar only the left has counts against zero, or passes with [`Missing::Infinity`]. One that only the right has
    /// passes, or fails with [`Missing::Infinity`]: the left is then without limit.
    #[inline]
    pub fn less_equal(&self, other: &Resource, missing: Missing) -> bool {
        at_most(self.milli_cpu, other.milli_cpu)
            && at_most(self.memory, other.memory)
            && self.every_scalar(other, missing, at_most)
    }

    /// Whether every kind is strictly below the other's, without tolerance: equal zeros fail. Absent scalars are treated
    /// as in [`Resource::less_equal`].
    #[inline]
    pub fn less(&self, other: &Resource, missing: Missing) -> bool {
        below(self.milli_cpu, other.milli_cpu)
            && below(self.memory, other.memory)
            && self.every_scalar(other, missing, below)
    }

    /// The kinds that exceed the other's: cpu, memory, then scalars by id. Empty when all fit.
    ///
    /// Unlike [`Resource::less_equal`], a scalar only the right has never counts, not even with [`Missing::Infinity`].
    pub fn less_equal_failing(&self, other: &Resource, missing: Missing) -> SmallVec<[Dimension; 4]> {
        let mut failing = SmallVec::new();
        if !at_most(self.milli_cpu, other.milli_cpu) {
            failing.push(Dimension::Cpu);
        }
        if !at_most(self.memory, other.memory) {
            failing.push(Dimension::Memory);
        }
        let mut theirs = Lookup::of(other);
        for (id, mine) in self.scalars() {
            let Some(limit) = theirs.get(id).or_else(|| or_zero(missing)) else {
                continue;
            };
            if !at_most(mine, limit) {
                failing.push(Dimension::Scalar(id));
            }
        }
        failing
    }

    /// Whether any kind is strictly below the other's. Any scalar only the right has makes it true with
    /// [`Missing::Zero`], any scalar only the left has makes it true with [`Missing::Infinity`], whatever the amounts.
    pub fn less_partly(&self, other: &Resource, missing: Missing) -> bool {
        below(self.milli_cpu, other.milli_cpu)
            || below(self.memory, other.memory)
            || self.any_scalar(other, missing, below)
    }

    /// As [`Resource::less_partly`], with "at most, within [`MIN_RESOURCE`]" for "below". A scalar at zero on both sides
    /// makes it true.
    pub fn less_equal_partly(&self, other: &Resource, missing: Missing) -> bool {
        at_most(self.milli_cpu, other.milli_cpu)
            || at_most(self.memory, other.memory)
            || self.any_scalar(other, missing, at_most)
    }

    /// Whether cpu, memory and the left's scalars equal the right's within [`MIN_RESOURCE`]. A scalar absent on the right
    /// counts as zero; scalars only the right has are not looked at.
    pub fn equal(&self, other: &Resource) -> bool {
        let mut theirs = Lookup::of(other);
        alike(self.milli_cpu, other.milli_cpu)
            && alike(self.memory, other.memory)
            && self
                .scalars()
                .all(|(id, mine)| alike(mine, theirs.get(id).unwrap_or(0.0)))
    }

    #[inline]
    fn every_scalar(&self, other: &Resource, missing: Missing, holds: fn(f64, f64) -> bool) -> bool {
        if missing == Missing::Infinity && other.has_scalar_beyond(self) {
            return false;
        }
        let mut theirs = Lookup::of(other);
        self.scalars()
            .all(|(id, mine)| match theirs.get(id).or_else(|| or_zero(missing)) {
                Some(limit) => holds(mine, limit),
                None => true,
            })
    }

    fn any_scalar(&self, other: &Resource, missing: Missing, holds: fn(f64, f64) -> bool) -> bool {
        if missing == Missing::Zero && other.has_scalar_beyond(self) {
            return true;
        }
        let mut theirs = Lookup::of(other);
        self.scalars()
            .any(|(id, mine)| match theirs.get(id).or_else(|| or_zero(missing)) {
                Some(limit) => holds(mine, limit),
                None => true,
            })
    }

    /// Whether this has a scalar that `other` lacks.
    fn has_scalar_beyond(&self, other: &Resource) -> bool {
        let mut theirs = Lookup::of(other);
        self.scalars().any(|(id, _)| theirs.get(id).is_none())
    }
}

/// Looks up scalars by ascending id, walking the list once.
pub(super) struct Lookup<'a> {
    rest: &'a [(ScalarId, f64)],
}

impl<'a> Lookup<'a> {
    #[inline]
    pub(super) fn of(resource: &'a Resource) -> Self {
        Self {
            rest: resource.scalar_slice(),
        }
    }

    #[inline]
    pub(super) fn get(&mut self, id: ScalarId) -> Option<f64> {
        while let [first, rest @ ..] = self.rest {
            if first.0 >= id {
                return (first.0 == id).then_some(first.1);
            }
            self.rest = rest;
        }
        None
    }
}

/// The amount an absent scalar stands for; `None` is without limit.
#[inline]
fn or_zero(missing: Missing) -> Option<f64> {
    (missing == Missing::Zero).then_some(0.0)
}

#[inline]
fn below(left: f64, right: f64) -> bool {
    left < right
}

/// Two infinities are not at most each other: their difference is no number.
#[inline]
fn at_most(left: f64, right: f64) -> bool {
    left < right || (left - right).abs() < MIN_RESOURCE
}

#[inline]
fn alike(left: f64, right: f64) -> bool {
    left == right || (left - right).abs() < MIN_RESOURCE
}
