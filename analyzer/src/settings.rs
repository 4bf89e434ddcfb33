//! The command line and environment of the analyzer, checked.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::window::P99Source;

/// Turns the samples of all nodes into interference levels and reports them.
#[derive(Clone, Debug, Parser)]
#[command(name = "mco-analyzer", version)]
pub struct Settings {
    /// Where collectors connect
    #[arg(long, env = "GRPC_ADDR", value_name = "[HOST]:PORT", default_value = ":9090", value_parser = parse_listen)]
    pub grpc_addr: Listen,
    /// Where /metrics, /livez, /readyz and /healthz are served
    #[arg(long, env = "METRICS_ADDR", value_name = "[HOST]:PORT", default_value = ":9878", value_parser = parse_listen)]
    pub metrics_addr: Listen,
    /// Samples younger than this count
    #[arg(long, env = "WINDOW", value_name = "TIME", default_value = "10s", value_parser = parse_time)]
    pub window: Duration,
    /// How often nodes are evaluated, and how often at most a report is written
    #[arg(long, env = "REPORT_INTERVAL", value_name = "TIME", default_value = "1s", value_parser = parse_time)]
    pub report_interval: Duration,
    /// A node that was silent for so long leaves the report
    #[arg(long, env = "FORGET_AFTER", value_name = "TIME", default_value = "5m", value_parser = parse_time)]
    pub forget_after: Duration,
    /// The most nodes that may report
    #[arg(long, env = "MAX_NODES", value_name = "N", default_value_t = 20_000)]
    pub max_nodes: usize,
    /// Which P99 of block latency is judged: the mean of the samples' P99s, or the P99 of all requests in the window
    #[arg(long, env = "P99_SOURCE", value_name = "SOURCE", default_value = "mean")]
    pub p99_source: P99,
    /// Where reports go and rules come from
    #[arg(long, env = "REPORT_SINK", value_name = "SINK", default_value = "kubernetes")]
    pub report_sink: Sink,
    /// With --report-sink memory: a DetectionRuleConfig or its spec, read again whenever it changes
    #[arg(long, env = "RULES_FILE", value_name = "FILE")]
    pub rules_file: Option<PathBuf>,
    /// Name of the DetectionRuleConfig
    #[arg(long, env = "RULES_NAME", value_name = "NAME", default_value = mco_crds::SINGLETON)]
    pub rules_name: String,
    /// Name of the NodeInterferenceReport
    #[arg(long, env = "REPORT_NAME", value_name = "NAME", default_value = mco_crds::SINGLETON)]
    pub report_name: String,
    /// Namespace of this pod, and of the DetectionRuleConfig
    #[arg(long, env = "POD_NAMESPACE", value_name = "NAMESPACE", default_value = mco_crds::RULES_NAMESPACE)]
    pub pod_namespace: String,
    /// Name of this pod, shown in the report
    #[arg(long, env = "POD_NAME", value_name = "NAME")]
    pub pod_name: Option<String>,
    /// How collectors prove which node they speak for; this version can only do `none`
    #[arg(long, env = "AUTH_MODE", value_name = "MODE", default_value = "none")]
    pub auth_mode: Auth,
    /// Let a lease decide which of several replicas writes; this version cannot
    #[arg(
        long, env = "LEADER_ELECT", value_name = "BOOL", default_value_t = false, num_args = 0..=1,
        default_missing_value = "true", action = clap::ArgAction::Set
    )]
    pub leader_elect: bool,
    /// Least severity that is logged: error, warn, info, debug or trace; RUST_LOG wins and can say more
    #[arg(long, env = "LOG_LEVEL", value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
    /// How log lines look
    #[arg(long, env = "LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Which P99 of block latency is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the setting says it")]
pub enum P99 {
    Mean,
    Window,
}

/// Where reports go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sink {
    /// To NodeInterferenceReport; rules come from DetectionRuleConfig.
    Kubernetes,
    /// To `/report` beside the metrics; rules come from a file, or are the defaults.
    Memory,
}

/// How collectors prove which node they speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Auth {
    /// They do not: anyone who reaches the port can speak for any node.
    None,
    /// By a service account token. Not in this version.
    Token,
    /// By a client certificate. Not in this version.
    Mtls,
}

/// Least severity that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogFormat {
    Text,
    Json,
}

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A port on all addresses, IPv6 and IPv4 where the system has both.
    AnyHost(u16),
    /// One address.
    Exact(SocketAddr),
}

