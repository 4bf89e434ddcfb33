//! Sums, differences, bounds and shares of resources.

use smallvec::SmallVec;
use thiserror::Error;

use super::compare::Lookup;
use super::{Dimension, MIN_RESOURCE, Missing, Resource, ScalarId, ScalarNames, Scalars, entry};

/// More was taken from a resource than there was. The subtraction has been done all the same, as Volcano does with
/// `PANIC_ON_ERROR=false`; what came out is negative in these kinds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("more was taken than there was of {dimensions:?}")]
pub struct Underflow {
    /// The kinds of which too much was taken: cpu, memory, then scalars by id.
    pub dimensions: SmallVec<[Dimension; 4]>,
}

impl Underflow {
    /// The names of the kinds of which too much was taken, for people.
    pub fn names<'a>(&'a self, names: &'a ScalarNames) -> impl Iterator<Item = &'a str> {
        self.dimensions.iter().map(|dimension| dimension.name(names))
    }
}

impl Resource {
    /// Adds another amount. Scalars absent here are made.
    #[inline]
    pub fn add(&mut self, other: &Resource) {
        self.milli_cpu += other.milli_cpu;
        self.memory += other.memory;
        if other.scalar_slice().is_empty() {
            return;
        }
        let mine = self.scalars.get_or_insert_default();
        let mut hint = 0;
        for (id, amount) in other.scalars() {
            *entry(mine, id, &mut hint) += amount;
        }
    }

    /// Subtracts another amount, see [`Resource::sub_unchecked`] for the scalars.
    ///
    /// # Errors
    /// When the other amount does not fit in this one (by [`Resource::less_equal`] with [`Missing::Zero`]). The
    /// subtraction is done nevertheless, so that sums kept in two places go on agreeing.
    pub fn sub(&mut self, other: &Resource) -> Result<(), Underflow> {
        let fits = other.less_equal(self, Missing::Zero);
        let outcome = if fits {
            Ok(())
        } else {
            Err(Underflow {
                dimensions: other.less_equal_failing(self, Missing::Zero),
            })
        };
        self.sub_unchecked(other);
        outcome
    }

    /// Subtracts another amount; what comes out may be negative.
    ///
    /// Scalars absent here become negative, except that a resource without any scalar map stays without.
    #[inline]
    pub fn sub_unchecked(&mut self, other: &Resource) {
        self.milli_cpu -= other.milli_cpu;
        self.memory -= other.memory;
        let Some(mine) = &mut self.scalars else { return };
        let mut hint = 0;
        for (id, amount) in other.scalars() {
            *entry(mine, id, &mut hint) -= amount;
        }
    }

    /// Multiplies every kind.
    pub fn multiply(&mut self, ratio: f64) {
        self.milli_cpu *= ratio;
        self.memory *= ratio;
        for (_, amount) in self.scalars.iter_mut().flatten() {
            *amount *= ratio;
        }
    }

    /// Raises every kind to the other's where that is more. Scalars absent here are taken over as they are, be they
    /// negative.
    pub fn set_max(&mut self, other: &Resource) {
        if other.milli_cpu > self.milli_cpu {
            self.milli_cpu = other.milli_cpu;
        }
        if other.memory > self.memory {
            self.memory = other.memory;
        }
        if other.scalar_slice().is_empty() {
            return;
        }
        let mine = self.scalars.get_or_insert_default();
        let mut hint = 0;
        for (id, amount) in other.scalars() {
            let known = mine.len();
            let place = entry(mine, id, &mut hint);
            let current = *place;
            if mine.len() > known || amount > current {
                mine[hint].1 = amount;
            }
        }
    }

    /// Lowers every kind to the other's where that is less. Only scalars present here are looked at; one absent in the
    /// other counts as zero, or with [`Missing::Infinity`] leaves this one's alone.
    pub fn min_dimension(&mut self, other: &Resource, missing: Missing) {
        if other.milli_cpu < self.milli_cpu {
            self.milli_cpu = other.milli_cpu;
        }
        if other.memory < self.memory {
            self.memory = other.memory;
        }
        let mut theirs = Lookup::of(other);
        for (id, amount) in self.scalars.iter_mut().flatten() {
            match theirs.get(*id) {
                Some(limit) => *amount = lesser(*amount, limit),
                None if missing == Missing::Zero => *amount = 0.0,
                None => {}
            }
        }
    }

