//! Small clusters as manifests, and `mcoctl simulate` run on them.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

pub const NODES: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"#;

pub fn group(name: &str, min: usize, more: &str) -> String {
    format!(
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {{name: {name}, namespace: t}}\n\
         spec: {{minMember: {min}{more}}}\n"
    )
}

pub fn pod(name: &str, group: &str, cpu: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: t\n  \
         annotations: {{scheduling.k8s.io/group-name: {group}}}\nspec:\n  schedulerName: volcano\n  \
         containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu:?}}}}}}}]\n{more}"
    )
}

pub fn gang(name: &str, size: usize, cpu: &str) -> String {
    let pods = (0..size).map(|index| pod(&format!("{name}-{index}"), name, cpu, ""));
    group(name, size, "") + &pods.collect::<String>()
}

pub fn simulate(cluster: &str, flags: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcoctl"))
        .args([
            "simulate",
            "--cluster",
            "-",
            "--now",
            "2026-11-30T12:00:00Z",
            "-o",
            "json",
        ])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mcoctl starts");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(cluster.as_bytes())
        .expect("mcoctl reads");
    child.wait_with_output().expect("mcoctl ends")
}

pub fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no JSON: {error}\n{}", String::from_utf8_lossy(&output.stderr)))
}
