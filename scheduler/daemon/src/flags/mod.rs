//! The command line: volcano-scheduler's flags, spelled and read as Go programs do.

mod duration;
mod table;
mod words;

pub(crate) use duration::parse_duration;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use table::{FLAGS, Kind};
use words::Given;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// API server URL; empty when not given.
    pub master: String,
    /// Kubeconfig file; empty when not given.
    pub kubeconfig: PathBuf,
    /// Certificates of the health server; used when all three are given.
    pub tls: Option<TlsFiles>,
    /// Names that pods may give in `schedulerName`.
    pub scheduler_names: Vec<String>,
    /// The configuration file; `None` for the built-in default.
    pub scheduler_conf: Option<PathBuf>,
    /// Pause between the end of a cycle and the start of the next.
    pub schedule_period: Duration,
    /// Queue of PodGroups that name none.
    pub default_queue: String,
    /// Write only while holding the Lease.
    pub leader_elect: bool,
    /// Namespace of the Lease.
    pub lock_object_namespace: String,
    /// Address of `/metrics`.
    pub listen_address: String,
    /// Address of the health pages.
    pub healthz_address: String,
    /// Serve `/metrics`.
    pub enable_metrics: bool,
    /// Serve the health pages.
    pub enable_healthz: bool,
    /// Watch PriorityClasses.
    pub priority_class: bool,
    /// Calls a second.
    pub kube_api_qps: f64,
    /// Calls at once.
    pub kube_api_burst: f64,
    /// Nodes with one of these labels only, each `label:value`; empty for all.
    pub node_selector: Vec<String>,
    /// React to SIGUSR1 and SIGUSR2.
    pub cache_dumper: bool,
    /// Where dumps go.
    pub cache_dump_dir: PathBuf,
    /// `-v`.
    pub verbosity: i64,
    /// Label series with node names.
    pub metrics_per_node: bool,
    /// What was given and does nothing here, to be told once.
    pub warnings: Vec<String>,
}

/// Certificate files of the health server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Who may come as a client.
    pub ca: PathBuf,
    /// The server's certificate.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What the command line comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Run.
    Run(Box<Flags>),
    /// Print the version.
    Version,
    /// Print the help.
    Help,
}

/// A command line that cannot be read. The message names the flag and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Reads the words after the program's name. Words that are no flags are passed over: the stock chart hands over `2>&1`.
///
/// # Errors
/// When a flag is unknown or its value cannot be used.
pub fn parse(words: &[String]) -> Result<Parsed, UsageError> {
    let given = words::read(words)?;
    if given.flag("help")? {
        return Ok(Parsed::Help);
    }
    if given.flag("version")? {
        return Ok(Parsed::Version);
    }
    let mut warnings = given.without_effect();
    let scheduler_names = match given.all("scheduler-name") {
        names if names.is_empty() => vec!["volcano".to_owned()],
        names => names,
    };
    if scheduler_names.iter().any(|name| name.trim().is_empty()) {
        return Err(given.bad("scheduler-name", "", "a name that pods can give"));
    }
    let flags = Flags {
        master: given.text("master"),
        kubeconfig: given.text("kubeconfig").into(),
        tls: tls(&given, &mut warnings),
        scheduler_names,
        scheduler_conf: Some(given.text("scheduler-conf"))
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
        schedule_period: duration(&given, "schedule-period")?,
        default_queue: given.text("default-queue"),
        leader_elect: given.flag("leader-elect")?,
        lock_object_namespace: lock_namespace(&given),
        listen_address: given.text("listen-address"),
        healthz_address: given.text("healthz-address"),
        enable_metrics: given.flag("enable-metrics")?,
        enable_healthz: given.flag("enable-healthz")?,
        priority_class: given.flag("priority-class")?,
        kube_api_qps: given.number("kube-api-qps")?,
        kube_api_burst: given.number("kube-api-burst")?,
        node_selector: node_selector(&given, &mut warnings),
        cache_dumper: given.flag("cache-dumper")?,
        cache_dump_dir: given.text("cache-dump-dir").into(),
        verbosity: given.whole("v")?,
        metrics_per_node: given.flag("metrics-per-node")?,
        warnings,
    };
    check_rest(&given)?;
    if flags.leader_elect && flags.lock_object_namespace.is_empty() {
        return Err(UsageError(
            "--leader-elect=true needs a namespace for its Lease: give --lock-object-namespace, or --leader-elect=false"
                .to_owned(),
        ));
    }
    if flags.default_queue.trim().is_empty() {
        return Err(given.bad("default-queue", "", "the name of a queue"));
    }
    Ok(Parsed::Run(Box::new(flags)))
}

