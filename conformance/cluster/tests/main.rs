//! Tests of our binaries on a real API server: one file per theme, each a module here. They share one server and take
//! turns, so each starts with an empty cluster.

mod harness;
