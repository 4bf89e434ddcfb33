//! Child processes: their output goes to a file, and none outlives the program that started it.

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// How many lines of a log are shown when something went wrong.
const SHOWN_LINES: usize = 60;

/// A running program. Dropping it kills it, and shows the end of its log if a test is failing.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    /// Whether its log is worth showing when a test fails.
    shown: bool,
}

impl Process {
    /// Starts `command` with its output appended to the file `log`.
    ///
    /// # Errors
    /// When the log cannot be opened or the program not be run.
    pub fn spawn(name: &str, mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let open = || {
            File::options()
                .create(true)
                .append(true)
                .open(log)
                .with_context(|| format!("cannot open {}", log.display()))
        };
        command.stdin(Stdio::null()).stdout(open()?).stderr(open()?);
        let child = start(command).with_context(|| format!("cannot start {name}"))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            log: log.to_owned(),
            shown: true,
        })
    }

    /// The same, with a log that is kept but not shown when a test fails.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.shown = false;
        self
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// When it runs no more.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        let pid = pid.context("a process id beyond all limits")?;
        kill_process(pid, signal).with_context(|| format!("cannot send a signal to {}", self.name))
    }

    /// Ends it at once, as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        // It may have ended already: nothing is left to do then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it still runs after `within`.
    pub fn wait(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                bail!("{} still runs after {within:?}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All it has said so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map_or_else(
            |error| format!("({} cannot be read: {error})", self.log.display()),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        )
    }

    /// The end of its log, headed by its name.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let skipped = lines.len().saturating_sub(SHOWN_LINES);
        format!(
            "--- {}, last lines of {}:\n{}\n---",
            self.name,
            self.log.display(),
            lines[skipped..].join("\n")
        )
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if self.shown && std::thread::panicking() {
            eprintln!("{}", self.log_tail());
        }
    }
}

/// A program to start, and where to say what came of it.
type Order = (Command, mpsc::Sender<std::io::Result<Child>>);

/// Starts a program from the one thread that lives as long as this process: the kernel tells a child of its parent's
/// death when the parent's *thread* ends, and the threads of tests end with each test.
fn start(command: Command) -> anyhow::Result<Child> {
    static NURSERY: OnceLock<Mutex<mpsc::Sender<Order>>> = OnceLock::new();
    let nursery = NURSERY.get_or_init(|| {
        let (orders, received) = mpsc::channel::<Order>();
        std::thread::spawn(move || {
            for (command, answer) in received {
                // Whoever asked may be gone.
                let _ = answer.send(spawn_bound(command));
            }
        });
        Mutex::new(orders)
    });
    let (answer, child) = mpsc::channel();
    nursery
        .lock()
        .map_err(|_| anyhow::anyhow!("a test failed while it started a program"))?
        .send((command, answer))
        .context("the thread that starts programs is gone")?;
    Ok(child
        .recv()
        .context("the thread that starts programs is gone")??)
}

#[expect(
    unsafe_code,
    reason = "std offers no safe way to tie a child's life to its parent's"
)]
fn spawn_bound(mut command: Command) -> std::io::Result<Child> {
    // SAFETY: between fork and exec the closure makes one system call and touches no memory but its own.
    unsafe {
        command.pre_exec(|| set_parent_process_death_signal(Some(Signal::KILL)).map_err(Into::into));
    }
    command.spawn()
}
