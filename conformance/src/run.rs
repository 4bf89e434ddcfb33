//! Running cases: each by itself, on as many threads as there are processors, with a guard against panics and endless
//! loops, and the count of what came of them.

use crate::recognise::Case;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// No case needs more than a fraction of a second; what takes longer than this does not end.
const LIMIT: Duration = Duration::from_secs(60);

/// Judgements by case.
#[derive(Debug, Default)]
pub struct Report {
    /// Folder, name and judgement of each case, in order.
    pub cases: Vec<(String, String, Verdict)>,
}

/// Runs all cases and reports them in their order.
#[must_use]
pub fn run_all(cases: Vec<Case>) -> Report {
    silence_panics();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let names: Vec<(String, String)> = cases
        .iter()
        .map(|case| (case.folder.clone(), case.name.clone()))
        .collect();
    let waiting = Mutex::new(cases.into_iter().enumerate());
    let verdicts = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, case)) = lock(&waiting).next() {
                    let verdict = run_guarded(case);
                    lock(&verdicts).insert(index, verdict);
                }
            });
        }
    });
    let verdicts = verdicts
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let cases = names
        .into_iter()
        .zip(verdicts)
        .map(|((folder, name), (_, verdict))| (folder, name, verdict));
    Report {
        cases: cases.collect(),
    }
}

/// Runs one case on a thread of its own, which is left behind when it does not end.
fn run_guarded(case: Case) -> Verdict {
    let (sender, receiver) = channel();
    let spawned = std::thread::Builder::new().stack_size(16 << 20).spawn(move || {
        let verdict = std::panic::catch_unwind(AssertUnwindSafe(case.judge)).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            let place = LAST_PANIC.with(|place| place.take());
            Verdict::Failed(format!("panicked{place}: {}", text.unwrap_or("without a text")))
        });
        // Nobody listens any more when the case took too long.
        let _ = sender.send(verdict);
    });
    if let Err(error) = spawned {
        return Verdict::Failed(format!("no thread for it: {error}"));
    }
    match receiver.recv_timeout(LIMIT) {
        Ok(verdict) => verdict,
        Err(RecvTimeoutError::Timeout) => {
            Verdict::Failed(format!("did not end within {} s", LIMIT.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Verdict::Failed("ended without a verdict".to_owned()),
    }
}

thread_local! {
    static LAST_PANIC: std::cell::Cell<String> = const { std::cell::Cell::new(String::new()) };
}

/// A panic is told in the case's verdict, not on the console.
fn silence_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|at| format!(" at {}:{}", at.file(), at.line()))
            .unwrap_or_default();
        LAST_PANIC.with(|last| last.set(place));
    }));
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[derive(Clone, Copy, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed | Verdict::PassedWhere(_) => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Skipped(_) => self.skipped += 1,
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

impl Report {
    /// How many cases failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.cases
            .iter()
            .filter(|(_, _, verdict)| matches!(verdict, Verdict::Failed(_)))
            .count()
    }

    /// How many cases passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.cases
            .iter()
            .filter(|(_, _, verdict)| matches!(verdict, Verdict::Passed | Verdict::PassedWhere(_)))
            .count()
    }

    /// A line for each case that failed, the skipped ones and those that differ from upstream's faults by reason, the count
    /// of each folder and of all.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut named: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
        let mut folders: BTreeMap<&str, Counts> = BTreeMap::new();
        let mut all = Counts::default();
        for (folder, name, verdict) in &self.cases {
            folders.entry(folder).or_default().count(verdict);
            all.count(verdict);
            match verdict {
                Verdict::Passed => {}
                Verdict::Failed(difference) => {
                    let _ = writeln!(text, "FAIL {folder}/{name}: {difference}");
                }
                Verdict::PassedWhere(fault) => named.entry(("pass", folder, fault)).or_default().push(name),
                Verdict::Skipped(reason) => named.entry(("skip", folder, reason)).or_default().push(name),
            }
        }
        for ((what, folder, reason), names) in &named {
            let _ = writeln!(
                text,
                "{what} {folder}, {} ({reason}): {}",
                names.len(),
                names.join(" ")
            );
        }
        let width = folders.keys().map(|folder| folder.len()).max().unwrap_or(0);
        for (folder, counts) in &folders {
            let _ = writeln!(text, "{folder:width$}  {counts}");
        }
        let _ = writeln!(text, "{all}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, judge: impl FnOnce() -> Verdict + Send + 'static) -> Case {
        Case {
            folder: "f".into(),
            name: name.into(),
            judge: Box::new(judge),
        }
    }

    #[test]
    fn a_panic_fails_its_case_and_no_other() {
        let report = run_all(vec![
            case("good", || Verdict::Passed),
            case("bad", || panic!("out of sorts")),
            case("later", || Verdict::Skipped("not yet".into())),
        ]);
        let text = report.text();
        assert!(text.contains("FAIL f/bad: panicked at "), "{text}");
        assert!(text.contains("out of sorts"), "{text}");
        assert!(text.contains("skip f, 1 (not yet): later"), "{text}");
        assert!(text.ends_with("1 passed, 1 failed, 1 skipped\n"), "{text}");
        assert_eq!((report.failed(), report.passed()), (1, 1));
    }
}
