//! A small kernel file that is read again and again through one open handle.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// More than any file read here ever has; what is longer is not the file we think it is.
const LIMIT: usize = 4 << 20;

/// A file below /proc or /sys, opened at the first read and kept open. Any failure closes it, so that the next read
/// opens it anew.
#[derive(Debug)]
pub struct ProcFile {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl ProcFile {
    /// A file that is not opened yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            file: None,
            buffer: Vec::new(),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole content as text, bytes that are not UTF-8 replaced.
    ///
    /// # Errors
    /// What opening or reading gave; `InvalidData` when the file is larger than 4 MiB.
    pub fn read(&mut self) -> io::Result<String> {
        let result = self.fill();
        if result.is_err() {
            self.file = None;
        }
        result?;
        Ok(String::from_utf8_lossy(&self.buffer).into_owned())
    }

    fn fill(&mut self) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        let file = self.file.insert(file);
        let mut length = 0;
        loop {
            if self.buffer.len() == length {
                self.buffer.resize((length * 2).max(4096), 0);
            }
            match file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if length > LIMIT {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "larger than 4 MiB"));
            }
        }
        self.buffer.truncate(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_each_time_and_comes_back_after_it_was_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stat");
        let mut file = ProcFile::new(&path);
        assert_eq!(file.read().unwrap_err().kind(), io::ErrorKind::NotFound);
        for length in [0, 3, 4096, 4097, 50_000, 5] {
            let text = "x".repeat(length);
            std::fs::write(&path, &text).unwrap();
            assert_eq!(file.read().unwrap(), text);
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("odd");
        std::fs::write(&path, [b'a', 0xff, b'b']).unwrap();
        assert_eq!(ProcFile::new(path).read().unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn an_endless_file_is_malformed() {
        assert_eq!(
            ProcFile::new("/dev/zero").read().unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
