//! A resource as a key of maps, compared bit by bit.

use std::hash::{Hash, Hasher};

use super::Resource;

/// A resource with bitwise `Eq` and `Hash`, to intern requests. No tolerance: two keys are equal only when no operation
/// can tell the resources apart, so an absent scalar differs from one at zero, and no scalar map from an empty one.
#[derive(Clone, Debug)]
pub struct ExactResource(pub Resource);

impl ExactResource {
    fn head(&self) -> (u64, u64, bool) {
        (
            self.0.milli_cpu.to_bits(),
            self.0.memory.to_bits(),
            self.0.has_scalar_map(),
        )
    }
}

impl PartialEq for ExactResource {
    fn eq(&self, other: &Self) -> bool {
        let bits = |(id, amount): (_, f64)| (id, amount.to_bits());
        self.head() == other.head() && self.0.scalars().map(bits).eq(other.0.scalars().map(bits))
    }
}

impl Eq for ExactResource {}

impl Hash for ExactResource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.head().hash(state);
        for (id, amount) in self.0.scalars() {
            (id, amount.to_bits()).hash(state);
        }
    }
}

impl From<Resource> for ExactResource {
    fn from(resource: Resource) -> Self {
        Self(resource)
    }
}
