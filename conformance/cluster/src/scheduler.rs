//! The scheduler's own binary, run against a test's cluster.

use crate::mounted::Mounted;
use crate::pages;
use crate::process::Process;
use crate::server::{Server, free_port};
use crate::tools::own_binary;
use crate::users::SCHEDULER;
use crate::wait::{LONG, until};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

/// Names the binary when it is not the one built beside the tests.
pub const VARIABLE: &str = "MCO_VOLCANO_SCHEDULER";

/// Name of the conf file.
pub const CONF_FILE: &str = "volcano-scheduler.conf";

/// The conf that Volcano 1.9.0's chart ships.
pub const STOCK_CONF: &str = r#"actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"#;

/// The same with mco-plugin in the first tier, as the user guide has it.
pub const MCO_CONF: &str = r#"actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: mco-plugin
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"#;

/// How to run it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Text of the conf file; none means the flag is not given.
    pub conf: Option<String>,
    /// Flags besides those that every start has. The last one of a name wins.
    pub flags: Vec<String>,
    /// Environment.
    pub env: Vec<(String, String)>,
    /// Where it finds the API server, if not directly: a proxy's address.
    pub via: Option<String>,
    /// The binary, if not the one built beside the tests.
    pub binary: Option<PathBuf>,
}

impl Default for Setup {
    /// The stock conf, no leader election and a cycle as often as possible while remaining one that waits.
    fn default() -> Self {
        Self {
            conf: Some(STOCK_CONF.to_owned()),
            flags: vec![
                "--leader-elect=false".to_owned(),
                "--schedule-period=200ms".to_owned(),
            ],
            env: Vec::new(),
            via: None,
            binary: None,
        }
    }
}

impl Setup {
    /// With this conf.
    #[must_use]
    pub fn conf(mut self, text: &str) -> Self {
        self.conf = Some(text.to_owned());
        self
    }

    /// With one more flag, such as `--leader-elect=true`.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Through the proxy at `url`.
    #[must_use]
    pub fn via(mut self, url: &str) -> Self {
        self.via = Some(url.to_owned());
        self
    }
}

/// A running scheduler. Dropping it kills it, and shows the end of its log if a test is failing.
pub struct Scheduler {
    process: Process,
    command: Start,
    /// Its conf file, to be edited while it runs.
    pub conf: Option<Mounted>,
}

/// All that starts the same again.
struct Start {
    binary: PathBuf,
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    dir: PathBuf,
    metrics: u16,
    health: u16,
}

impl Scheduler {
    /// Starts the stock setup, and waits until it is ready.
    ///
    /// # Panics
    /// As [`Scheduler::start_with`].
    pub async fn start(server: &Server) -> Self {
        Self::start_with(server, Setup::default()).await
    }

    /// Starts it, and waits until it is ready.
    ///
    /// # Panics
    /// When it has not been built, ends, or does not become ready.
    pub async fn start_with(server: &Server, setup: Setup) -> Self {
        let scheduler = Self::launch(server, setup);
        scheduler.until_ready().await;
        scheduler
    }

    /// Starts it without waiting.
    ///
    /// # Panics
    /// When it has not been built or cannot be run.
    pub fn launch(server: &Server, setup: Setup) -> Self {
        match Self::try_launch(server, setup) {
            Ok(scheduler) => scheduler,
            Err(error) => panic!("the scheduler cannot be started: {error:#}"),
        }
    }