    /// By how much this exceeds the other, and by how much it falls short, kind by kind.
    ///
    /// With [`Missing::Infinity`] an absent scalar stands as -1 in the part where the side lacking it is larger. As in
    /// Volcano, a scalar that really amounts to -1 is taken for such a mark even with [`Missing::Zero`].
    pub fn diff(&self, other: &Resource, missing: Missing) -> (Resource, Resource) {
        const UNLIMITED: f64 = -1.0;
        let absent = match missing {
            Missing::Zero => 0.0,
            Missing::Infinity => UNLIMITED,
        };
        let mut increased = Resource::default().with_scalar_map();
        let mut decreased = Resource::default().with_scalar_map();
        for (dimension, left, right) in [
            (Dimension::Cpu, self.milli_cpu, other.milli_cpu),
            (Dimension::Memory, self.memory, other.memory),
        ] {
            if left > right {
                increased.set(dimension, left - right);
            } else {
                decreased.set(dimension, right - left);
            }
        }
        for (id, left, right) in union(self, other) {
            let (left, right) = (left.unwrap_or(absent), right.unwrap_or(absent));
            if left == UNLIMITED {
                increased.set_scalar(id, left);
            } else if right == UNLIMITED {
                decreased.set_scalar(id, right);
            } else if left > right {
                increased.set_scalar(id, left - right);
            } else {
                decreased.set_scalar(id, right - left);
            }
        }
        (increased, decreased)
    }

    /// The part of this amount that is beyond the other, where absent scalars count as zero.
    pub fn exceeded_part(&self, other: &Resource) -> Resource {
        self.diff(other, Missing::Zero).0
    }

    /// What would be left after a request, less a further [`MIN_RESOURCE`] of every kind asked for; a kind that comes out
    /// negative is short.
    pub fn fit_delta(&mut self, request: &Resource) {
        if request.milli_cpu > 0.0 {
            self.milli_cpu -= request.milli_cpu + MIN_RESOURCE;
        }
        if request.memory > 0.0 {
            self.memory -= request.memory + MIN_RESOURCE;
        }
        let mine = self.scalars.get_or_insert_default();
        let mut hint = 0;
        for (id, amount) in request.scalars().filter(|(_, amount)| *amount > 0.0) {
            *entry(mine, id, &mut hint) -= amount + MIN_RESOURCE;
        }
    }

    /// The lesser of two amounts, kind by kind. Without scalars when either has no scalar map; else with those of this
    /// amount, the other's absent ones counting as zero.
    pub fn min(&self, other: &Resource) -> Resource {
        let scalars = self
            .scalars
            .as_ref()
            .zip(other.scalars.as_ref())
            .map(|(mine, _)| {
                let mut theirs = Lookup::of(other);
                mine.iter()
                    .map(|&(id, amount)| (id, lesser(amount, theirs.get(id).unwrap_or(0.0))))
                    .collect()
            });
        Resource {
            milli_cpu: lesser(self.milli_cpu, other.milli_cpu),
            memory: lesser(self.memory, other.memory),
            scalars,
        }
    }

    /// The greater of two amounts, kind by kind, with every scalar that either has above zero.
    pub fn max(&self, other: &Resource) -> Resource {
        let scalars = (self.scalars.is_some() || other.scalars.is_some()).then(|| {
            let positive = |amount: Option<f64>| amount.filter(|amount| *amount > 0.0);
            union(self, other)
                .filter_map(|(id, left, right)| match (positive(left), positive(right)) {
                    (Some(left), Some(right)) => Some((id, left.max(right))),
                    (one, other) => one.or(other).map(|amount| (id, amount)),
                })
                .collect::<Scalars>()
        });
        Resource {
            milli_cpu: greater(self.milli_cpu, other.milli_cpu),
            memory: greater(self.memory, other.memory),
            scalars,
        }
    }
}

/// The part that `amount` is of `whole`. Of nothing, everything is the whole and nothing is nothing.
pub fn share(amount: f64, whole: f64) -> f64 {
    if whole != 0.0 {
        amount / whole
    } else if amount == 0.0 {
        0.0
    } else {
        1.0
    }
}

/// The scalars present on either side, by id.
fn union<'a>(
    left: &'a Resource,
    right: &'a Resource,
) -> impl Iterator<Item = (ScalarId, Option<f64>, Option<f64>)> + 'a {
    let mut left = left.scalars().peekable();
    let mut right = right.scalars().peekable();
    std::iter::from_fn(move || {
        let id = match (left.peek(), right.peek()) {
            (Some(l), Some(r)) => l.0.min(r.0),
            (Some(one), None) | (None, Some(one)) => one.0,
            (None, None) => return None,
        };
        let l = left.next_if(|entry| entry.0 == id).map(|entry| entry.1);
        let r = right.next_if(|entry| entry.0 == id).map(|entry| entry.1);
        Some((id, l, r))
    })
}

/// The smaller number; not a number when either is none, unlike `f64::min`.
fn lesser(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else {
        left.min(right)
    }
}

/// The larger number; not a number when either is none, unlike `f64::max`.
fn greater(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else {
        left.max(right)
    }
}
