//! Tests of our binaries on a real API server: one file per theme, each a module here. They share one server and take
//! turns, so each starts with an empty cluster.

mod analyzer;
mod cache_watch;
mod conf;
mod degraded;
mod faults;
mod gangs;
mod harness;
mod interference;
mod kata;
mod lease;
mod nodes;
mod process;
mod proxies;
mod queues;
mod restarts;
mod rights;
mod wire;

#[test]
fn every_file_here_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let this = include_str!("main.rs");
    let missing: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of this file")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "main" && !this.contains(&format!("mod {name};")))
        .collect();
    assert!(
        missing.is_empty(),
        "not run, since main.rs does not name them: {missing:?}"
    );
}
