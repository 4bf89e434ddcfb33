//! The process `mco-volcano-scheduler`.

fn main() {}
