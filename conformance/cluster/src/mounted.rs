//! A ConfigMap's file as a kubelet mounts it: the file links to `..data`, and `..data` to a folder that is replaced as a
//! whole.

use anyhow::Context;
use std::fs::{create_dir_all, read_link, remove_dir_all, rename, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A mounted ConfigMap of one key.
#[derive(Debug)]
pub struct Mounted {
    dir: PathBuf,
    key: String,
    version: u32,
}

impl Mounted {
    /// Mounts `text` as the file `key` in the new folder `dir`.
    ///
    /// # Errors
    /// When the file system will not.
    pub fn new(dir: &Path, key: &str, text: &str) -> anyhow::Result<Self> {
        create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let mut this = Self {
            dir: dir.to_owned(),
            key: key.to_owned(),
            version: 0,
        };
        this.swap(text)?;
        symlink(Path::new("..data").join(key), this.path())?;
        Ok(this)
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(&self.key)
    }

    /// Replaces the text as an edited ConfigMap comes to a pod: a new folder, then one rename, then the old folder goes.
    ///
    /// # Errors
    /// When the file system will not.
    pub fn swap(&mut self, text: &str) -> anyhow::Result<()> {
        self.version += 1;
        let data = self.dir.join("..data");
        let old = read_link(&data).ok();
        let new = format!("..2026_01_01_00_00_00.{}", self.version);
        create_dir_all(self.dir.join(&new))?;
        write(self.dir.join(&new).join(&self.key), text)?;
        let temporary = self.dir.join("..data_tmp");
        symlink(&new, &temporary)?;
        rename(&temporary, &data)?;
        if let Some(old) = old {
            remove_dir_all(self.dir.join(old))?;
        }
        Ok(())
    }
}