    fn try_launch(server: &Server, setup: Setup) -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let dir = server
            .dir()
            .join(format!("scheduler-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        std::fs::create_dir_all(&dir)?;
        let (metrics, health) = (free_port()?, free_port()?);
        let url = setup.via.unwrap_or_else(|| server.url());
        let kubeconfig = server.kubeconfig_via(&SCHEDULER, &url);
        let mut arguments = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--listen-address=127.0.0.1:{metrics}"),
            format!("--healthz-address=127.0.0.1:{health}"),
            "--enable-metrics=true".to_owned(),
            "--enable-healthz=true".to_owned(),
            format!("--cache-dump-dir={}", dir.display()),
        ];
        let conf = match &setup.conf {
            Some(text) => Some(Mounted::new(&dir.join("conf"), CONF_FILE, text)?),
            None => None,
        };
        if let Some(conf) = &conf {
            arguments.push(format!("--scheduler-conf={}", conf.path().display()));
        }
        arguments.extend(setup.flags);
        let command = Start {
            binary: match setup.binary {
                Some(binary) => binary,
                None => own_binary("mco-volcano-scheduler", VARIABLE)?,
            },
            arguments,
            env: setup.env,
            dir,
            metrics,
            health,
        };
        Ok(Self {
            process: command.run()?,
            command,
            conf,
        })
    }

    /// Waits until `/readyz` says so.
    ///
    /// # Panics
    /// When it does not, with its answer.
    pub async fn until_ready(&self) {
        until("the scheduler is ready", LONG, async || {
            match self.health("/readyz") {
                Ok((200, _)) => Ok(()),
                Ok((code, text)) => Err(format!("{code}: {text}")),
                Err(error) => Err(format!("{error:#}")),
            }
        })
        .await;
    }

    /// Replaces the conf file as a kubelet does.
    ///
    /// # Panics
    /// When it was started without one, or the file system will not.
    pub fn edit_conf(&mut self, text: &str) {
        match self.conf.as_mut().map(|conf| conf.swap(text)) {
            Some(Ok(())) => {}
            Some(Err(error)) => panic!("cannot edit the conf: {error:#}"),
            None => panic!("this scheduler has no conf file"),
        }
    }

    /// A page of the health port: code and text.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn health(&self, path: &str) -> anyhow::Result<(u16, String)> {
        pages::fetch(self.command.health, path)
    }

    /// What `/metrics` says.
    ///
    /// # Panics
    /// When it says nothing.
    pub fn metrics(&self) -> String {
        match pages::fetch(self.command.metrics, "/metrics") {
            Ok((200, text)) => text,
            other => panic!("no metrics: {other:?}"),
        }
    }

    /// The value of one series, written as in `/metrics`: `name` or `name{label="value"}`.
    pub fn metric(&self, series: &str) -> Option<f64> {
        let text = self.metrics();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse().ok())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Where it writes dumps.
    pub fn dump_dir(&self) -> &std::path::Path {
        &self.command.dir
    }

    /// All it has logged.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// Ends it at once, as `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it runs no more.
    pub fn signal(&self, signal: Signal) {
        if let Err(error) = self.process.signal(signal) {
            panic!("{error:#}");
        }
    }

    /// Asks it to end by SIGTERM, and waits until it has.
    ///
    /// # Panics
    /// When it does not.
    pub fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.until_ended()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it goes on.
    pub fn until_ended(&mut self) -> ExitStatus {
        match self.process.wait(LONG) {
            Ok(status) => status,
            Err(error) => panic!("{error:#}"),
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    /// Starts it anew after it ended, with the same flags, ports and conf file, without waiting.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn launch_again(&mut self) {
        match self.command.run() {
            // The old one is dropped, and with it killed if it still runs.
            Ok(process) => self.process = process,
            Err(error) => panic!("the scheduler cannot be started again: {error:#}"),
        }
    }

    /// Starts it anew and waits until it is ready.
    ///
    /// # Panics
    /// When it cannot be run or does not become ready.
    pub async fn start_again(&mut self) {
        self.launch_again();
        self.until_ready().await;
    }
}

impl Start {
    fn run(&self) -> anyhow::Result<Process> {
        let mut command = Command::new(&self.binary);
        command
            .args(&self.arguments)
            .envs(self.env.iter().cloned())
            .env_remove("KUBECONFIG");
        Process::spawn("the scheduler", command, &self.dir.join("scheduler.log"))
    }
}
