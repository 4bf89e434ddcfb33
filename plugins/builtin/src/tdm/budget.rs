//! How many tasks of a job may be taken away at a time. Pure arithmetic.

use mco_model::extra::JobBudget;

/// How many tasks a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskCounts {
    /// In all.
    pub all: usize,
    /// That run.
    pub running: usize,
    /// That ended, well or not.
    pub finished: usize,
}

/// How many of the running tasks may go now. Without a budget, or with fewer running than it wants at least, that is one.
#[must_use]
pub fn may_go(budget: Option<JobBudget>, tasks: TaskCounts) -> usize {
    let running = tasks.running as i64;
    let number = match budget {
        Some(JobBudget::MaxUnavailable(most)) => {
            let unavailable = tasks.all as i64 - tasks.finished as i64 - running;
            most.of(tasks.all).saturating_sub(unavailable)
        }
        Some(JobBudget::MinAvailable(least)) if running >= least.of(tasks.all) => {
            running.saturating_sub(least.of(tasks.all))
        }
        Some(JobBudget::MinAvailable(_)) | None => 1,
    };
    usize::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mco_model::extra::Count::{Number, Percent};
    use mco_model::extra::JobBudget::{MaxUnavailable, MinAvailable};

    #[test]
    fn budgets_leave_room_for_so_many() {
        // name, budget, tasks in all, running, finished; may go
        let rows = [
            ("no budget", None, 10, 10, 0, 1),
            ("no budget and nothing runs", None, 10, 0, 0, 1),
            (
                "at most 3 away, all run",
                Some(MaxUnavailable(Number(3))),
                10,
                10,
                0,
                3,
            ),
            (
                "at most 3 away, 2 are: 3 - 2",
                Some(MaxUnavailable(Number(3))),
                10,
                8,
                0,
                1,
            ),
            (
                "finished ones are not away: 3 - (10 - 4 - 5)",
                Some(MaxUnavailable(Number(3))),
                10,
                5,
                4,
                2,
            ),
            (
                "more are away than may be",
                Some(MaxUnavailable(Number(3))),
                10,
                5,
                0,
                0,
            ),
            ("none may be away", Some(MaxUnavailable(Number(0))), 10, 10, 0, 0),
            (
                "a quarter of 10, rounded up to 3",
                Some(MaxUnavailable(Percent(25))),
                10,
                10,
                0,
                3,
            ),
            (
                "at least 7 run: 10 - 7",
                Some(MinAvailable(Number(7))),
                10,
                10,
                0,
                3,
            ),
            (
                "at least as many as run",
                Some(MinAvailable(Number(10))),
                10,
                10,
                0,
                0,
            ),
            (
                "fewer run than wanted: as without a budget",
                Some(MinAvailable(Number(7))),
                10,
                6,
                0,
                1,
            ),
            (
                "25 % of 10, rounded up to 3: 9 - 3",
                Some(MinAvailable(Percent(25))),
                10,
                9,
                0,
                6,
            ),
            (
                "beyond all measure",
                Some(MinAvailable(Number(i64::MIN))),
                10,
                9,
                0,
                i64::MAX as usize,
            ),
        ];
        for (name, budget, all, running, finished, expected) in rows {
            let tasks = TaskCounts {
                all,
                running,
                finished,
            };
            assert_eq!(may_go(budget, tasks), expected, "{name}");
        }
    }
}
