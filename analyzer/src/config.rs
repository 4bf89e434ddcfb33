//! What an analyzer can be told at start, checked.

use std::time::Duration;

use thiserror::Error;

use crate::window::P99Source;

/// What an analyzer can be told at start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Samples younger than this count; 1 s to 10 min.
    pub window: Duration,
    /// How often nodes are evaluated, and how often at most a report goes out; 10 ms to 1 min.
    pub report_interval: Duration,
    /// The most nodes kept at once; above 0.
    pub max_nodes: usize,
    /// A node that was silent for so long leaves the report; not below `window`.
    pub forget_after: Duration,
    /// Which P99 of block latency is judged.
    pub p99: P99Source,
    /// Who writes the report, as the report says.
    pub reporter: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(10),
            report_interval: Duration::from_secs(1),
            max_nodes: 20_000,
            forget_after: Duration::from_secs(300),
            p99: P99Source::default(),
            reporter: None,
        }
    }
}

/// Why an analyzer cannot start or go on.
#[derive(Debug, Error)]
pub enum AnalyzerError {
    /// A setting out of its range.
    #[error("{setting} is {value:?}; give a value from {lowest:?} to {highest:?}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What was given.
        value: Duration,
        /// The smallest allowed.
        lowest: Duration,
        /// The largest allowed.
        highest: Duration,
    },
    /// No room for any node.
    #[error("MAX_NODES is 0; give at least 1")]
    NoNodes,
    /// The metrics could not be set up.
    #[error("cannot set up metrics")]
    Metrics(#[from] prometheus::Error),
    /// The gRPC server failed.
    #[error("cannot serve gRPC")]
    Serve(#[from] tonic::transport::Error),
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), AnalyzerError> {
        let rows = [
            (
                "WINDOW",
                self.window,
                Duration::from_secs(1),
                Duration::from_secs(600),
            ),
            (
                "REPORT_INTERVAL",
                self.report_interval,
                Duration::from_millis(10),
                Duration::from_secs(60),
            ),
            (
                "FORGET_AFTER",
                self.forget_after,
                self.window,
                Duration::from_secs(86_400),
            ),
        ];
        for (setting, value, lowest, highest) in rows {
            if !(lowest..=highest).contains(&value) {
                return Err(AnalyzerError::Setting {
                    setting,
                    value,
                    lowest,
                    highest,
                });
            }
        }
        if self.max_nodes == 0 {
            Err(AnalyzerError::NoNodes)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_out_of_range_names_itself_and_its_range() {
        let good = Config::default();
        assert!(good.check().is_ok());
        let rows = [
            (
                Config {
                    window: Duration::ZERO,
                    ..good.clone()
                },
                "WINDOW is 0ns; give a value from 1s to 600s",
            ),
            (
                Config {
                    report_interval: Duration::ZERO,
                    ..good.clone()
                },
                "REPORT_INTERVAL is 0ns; give a value from 10ms to 60s",
            ),
            (
                Config {
                    forget_after: Duration::from_secs(9),
                    ..good.clone()
                },
                "FORGET_AFTER is 9s; give a value from 10s to 86400s",
            ),
            (
                Config {
                    max_nodes: 0,
                    ..good.clone()
                },
                "MAX_NODES is 0; give at least 1",
            ),
        ];
        for (config, message) in rows {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
    }
}
