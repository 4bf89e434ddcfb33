//! Enqueue, allocate and backfill, and the search for the best node.
