//! Pressure stall information: `/proc/pressure/io` and `/proc/pressure/memory`.

use std::path::Path;

use super::{ProcFile, Reading, Reason, Unavailable};

/// What one pressure file says. Every line is optional: kernels differ in which they print.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Psi {
    /// Share of the last 10 s in which some task was stalled, in percent.
    pub some_avg10: Option<f64>,
    /// Share of the last 10 s in which all tasks were stalled, in percent.
    pub full_avg10: Option<f64>,
    /// Time in which some task was stalled since boot, in microseconds.
    pub some_total_us: Option<u64>,
    /// Time in which all tasks were stalled since boot, in microseconds.
    pub full_total_us: Option<u64>,
}

/// One pressure file.
#[derive(Debug)]
pub struct PsiSource {
    file: ProcFile,
}

impl PsiSource {
    /// The pressure of `resource` (`io` or `memory`) below a root of /proc.
    pub fn new(proc: &Path, resource: &str) -> Self {
        Self {
            file: ProcFile::new(proc.join("pressure").join(resource)),
        }
    }

    /// Reads the file. Without an average of either line the source is unavailable.
    pub fn read(&mut self) -> Reading<Psi> {
        let path = self.file.path().display().to_string();
        let text = self.file.read().map_err(|error| explain(&path, &error))?;
        let psi = parse(&text);
        if psi.some_avg10.is_none() && psi.full_avg10.is_none() {
            return Err(Unavailable::new(
                Reason::Malformed,
                format!("{path}: no `some` or `full` line with avg10"),
            ));
        }
        Ok(psi)
    }
}

fn explain(path: &str, error: &std::io::Error) -> Unavailable {
    let reason = super::reason_of(error);
    let message = match reason {
        Reason::NotSupported => format!("{path}: not there, the kernel is built without PSI (CONFIG_PSI)"),
        Reason::Disabled => {
            format!("{path}: PSI is disabled, boot with psi=1 on the kernel command line")
        }
        _ => format!("{path}: {error}"),
    };
    Unavailable::new(reason, message)
}

/// Picks the known words out of a pressure file; whatever else is there is passed over.
pub fn parse(text: &str) -> Psi {
    let mut psi = Psi::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let (avg10, total) = match words.next() {
            Some("some") => (&mut psi.some_avg10, &mut psi.some_total_us),
            Some("full") => (&mut psi.full_avg10, &mut psi.full_total_us),
            _ => continue,
        };
        for word in words {
            match word.split_once('=') {
                Some(("avg10", value)) => *avg10 = value.parse().ok().filter(|v| (0.0..=100.0).contains(v)),
                Some(("total", value)) => *total = value.parse().ok(),
                _ => {}
            }
        }
    }
    psi
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_line_and_word_is_optional() {
        let psi = |sa, fa, st, ft| Psi {
            some_avg10: sa,
            full_avg10: fa,
            some_total_us: st,
            full_total_us: ft,
        };
        for (name, text, expected) in [
            (
                "whole file",
                "some avg10=1.50 avg60=2.00 avg300=3.00 total=42\nfull avg10=0.25 avg60=0 avg300=0 total=7\n",
                psi(Some(1.5), Some(0.25), Some(42), Some(7)),
            ),
            (
                "no full line",
                "some avg10=1.50 total=42\n",
                psi(Some(1.5), None, Some(42), None),
            ),
            (
                "full first, words moved",
                "full total=7 avg10=0.25\n",
                psi(None, Some(0.25), None, Some(7)),
            ),
            (
                "new words",
                "some avg1=9 avg10=1.50 peak=3\n",
                psi(Some(1.5), None, None, None),
            ),
            ("not a number", "some avg10=high total=-1\n", Psi::default()),
            ("not a share", "some avg10=101 \nfull avg10=NaN\n", Psi::default()),
            ("a third line", "most avg10=1.50\n", Psi::default()),
            ("empty", "", Psi::default()),
        ] {
            assert_eq!(parse(text), expected, "{name}");
        }
    }

    #[test]
    fn absent_and_disabled_are_told_apart() {
        let missing = std::io::Error::from_raw_os_error(2);
        let disabled = std::io::Error::from_raw_os_error(95);
        assert_eq!(explain("io", &missing).reason, Reason::NotSupported);
        let disabled = explain("io", &disabled);
        assert_eq!(disabled.reason, Reason::Disabled);
        assert!(disabled.message.contains("psi=1"), "{disabled}");
    }

    #[test]
    fn a_file_that_appears_later_is_read_without_a_restart() {
        let proc = tempfile::tempdir().unwrap();
        let mut source = PsiSource::new(proc.path(), "io");
        assert_eq!(source.read().unwrap_err().reason, Reason::NotSupported);

        std::fs::create_dir(proc.path().join("pressure")).unwrap();
        std::fs::write(proc.path().join("pressure/io"), "").unwrap();
        assert_eq!(source.read().unwrap_err().reason, Reason::Malformed);

        std::fs::write(proc.path().join("pressure/io"), "some avg10=3.00 total=1\n").unwrap();
        assert_eq!(source.read().unwrap().some_avg10, Some(3.0));
    }

    proptest! {
        #[test]
        fn odd_text_never_panics_and_never_leaves_the_range(text in "(some|full|avg10=|total=|[ -~]|\n){0,60}") {
            let psi = parse(&text);
            for share in [psi.some_avg10, psi.full_avg10].into_iter().flatten() {
                prop_assert!((0.0..=100.0).contains(&share));
            }
        }
    }
}
