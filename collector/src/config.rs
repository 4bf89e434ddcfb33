//! What a collector needs to know, checked; and the command line and environment it comes from.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use thiserror::Error;

/// Settings of one collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The node's name in the cluster.
    pub node_name: String,
    /// `http://host:port` of the analyzer. Without one nothing is streamed, and metrics are still shown.
    pub analyzer: Option<String>,
    /// File with the token that proves who this collector is; read at every connect.
    pub token_file: Option<PathBuf>,
    /// Time between two samples.
    pub interval: Duration,
    /// Where `/metrics` and the health pages are served. Without one they are not.
    pub metrics_addr: Option<ListenAddr>,
    /// The host's /proc.
    pub host_proc: PathBuf,
    /// The host's /sys.
    pub host_sys: PathBuf,
    /// Samples kept while the analyzer cannot take them; at least 1.
    pub spool_samples: usize,
}

impl Config {
    /// Defaults for a node: this machine's own /proc and /sys, one sample a second, no analyzer, no metrics page.
    pub fn for_node(node_name: impl Into<String>) -> Self {
        Self {
            node_name: node_name.into(),
            analyzer: None,
            token_file: None,
            interval: Duration::from_secs(1),
            metrics_addr: None,
            host_proc: "/proc".into(),
            host_sys: "/sys".into(),
            spool_samples: 30,
        }
    }
}

/// An address to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenAddr {
    /// A port on all addresses, IPv6 and IPv4 where the system has both.
    AnyHost(u16),
    /// One address.
    Exact(SocketAddr),
}

/// A setting that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// The node has no name.
    #[error("the node's name is not known: set --node-name or NODE_NAME (in a pod from `spec.nodeName`)")]
    NoNodeName,
    /// A root of kernel files is not one.
    #[error(
        "{flag} ({env}): `{path}` has no `{missing}`; mount the host's {what} there, or leave the setting out"
    )]
    NotARoot {
        /// The flag.
        flag: &'static str,
        /// The environment variable of the same meaning.
        env: &'static str,
        /// What was given.
        path: String,
        /// What should be there.
        missing: &'static str,
        /// What should be mounted.
        what: &'static str,
    },
    /// Encryption was asked for.
    #[error(
        "{0}: this version cannot encrypt the stream; use `host:port` or `http://host:port` without a CA"
    )]
    NoTls(&'static str),
}

/// The collector's flags. Each has an environment variable of the same name; the flag wins.
#[derive(Debug, Clone, Args)]
pub struct Flags {
    /// Name of this node in the cluster [default: the host name]
    #[arg(long, env = "NODE_NAME", value_name = "NAME")]
    pub node_name: Option<String>,
    /// The analyzer, as host:port; without it samples are only shown on /metrics
    #[arg(long, env = "ANALYZER_ADDR", value_name = "HOST:PORT", value_parser = parse_analyzer)]
    pub analyzer_addr: Option<Analyzer>,
    /// CA that signed the analyzer's certificate (not supported by this version)
    #[arg(long, env = "ANALYZER_TLS_CA", value_name = "FILE", hide = true)]
    pub analyzer_tls_ca: Option<PathBuf>,
    /// File with the token that proves who this collector is; read again at every connect
    #[arg(long, env = "ANALYZER_TOKEN_FILE", value_name = "FILE")]
    pub analyzer_token_file: Option<PathBuf>,
    /// Time between two samples, 200ms to 60s
    #[arg(long, env = "COLLECT_INTERVAL", value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    pub collect_interval: Duration,
    /// Where /metrics, /livez and /readyz are served; `off` for nowhere
    #[arg(long, env = "METRICS_ADDR", value_name = "[HOST]:PORT", default_value = ":9877", value_parser = parse_listen)]
    pub metrics_addr: Listen,
    /// The host's /proc [default: /host/proc where that is mounted, else /proc]
    #[arg(long, env = "HOST_PROC", value_name = "DIR")]
    pub host_proc: Option<PathBuf>,
    /// The host's /sys
    #[arg(long, env = "HOST_SYS", value_name = "DIR", default_value = "/sys")]
    pub host_sys: PathBuf,
    /// Samples kept while the analyzer cannot take them, 1 to 3600; the newest are kept
    #[arg(
        long, env = "SPOOL_SAMPLES", value_name = "N", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=3600)
    )]
    pub spool_samples: u32,
    /// Least severity that is logged: error, warn, info, debug or trace; RUST_LOG wins and can say more
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
    /// How log lines look
    #[arg(long, env = "LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Least severity that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    /// The word a log filter takes.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// The analyzer flag: absent when empty.
