//! Where binaries are: those of the cluster, and those that are tested.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// The programs a cluster is made of.
#[derive(Clone, Debug)]
pub struct Tools {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub api_server: PathBuf,
}

impl Tools {
    /// Those of `KUBEBUILDER_ASSETS` if it holds both, else those that `scripts/tools` left in the target folder.
    ///
    /// # Errors
    /// When they are in neither place; the text says how to get them.
    pub fn find() -> anyhow::Result<Self> {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let built = target_dir()?.join("tools");
        for dir in assets.iter().chain([&built]) {
            let tools = Self {
                etcd: dir.join("etcd"),
                api_server: dir.join("kube-apiserver"),
            };
            if tools.etcd.exists() && tools.api_server.exists() {
                return Ok(tools);
            }
        }
        bail!(
            "neither KUBEBUILDER_ASSETS nor {} holds etcd and kube-apiserver: run `make tools`",
            built.display()
        )
    }
}

/// The folder of this program's profile, such as `target/debug`.
///
/// # Errors
/// When the path of this program cannot be told.
pub fn profile_dir() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe().context("cannot tell the path of this program")?;
    let dir = this.parent().context("this program is in no folder")?;
    let dir = if dir.ends_with("deps") {
        dir.parent().context("deps is in no folder")?
    } else {
        dir
    };
    Ok(dir.to_owned())
}

/// Cargo's target folder.
///
/// # Errors
/// As [`profile_dir`].
pub fn target_dir() -> anyhow::Result<PathBuf> {
    Ok(profile_dir()?
        .parent()
        .context("the profile's folder is in no folder")?
        .to_owned())
}

/// One of our own binaries: the path in the environment variable `variable` if set, else the one built beside this program.
///
/// # Errors
/// When it has not been built.
pub fn own_binary(name: &str, variable: &str) -> anyhow::Result<PathBuf> {
    let path = match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => profile_dir()?.join(name),
    };
    if !path.exists() {
        bail!(
            "{} has not been built: run `make test-cluster`, or name it in {variable}",
            path.display()
        );
    }
    Ok(path)
}

/// The root of the project.
pub fn project_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A path in the folder of shared cases, which may be absent: `MCO_SHARED` or the project's sibling `shared`.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("MCO_SHARED") {
        Some(root) => PathBuf::from(root),
        None => project_root().join("../shared"),
    };
    Some(root.join(path)).filter(|path| path.exists())
}
