//! A bounded I/O load on this machine: threads that read at random from a file of their own. It ends by itself, and with
//! whoever started it; its file has no name from the beginning, so nothing is left behind however the process ends.

use anyhow::{Context, Result, bail};
use rustix::fs::{Advice, OFlags, fadvise, fstatvfs};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// Size of a read in bytes.
const READ: usize = 512 * 1024;
/// What O_DIRECT wants buffers and offsets to be multiples of.
const ALIGNMENT: usize = 4096;
/// Stack of a reading thread in bytes; it calls next to nothing.
const STACK: usize = 64 * 1024;
/// File systems in memory: reading there is no I/O.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// The bounds.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Where the file goes; a folder on a real disk is looked for when none is given.
    pub directory: Option<PathBuf>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Reading threads.
    pub threads: usize,
    /// The load ends by itself after so long, the making of the file included.
    pub time: Duration,
}

/// What a load has done so far.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// Folder of the file; absent until there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Size of the file in bytes.
    pub file_bytes: u64,
    /// Reading threads.
    pub threads: usize,
    /// Reads go past the page cache.
    pub direct: bool,
    /// Reads so far.
    pub reads: u64,
    /// Bytes read so far.
    pub read_bytes: u64,
    /// Seconds of reading; absent before it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Why there is no load; absent when all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A load. Dropping it stops it.
pub struct Load {
    shared: Arc<Shared>,
    controller: Option<JoinHandle<()>>,
}

struct Shared {
    stop: AtomicBool,
    over: AtomicBool,
    reads: AtomicU64,
    done: Mutex<Done>,
    began: Mutex<Option<(Instant, Option<Instant>)>>,
}

impl Load {
    /// Starts a load and returns at once. Whatever goes wrong later is told by [`Load::done`].
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(bounds: Bounds) -> Result<Self> {
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            done: Mutex::new(Done {
                threads: bounds.threads,
                ..Done::default()
            }),
            began: Mutex::new(None),
        });
        let theirs = Arc::clone(&shared);
        let controller = std::thread::Builder::new()
            .name("demo-load".to_owned())
            .spawn(move || {
                let deadline = Instant::now() + bounds.time;
                if let Err(error) = theirs.run(&bounds, deadline) {
                    lock(&theirs.done).failed = Some(format!("{error:#}"));
                }
                theirs.over.store(true, Ordering::Release);
            })
            .context("cannot start the load")?;
        Ok(Self {
            shared,
            controller: Some(controller),
        })
    }

    /// The load has ended, one way or another.
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    /// What it has done so far.
    pub fn done(&self) -> Done {
        let mut done = lock(&self.shared.done).clone();
        done.reads = self.shared.reads.load(Ordering::Relaxed);
        done.read_bytes = done.reads * READ as u64;
        done.seconds = lock(&self.shared.began).map(|(began, ended)| {
            ended
                .unwrap_or_else(Instant::now)
                .duration_since(began)
                .as_secs_f64()
        });
        done
    }

    /// Asks it to end; does not wait.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
    }
}

impl Drop for Load {
    /// Ends it and waits for its threads, each of which has at most one read to finish.
    fn drop(&mut self) {
        self.stop();
        if let Some(controller) = self.controller.take() {
            // A panic there has been printed; there is nothing left to clean up.
            let _ = controller.join();
        }
    }
}

impl Shared {
    fn run(&self, bounds: &Bounds, deadline: Instant) -> Result<()> {
        let directory = directory(bounds.directory.as_deref(), bounds.bytes)?;
        lock(&self.done).directory = Some(directory.display().to_string());
        let (file, direct) = make_file(&directory, bounds.bytes, || self.is_to_end(deadline))?;
        {
            let mut done = lock(&self.done);
            (done.file_bytes, done.direct) = (bounds.bytes, direct);
        }
        *lock(&self.began) = Some((Instant::now(), None));
        let failure = Mutex::new(None);
        let read = |seed| {
            if let Err(error) = self.read(&file, bounds.bytes, direct, seed, deadline) {
                self.stop.store(true, Ordering::Release);
                *lock(&failure) = Some(error);
            }
        };
        let read = &read;
        std::thread::scope(|scope| {
            for seed in 1..=bounds.threads as u64 {
                // Fewer threads than asked for are a load too.
                let builder = std::thread::Builder::new()
                    .name("demo-read".to_owned())
                    .stack_size(STACK);
                if builder.spawn_scoped(scope, move || read(seed)).is_err() {
                    break;
                }
            }
        });
        if let Some((_, ended)) = &mut *lock(&self.began) {
            *ended = Some(Instant::now());
        }
        let failure = lock(&failure).take();
        failure.map_or(Ok(()), |error| {
            Err(error).context("reading the load's file failed")
        })
    }

