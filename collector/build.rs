//! Compiles the kernel side of block latency, one C file, with clang.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "ebpf/block_latency.bpf.c";
const PACKAGES: &str = "clang-19 llvm-19 libbpf-dev linux-libc-dev";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-env-changed=LLVM_STRIP");
    if let Err(why) = compile() {
        println!("cargo::error={why}");
    }
}

fn compile() -> Result<(), String> {
    let var = |name: &str| std::env::var(name).map_err(|_| format!("cargo did not set {name}"));
    let object = PathBuf::from(var("OUT_DIR")?).join("block_latency.bpf.o");
    let target = match var("CARGO_CFG_TARGET_ENDIAN")?.as_str() {
        "big" => "bpfeb",
        _ => "bpfel",
    };
    let clang = first_that_runs([
        std::env::var("CLANG").ok(),
        Some("clang-19".into()),
        Some("clang".into()),
    ])
    .ok_or_else(|| {
        format!("clang, which compiles {SOURCE}, was not found: install {PACKAGES}, or name it in CLANG")
    })?;
    let output = Command::new(&clang)
        .args(["-g", "-O2", "-Wall", "-Werror", "-target", target, "-mcpu=v2"])
        .args(asm_includes(&var("CARGO_CFG_TARGET_ARCH")?))
        .args(["-c", SOURCE, "-o"])
        .arg(&object)
        .output()
        .map_err(|error| format!("cannot run {clang}: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        for line in stderr.lines() {
            println!("cargo::warning={line}");
        }
        return Err(format!(
            "{clang} could not compile {SOURCE}; if a header is missing, install {PACKAGES}"
        ));
    }
    // Drops the DWARF sections and keeps the type information that loading needs. Without it the object is only larger.
    if let Some(strip) = first_that_runs([
        std::env::var("LLVM_STRIP").ok(),
        Some("llvm-strip-19".into()),
        Some("llvm-strip".into()),
    ]) {
        let _ = Command::new(strip).arg("-g").arg(&object).status();
    }
    Ok(())
}

fn first_that_runs(candidates: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    candidates
        .into_iter()
        .flatten()
        .filter(|name| !name.is_empty())
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        })
}

/// Debian keeps `asm/types.h` in a directory per architecture, which clang does not search for the BPF target.
fn asm_includes(arch: &str) -> Vec<String> {
    [arch.to_owned(), std::env::consts::ARCH.to_owned()]
        .iter()
        .map(|arch| format!("/usr/include/{arch}-linux-gnu"))
        .filter(|path| Path::new(path).is_dir())
        .map(|path| format!("-I{path}"))
        .collect()
}
