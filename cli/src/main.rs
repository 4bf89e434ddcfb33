//! `mcoctl`: the project's command line. Each command is a room of its own; this file only opens their doors.

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod demo;
mod reason;
mod simulate;

/// Many-Core Orchestrator on the command line.
#[derive(Parser)]
#[command(name = "mcoctl", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the main job on this machine: its real collector, analyzer and scheduler core place gangs away from where it is hot.
    Demo(demo::Arguments),
    /// Run the scheduler on a cluster read from files, and print what it decides and why.
    Simulate(simulate::Arguments),
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("mcoctl: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
    }
}