/// The text of `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "mco-volcano-scheduler: a batch scheduler in the place of volcano-scheduler\n\nFlags, with their defaults:\n",
    );
    for flag in FLAGS.iter().filter(|flag| !flag.help.is_empty()) {
        let default = if flag.default.is_empty() {
            "\"\""
        } else {
            flag.default
        };
        text.push_str(&format!("  --{}={default}\n      {}\n", flag.name, flag.help));
    }
    text.push_str(
        "Flags of klog (-v=N and others) and of later Volcano releases are accepted.\n\n\
         Environment: RUST_LOG (wins over -v), LOG_FORMAT=json, NO_COLOR, KUBECONFIG; DEBUG_SOCKET_DIR=/tmp/klog-socks has \
         the socket\nklog-klog.sock, which takes GET /setlevel?level=5&duration=60s and GET /getlevel.\n",
    );
    text
}

fn duration(given: &Given, name: &'static str) -> Result<Duration, UsageError> {
    let text = given.text(name);
    parse_duration(&text)
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| given.bad(name, &text, "a duration above zero such as 1s, 500ms or 1m30s"))
}

/// Values of flags that do nothing here are looked at all the same, as upstream does.
fn check_rest(given: &Given) -> Result<(), UsageError> {
    for flag in FLAGS.iter().filter(|flag| given.has(flag.name)) {
        match flag.kind {
            Kind::Bool => drop(given.flag(flag.name)?),
            Kind::Int => drop(given.whole(flag.name)?),
            Kind::Float => drop(given.number(flag.name)?),
            Kind::Duration => {
                let text = given.text(flag.name);
                if parse_duration(&text).is_none() {
                    return Err(given.bad(flag.name, &text, "a duration such as 5s"));
                }
            }
            Kind::Text | Kind::List => {}
        }
    }
    Ok(())
}

fn lock_namespace(given: &Given) -> String {
    let later = "leader-elect-resource-namespace";
    let name = if given.has(later) && !given.has("lock-object-namespace") {
        later
    } else {
        "lock-object-namespace"
    };
    given.text(name)
}

fn tls(given: &Given, warnings: &mut Vec<String>) -> Option<TlsFiles> {
    let names = ["ca-cert-file", "tls-cert-file", "tls-private-key-file"];
    let [ca, cert, key] = names.map(|name| Some(given.text(name)).filter(|path| !path.is_empty()));
    if let (Some(ca), Some(cert), Some(key)) = (&ca, &cert, &key) {
        return Some(TlsFiles {
            ca: ca.into(),
            cert: cert.into(),
            key: key.into(),
        });
    }
    if ca.is_some() || cert.is_some() || key.is_some() {
        warnings.push(
            "the health pages are served without TLS: that takes all of --ca-cert-file, --tls-cert-file and \
             --tls-private-key-file"
                .to_owned(),
        );
    }
    None
}

/// `label:value` entries; what is none is passed over, as upstream does.
fn node_selector(given: &Given, warnings: &mut Vec<String>) -> Vec<String> {
    let (good, bad): (Vec<String>, Vec<String>) =
        given.list("node-selector").into_iter().partition(|entry| {
            entry
                .split_once(':')
                .is_some_and(|(label, value)| !label.is_empty() && !value.is_empty())
        });
    warnings.extend(bad.iter().map(|entry| {
        format!("--node-selector: {entry:?} is not of the form label:value and is passed over")
    }));
    good
}

#[cfg(test)]
mod tests;