impl Settings {
    /// The library's part of the settings.
    ///
    /// # Errors
    /// A sentence about a setting that this version cannot honour or that contradicts another.
    pub fn config(&self) -> Result<Config, String> {
        let unavailable = |setting: &str, value: &str, instead: &str| {
            Err(format!(
                "{setting}={value} is not available in this version and comes later; {instead}"
            ))
        };
        let keep_closed =
            "set AUTH_MODE=none and let only collectors reach the port, for example by a NetworkPolicy";
        match self.auth_mode {
            Auth::None => {}
            Auth::Token => return unavailable("AUTH_MODE", "token", keep_closed),
            Auth::Mtls => return unavailable("AUTH_MODE", "mtls", keep_closed),
        }
        if self.leader_elect {
            return unavailable("LEADER_ELECT", "true", "run one replica with LEADER_ELECT=false");
        }
        if self.rules_file.is_some() && self.report_sink == Sink::Kubernetes {
            return Err(
                "RULES_FILE needs REPORT_SINK=memory: in a cluster the rules come from DetectionRuleConfig, \
                        edit that instead"
                    .to_owned(),
            );
        }
        Ok(Config {
            window: self.window,
            report_interval: self.report_interval,
            max_nodes: self.max_nodes,
            forget_after: self.forget_after,
            p99: match self.p99_source {
                P99::Mean => P99Source::Mean,
                P99::Window => P99Source::Window,
            },
            reporter: self.pod_name.clone(),
        })
    }
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

impl Listen {
    /// Opens the port.
    ///
    /// # Errors
    /// The address is taken or not of this machine.
    pub async fn bind(self) -> std::io::Result<TcpListener> {
        match self {
            Listen::Exact(address) => TcpListener::bind(address).await,
            Listen::AnyHost(port) => match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
                // No IPv6 on this machine; any other fault would be the same again.
                Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await,
                bound => bound,
            },
        }
    }
}

fn parse_listen(text: &str) -> Result<Listen, String> {
    let wrong = || format!("`{text}` is no address to listen on; write `:9090` or `127.0.0.1:9090`");
    match text.strip_prefix(':') {
        Some(port) => port.parse().map(Listen::AnyHost).map_err(|_| wrong()),
        None => text.parse().map(Listen::Exact).map_err(|_| wrong()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write for example `500ms`, `10s` or `5m`");
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    match &text[digits..] {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Environment variables of the one who runs the tests must not decide them: every setting asked for is a flag.
    fn parse(flags: &[&str]) -> Result<Settings, String> {
        Settings::try_parse_from([&["mco-analyzer"], flags].concat()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_this_version_cannot_do_is_refused_in_a_sentence() {
        let rows = [
            (
                &["--auth-mode", "token"][..],
                "AUTH_MODE=token is not available in this version",
            ),
            (
                &["--auth-mode", "mtls"],
                "AUTH_MODE=mtls is not available in this version",
            ),
            (
                &["--leader-elect=true"],
                "LEADER_ELECT=true is not available in this version",
            ),
            (
                &["--leader-elect"],
                "LEADER_ELECT=true is not available in this version",
            ),
            (&["--rules-file", "r.yaml"], "RULES_FILE needs REPORT_SINK=memory"),
        ];
        for (flags, sentence) in rows {
            let error = parse(flags).unwrap().config().unwrap_err();
            assert!(error.starts_with(sentence), "{error}");
        }
    }

    #[test]
    fn bad_values_name_the_flag_and_the_way_out() {
        let rows = [
            ("--grpc-addr=9090", "write `:9090`"),
            ("--grpc-addr=:99999", "--grpc-addr"),
            ("--window=10", "write for example `500ms`"),
            ("--window=-1s", "--window"),
            ("--window=99999999999999999999s", "is no time"),
            ("--auth-mode=maybe", "none"),
            ("--max-nodes=-1", "--max-nodes"),
        ];
        for (flag, part) in rows {
            let error = parse(&[flag]).expect_err(part);
            assert!(error.contains(part), "{flag}: {error}");
        }
    }

    #[test]
    fn times_and_addresses_read_as_written() {
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_listen(":9878"), Ok(Listen::AnyHost(9878)));
        assert_eq!(
            parse_listen("[::1]:1"),
            Ok(Listen::Exact("[::1]:1".parse().unwrap()))
        );
    }
}
