//! The collector to analyzer stream as the wire carries it.