pub type Analyzer = Option<String>;
/// The metrics flag: absent for `off`.
pub type Listen = Option<ListenAddr>;

impl Flags {
    /// Checks the settings against each other and the machine.
    ///
    /// # Errors
    /// Names the flag, and what to do about it.
    pub fn into_config(self) -> Result<Config, ConfigError> {
        let analyzer = self.analyzer_addr.flatten();
        if self
            .analyzer_tls_ca
            .is_some_and(|path| !path.as_os_str().is_empty())
        {
            return Err(ConfigError::NoTls("--analyzer-tls-ca (ANALYZER_TLS_CA)"));
        }
        if analyzer
            .as_deref()
            .is_some_and(|address| address.starts_with("https://"))
        {
            return Err(ConfigError::NoTls("--analyzer-addr (ANALYZER_ADDR)"));
        }
        let host_proc = self
            .host_proc
            .filter(|path| !path.as_os_str().is_empty())
            .unwrap_or_else(default_proc);
        check_root("--host-proc", "HOST_PROC", &host_proc, "meminfo", "/proc")?;
        check_root("--host-sys", "HOST_SYS", &self.host_sys, "devices", "/sys")?;
        let node_name = match self.node_name.filter(|name| !name.is_empty()) {
            Some(name) => name,
            None => host_name(&host_proc).ok_or(ConfigError::NoNodeName)?,
        };
        Ok(Config {
            node_name,
            analyzer,
            token_file: self
                .analyzer_token_file
                .filter(|path| !path.as_os_str().is_empty()),
            interval: self.collect_interval,
            metrics_addr: self.metrics_addr,
            host_proc,
            host_sys: self.host_sys,
            spool_samples: self.spool_samples as usize,
        })
    }
}

/// In a pod the host's /proc is mounted here. A pod's own would do as well, as long as its pressure, memory and disk
/// files are not masked.
fn default_proc() -> PathBuf {
    let mounted = Path::new("/host/proc");
    if mounted.join("meminfo").exists() {
        mounted.to_owned()
    } else {
        "/proc".into()
    }
}

fn check_root(
    flag: &'static str,
    env: &'static str,
    root: &Path,
    missing: &'static str,
    what: &'static str,
) -> Result<(), ConfigError> {
    match root.join(missing).exists() {
        true => Ok(()),
        false => Err(ConfigError::NotARoot {
            flag,
            env,
            path: root.display().to_string(),
            missing,
            what,
        }),
    }
}

fn host_name(proc: &Path) -> Option<String> {
    let name = std::fs::read_to_string(proc.join("sys/kernel/hostname")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty() && name != "(none)")
}

fn parse_analyzer(text: &str) -> Result<Analyzer, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if !matches!(scheme, "http" | "https") {
        return Err(format!("`{scheme}` is no scheme of the stream; write host:port"));
    }
    let authority = rest.trim_end_matches('/');
    let port = authority
        .rsplit_once(':')
        .map(|(host, port)| (!host.is_empty(), port.parse::<u16>()));
    let address = format!("{scheme}://{authority}");
    let usable = tonic::transport::Uri::try_from(address.as_str()).is_ok_and(|uri| uri.path() == "/");
    match port {
        Some((true, Ok(1..))) if usable => Ok(Some(address)),
        _ => Err("write it as host:port, for example mco-analyzer.mco-system:9090".into()),
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text).ok_or("write it as a number and ms, s or m, for example 1s")?;
    match (Duration::from_millis(200)..=Duration::from_secs(60)).contains(&interval) {
        true => Ok(interval),
        false => Err("it must be from 200ms (the analyzer takes 5 samples a second) to 60s".into()),
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..unit].parse().ok()?;
    let millis = match &text[unit..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return None,
    };
    number.checked_mul(millis).map(Duration::from_millis)
}

fn parse_listen(text: &str) -> Result<Listen, String> {
    let text = text.trim();
    if text == "off" {
        return Ok(None);
    }
    if let Some(port) = text.strip_prefix(':').and_then(|port| port.parse().ok()) {
        return Ok(Some(ListenAddr::AnyHost(port)));
    }
    let exact = text
        .parse()
        .map_err(|_| "write it as :port or address:port, for example :9877, or `off`")?;
    Ok(Some(ListenAddr::Exact(exact)))
}

#[cfg(test)]
mod tests;
