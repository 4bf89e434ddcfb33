//! The log: to standard error, as loud as `-v` says.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts the log. `RUST_LOG` wins over the verbosity, `LOG_FORMAT=json` writes lines for machines.
pub fn start(verbosity: i64) {
    let level = match verbosity {
        ..=3 => "info",
        4 => "info,mco_daemon=debug,mco_cache=debug",
        5 => "debug",
        _ => "trace",
    };
    // What the client library says of its tries is said once, and better, above it.
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new(format!("{level},{}", mco_cache::LOG_DIRECTIVES)));
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !no_color);
    if std::env::var("LOG_FORMAT").is_ok_and(|format| format == "json") {
        log.json().init();
    } else {
        log.init();
    }
}