    fn read(
        &self,
        file: &File,
        bytes: u64,
        direct: bool,
        seed: u64,
        deadline: Instant,
    ) -> std::io::Result<()> {
        let mut buffer = vec![0; READ + ALIGNMENT];
        let start = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let buffer = &mut buffer[start..start + READ];
        let places = (bytes / READ as u64).max(1);
        let mut random = Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        while !self.is_to_end(deadline) {
            let offset = random.next() % places * READ as u64;
            if !direct {
                // Otherwise the page cache answers. A kernel that does not listen leaves a weaker load.
                let _ = fadvise(file, offset, (READ as u64).try_into().ok(), Advice::DontNeed);
            }
            file.read_exact_at(buffer, offset)?;
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn is_to_end(&self, deadline: Instant) -> bool {
        self.stop.load(Ordering::Acquire) || Instant::now() >= deadline
    }
}

/// A generator of places to read; good enough to defeat read-ahead.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The folder asked for, or the first usual one, that is on a disk with room for three such files.
fn directory(asked: Option<&Path>, bytes: u64) -> Result<PathBuf> {
    if let Some(path) = asked {
        usable(path, bytes).with_context(|| format!("--load-dir {}", path.display()))?;
        return Ok(path.to_owned());
    }
    let usual = [
        Some(std::env::temp_dir()),
        Some("/var/tmp".into()),
        std::env::current_dir().ok(),
    ];
    let mut refused = Vec::new();
    for path in usual.into_iter().flatten() {
        match usable(&path, bytes) {
            Ok(()) => return Ok(path),
            Err(error) => refused.push(format!("{}: {error:#}", path.display())),
        }
    }
    bail!(
        "no folder on a disk for the load's file; name one with --load-dir ({})",
        refused.join("; ")
    )
}

fn usable(path: &Path, bytes: u64) -> Result<()> {
    let folder = File::open(path).context("cannot open it")?;
    #[allow(clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let kind = rustix::fs::fstatfs(&folder)
        .context("cannot tell its file system")?
        .f_type as u64;
    if IN_MEMORY.contains(&kind) {
        bail!("it is in memory, where reading is no I/O");
    }
    let room = fstatvfs(&folder)
        .map(|room| room.f_bavail.saturating_mul(room.f_frsize))
        .context("cannot tell its room")?;
    let wanted = bytes.saturating_mul(3);
    if room < wanted {
        bail!(
            "it has room for {} MiB, {} are wanted to spare",
            room >> 20,
            wanted >> 20
        );
    }
    Ok(())
}

/// Makes the file: open for reading, its name gone, its content on the disk. Tells whether reads go past the page cache.
fn make_file(directory: &Path, bytes: u64, is_to_end: impl Fn() -> bool) -> Result<(File, bool)> {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!(".mcoctl-demo-{}-{:x}", std::process::id(), since_1970.as_nanos());
    let path = directory.join(name);
    let make = || -> std::io::Result<_> {
        let writer = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::DIRECT.bits() as i32)
            .open(&path);
        // Some file systems refuse O_DIRECT.
        let is_direct = direct.is_ok();
        let reader = direct.or_else(|_| File::open(&path));
        std::fs::remove_file(&path)?;
        Ok((writer, reader?, is_direct))
    };
    let (mut writer, reader, direct) =
        make().with_context(|| format!("cannot make a file in {}", directory.display()))?;
    // Not zeros: a disk below may leave those out.
    let mut random = Xorshift(0x2545_f491_4f6c_dd1d);
    let block: Vec<u8> = (0..READ / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    let mut left = bytes;
    while left > 0 && !is_to_end() {
        let part = left.min(READ as u64) as usize;
        writer
            .write_all(&block[..part])
            .context("cannot write the load's file")?;
        left -= part as u64;
    }
    writer
        .sync_data()
        .context("cannot write the load's file to the disk")?;
    Ok((reader, direct))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Whole values are put in; a panic elsewhere leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
