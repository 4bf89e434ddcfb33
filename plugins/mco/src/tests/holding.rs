//! Hard limits over several sessions: release values and the hold time.

use super::fixture::*;
use mco_framework::conf::{Arguments, Value};
use mco_model::interference::NodeInterference;
use mco_model::time::Time;
use mco_model::{Cluster, Event};

/// A second, what the report then says of node `n`, and the code that the node then refuses with.
type Step = (i64, Said, Option<&'static str>);

/// Keys of `hardConstraints` with their values.
type Constraints<'a> = &'a [(&'a str, f64)];

#[derive(Clone, Copy, Debug)]
enum Said {
    /// `psiIoSomeAvg10`.
    Io(f64),
    /// `psiMemoryFullAvg10`.
    Memory(f64),
    /// Both are without a figure.
    Neither,
    /// The entry is stale, with this `psiIoSomeAvg10`.
    Stale(f64),
    /// The node is not in the report.
    NoEntry,
    /// There is no report.
    NoReport,
    /// What it said last, without having changed since.
    Unchanged,
}

const IO: Option<&str> = Some("psi_io_some");
const MEMORY: Option<&str> = Some("psi_memory_full");

fn hard(pairs: Constraints<'_>) -> Arguments {
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(key, number)| (*key, Value::Float(*number)))
        .collect();
    [("hardConstraints", map(&pairs))].into_iter().collect()
}

fn say(cluster: &mut Cluster, second: i64, said: Said) {
    let entry = match said {
        Said::Io(figure) => entry(0.5, 0.0, figure),
        Said::Memory(figure) => entry(0.5, figure, 0.0),
        Said::Neither => NodeInterference {
            psi_io_some_avg10: None,
            psi_memory_full_avg10: None,
            ..entry(0.5, 0.0, 0.0)
        },
        Said::Stale(figure) => NodeInterference {
            ok: false,
            ..entry(0.5, 0.0, figure)
        },
        Said::NoEntry => return cluster.apply(report_at(second, &[])),
        Said::NoReport => return cluster.apply(Event::ReportRemoved),
        Said::Unchanged => return,
    };
    cluster.apply(report_at(second, &[("n", entry)]));
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new("default");
    node(&mut cluster, "n", |_| ());
    pod(&mut cluster, None);
    cluster
}

#[test]
fn a_limit_is_left_at_the_release_value_and_after_the_hold_time() {
    use Said::*;
    let release = [("psiIoSomeAvg10Release", 10.0)];
    let hold = [("holdSeconds", 15.0)];
    let both = [release[0], hold[0]];
    let memory = [
        ("psiMemoryFullAvg10", 5.0),
        ("psiMemoryFullAvg10Release", 1.0),
        hold[0],
    ];
    let rows: &[(&str, Constraints<'_>, &[Step])] = &[
        (
            "neither is set",
            &[],
            &[
                (0, Io(21.0), IO),
                (1, Io(20.0), None),
                (2, Io(21.0), IO),
                (3, Io(0.0), None),
            ],
        ),
        (
            "a release value",
            &release,
            &[
                (0, Io(15.0), None),
                (1, Io(21.0), IO),
                (2, Io(15.0), IO),
                (100, Io(10.1), IO),
                (101, Io(10.0), None),
                (102, Io(15.0), None),
                (103, Io(20.0), None),
                (104, Io(20.1), IO),
            ],
        ),
        (
            "a release value of the limit itself",
            &[("psiIoSomeAvg10Release", 20.0)],
            &[(0, Io(21.0), IO), (1, Io(20.0), None)],
        ),
        (
            "a hold time",
            &hold,
            &[
                (0, Io(15.0), None),
                (1, Io(21.0), IO),
                (5, Io(21.0), IO),
                (6, Io(0.0), IO),
                (19, Io(20.0), IO),
                (20, Io(20.0), None),
                (21, Io(20.0), None),
            ],
        ),
        (
            "the hold time begins anew",
            &hold,
            &[
                (0, Io(21.0), IO),
                (14, Io(21.0), IO),
                (16, Io(0.0), IO),
                (29, Io(0.0), None),
            ],
        ),
        (
            "a release value and a hold time: both must be met",
            &both,
            &[
                (0, Io(21.0), IO),
                (5, Io(5.0), IO),
                (10, Io(15.0), IO),
                (20, Io(15.0), IO),
                (21, Io(10.0), None),
            ],
        ),
        (
            "memory",
            &memory,
            &[
                (0, Memory(4.0), None),
                (1, Memory(6.0), MEMORY),
                (2, Memory(2.0), MEMORY),
                (15, Memory(1.0), MEMORY),
                (16, Memory(1.0), None),
            ],
        ),
        (
            "the limits have each their own",
            &memory,
            &[
                (0, Memory(6.0), MEMORY),
                (10, Io(21.0), MEMORY),
                (20, Io(0.0), IO),
                (25, Io(0.0), None),
            ],
        ),
        (
            "a report that does not change counts as long as it is fresh",
            &hold,
            &[
                (0, Io(21.0), IO),
                (29, Unchanged, IO),
                (31, Unchanged, None),
                (40, Io(0.0), IO),
                (44, Io(0.0), None),
            ],
        ),
        (
            "without figures nothing is filtered and nothing left",
            &release,
            &[
                (0, Io(21.0), IO),
                (1, Neither, None),
                (2, Io(15.0), IO),
                (3, Stale(21.0), None),
                (4, Io(15.0), IO),
                (5, Stale(0.0), None),
                (6, Io(15.0), IO),
                (7, Io(f64::NAN), None),
                (8, Io(15.0), IO),
            ],
        ),
        (
            "a node that left the report is forgotten",
            &both,
            &[(0, Io(21.0), IO), (1, NoEntry, None), (2, Io(15.0), None)],
        ),
        (
            "with the report all are forgotten",
            &both,
            &[(0, Io(21.0), IO), (1, NoReport, None), (2, Io(15.0), None)],
        ),
        (
            "the own clock is set back",
            &hold,
            &[
                (1000, Io(21.0), IO),
                (100, Io(0.0), IO),
                (114, Io(0.0), IO),
                (115, Io(0.0), None),
            ],
        ),
    ];
    for (name, arguments, steps) in rows {
        let (mut cluster, scheduler) = (cluster(), Scheduler::new(hard(arguments)));
        for (second, said, expected) in *steps {
            say(&mut cluster, *second, *said);
            let answers = scheduler.ask(&mut cluster, Time::from_seconds(*second));
            assert_eq!(answers.code("n"), *expected, "{name}, second {second}, {said:?}");
            assert_eq!(answers.warnings, [""; 0], "{name}");
        }
    }
}

#[test]
fn a_session_that_asks_nothing_sees_a_node_over_a_limit() {
    let mut cluster = cluster();
    let scheduler = Scheduler::new(hard(&[("psiIoSomeAvg10Release", 10.0)]));
    say(&mut cluster, 0, Said::Io(21.0));
    let _ = scheduler.open(&mut cluster, Time::from_seconds(0)).close();
    say(&mut cluster, 1, Said::Io(15.0));
    let answers = scheduler.ask(&mut cluster, Time::from_seconds(1));
    assert_eq!(answers.code("n"), IO);
}

#[test]
fn a_refusal_tells_what_keeps_the_node_out() {
    let mut cluster = cluster();
    let scheduler = Scheduler::new(hard(&[("psiIoSomeAvg10Release", 10.0), ("holdSeconds", 15.0)]));
    let rows = [
        (
            0,
            21.0,
            "node(s) had I/O pressure above the limit (psi_io_some)",
            20.0,
        ),
        (
            1,
            15.0,
            "node(s) had I/O pressure above the release value after being over the limit (psi_io_some)",
            10.0,
        ),
        (
            2,
            5.0,
            "node(s) had I/O pressure above the limit a short while ago (psi_io_some)",
            20.0,
        ),
    ];
    for (second, figure, text, threshold) in rows {
        say(&mut cluster, second, Said::Io(figure));
        let answers = scheduler.ask(&mut cluster, Time::from_seconds(second));
        let reason = &answers.refusal("n").unwrap().reason;
        let measured = reason.measured.unwrap();
        assert_eq!(
            (&*reason.text, measured.value, measured.threshold),
            (text, figure, threshold)
        );
    }
}

#[test]
fn what_is_switched_off_is_forgotten() {
    let mut cluster = cluster();
    let release = [("psiIoSomeAvg10Release", 10.0)];
    let mut scheduler = Scheduler::new(hard(&release));
    let steps: [(Constraints<'_>, f64, Option<&str>); 4] = [
        (&release, 21.0, IO),
        (&release, 15.0, IO),
        (&[], 15.0, None),
        (&release, 15.0, None),
    ];
    for (second, (arguments, figure, expected)) in (0..).zip(steps) {
        scheduler.configure(hard(arguments));
        say(&mut cluster, second, Said::Io(figure));
        let answers = scheduler.ask(&mut cluster, Time::from_seconds(second));
        assert_eq!(answers.code("n"), expected, "second {second}");
    }
}
