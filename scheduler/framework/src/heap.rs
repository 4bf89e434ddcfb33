//! A binary heap whose order may change while items are in it. Volcano's heaps compare with live shares, and which item
//! comes out then depends on how the heap sifts; so this one sifts as Go's `container/heap` does.

/// A heap without an order of its own: each call brings the comparison that holds at that moment.
#[derive(Clone, Debug)]
pub struct LiveHeap<T> {
    items: Vec<T>,
}

impl<T> Default for LiveHeap<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> LiveHeap<T> {
    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items, in no order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Adds an item at the end and lets it rise while it is less than its parent.
    pub fn push(&mut self, item: T, less: impl Fn(&T, &T) -> bool) {
        self.items.push(item);
        let mut child = self.items.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !less(&self.items[child], &self.items[parent]) {
                break;
            }
            self.items.swap(parent, child);
            child = parent;
        }
    }

    /// Takes the first item; the last one takes its place and sinks.
    pub fn pop(&mut self, less: impl Fn(&T, &T) -> bool) -> Option<T> {
        let last = self.items.len().checked_sub(1)?;
        self.items.swap(0, last);
        let mut parent = 0;
        loop {
            let left = 2 * parent + 1;
            if left >= last {
                break;
            }
            let right = left + 1;
            let child = if right < last && less(&self.items[right], &self.items[left]) {
                right
            } else {
                left
            };
            if !less(&self.items[child], &self.items[parent]) {
                break;
            }
            self.items.swap(parent, child);
            parent = child;
        }
        self.items.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn items_come_out_in_order_while_the_order_stands() {
        let mut heap = LiveHeap::default();
        for item in [5, 1, 4, 1, 3] {
            heap.push(item, |a, b| a < b);
        }
        let out: Vec<i32> = std::iter::from_fn(|| heap.pop(|a, b| a < b)).collect();
        assert_eq!(out, [1, 1, 3, 4, 5]);
    }

    #[test]
    fn a_key_that_changes_inside_is_not_noticed_until_its_item_is_compared() {
        let key = [Cell::new(1), Cell::new(2), Cell::new(3)];
        let less = |a: &usize, b: &usize| key[*a].get() < key[*b].get();
        let mut heap = LiveHeap::default();
        for item in 0..3 {
            heap.push(item, less);
        }
        key[0].set(9);
        assert_eq!(
            heap.pop(less),
            Some(0),
            "the root is handed out without a comparison"
        );
    }
}
