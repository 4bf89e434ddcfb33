//! The process `mco-volcano-scheduler`.

use mco_daemon::flags::{self, Parsed};
use std::process::ExitCode;

/// As Go programs leave when their flags cannot be used.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let flags = match flags::parse(&words) {
        Ok(Parsed::Run(flags)) => flags,
        Ok(Parsed::Help) => {
            print!("{}", flags::help());
            return ExitCode::SUCCESS;
        }
        Ok(Parsed::Version) => {
            println!("mco-volcano-scheduler {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(USAGE);
        }
    };
    let loudness = mco_daemon::log::start(flags.verbosity);
    match mco_daemon::process::run(*flags, loudness) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", told(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error with its causes, each said once: many errors repeat their cause in their own text.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow!("no route")
            .context("cannot connect: no route")
            .context("cannot start");
        assert_eq!(told(&error), "cannot start: cannot connect: no route");
    }
}
