//! Dense ids: a `u32` slot per object, reused after removal, and the vector they index.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id that is a slot number.
pub trait Id: Copy + Eq {
    /// The id of slot `slot`.
    fn from_slot(slot: u32) -> Self;
    /// The slot number.
    fn slot(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Id for $name {
            fn from_slot(slot: u32) -> Self {
                Self(slot)
            }
            fn slot(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A node's slot.
    NodeId,
    /// A task's (pod's) slot.
    TaskId,
    /// A job's (PodGroup's) slot.
    JobId,
    /// A queue's slot.
    QueueId,
    /// A pod class: pods that ask for the same and obey the same rules.
    ClassId,
}

/// A vector of slots with a free list. Each slot counts how often it was given out, so that a remembered id can be
/// told from its successor.
#[derive(Clone, Debug)]
pub struct IdVec<I, T> {
    slots: Vec<Option<T>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    ids: PhantomData<I>,
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
            ids: PhantomData,
        }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// Stores `value` in a free slot.
    pub fn insert(&mut self, value: T) -> I {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(None);
                self.generations.push(0);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 objects of one kind")
            }
        };
        self.generations[slot as usize] = self.generations[slot as usize].wrapping_add(1);
        self.slots[slot as usize] = Some(value);
        I::from_slot(slot)
    }

    /// Empties the slot.
    pub fn remove(&mut self, id: I) -> Option<T> {
        let value = self.slots.get_mut(id.slot())?.take()?;
        self.free.push(id.slot() as u32);
        Some(value)
    }

    /// The value, or `None` when the slot is empty.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.slots.get(id.slot())?.as_ref()
    }

    /// How often the slot was given out.
    #[must_use]
    pub fn generation(&self, id: I) -> u32 {
        self.generations.get(id.slot()).copied().unwrap_or(0)
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// True when there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of slots, empty ones included: the length a column by slot needs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Values with their ids, by slot. Slot order is no order a user may see.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(slot, value)| value.as_ref().map(|value| (I::from_slot(slot as u32), value)))
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        self.slots[id.slot()].as_ref().expect("the id is live")
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        self.slots[id.slot()].as_mut().expect("the id is live")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_reused_with_a_new_generation() {
        let mut vec: IdVec<NodeId, &str> = IdVec::default();
        let a = vec.insert("a");
        let first = vec.generation(a);
        assert_eq!(vec.remove(a), Some("a"));
        let b = vec.insert("b");
        assert_eq!(a, b);
        assert_ne!(vec.generation(b), first);
        assert_eq!((vec.len(), vec.slots()), (1, 1));
    }
}
