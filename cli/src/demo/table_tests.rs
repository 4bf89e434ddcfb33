//! Pictures of the tables.

use super::super::candidates::Candidate;
use super::super::jobs::Pod;
use super::*;
use crate::reason::Refused;
use mco_crds::{Dimensions, Metrics, NodeStatus};

fn entry(level: f64, io: f64) -> NodeEntry {
    NodeEntry {
        status: NodeStatus::Ok,
        psi_available: true,
        interference_level: Some(level),
        indices: Dimensions {
            cache: None,
            memory: Some(0.0),
            io: Some((io / 20.0).min(1.0)),
        },
        metrics: Metrics {
            psi_io_some_avg10: Some(io),
            bio_latency_p99_ms: Some(1.25),
            ..Metrics::default()
        },
        ..NodeEntry::default()
    }
}

#[test]
fn nodes_show_level_dimensions_and_why() {
    let (calm, hot) = (entry(0.034, 3.0), entry(0.61, 32.0));
    let row = |name, simulated, entry, room| NodeRow {
        name,
        simulated,
        entry,
        room,
    };
    let rows = [
        row("box", false, Some(&calm), Some((1, 1500.0, 2000.0))),
        row("sim-hot", true, Some(&hot), Some((0, 8000.0, 8000.0))),
        row("blind", true, None, None),
    ];
    let limits = Some(Limits {
        memory_full: 0.0,
        io_some: 20.0,
    });
    let text = nodes(&rows, limits, 140);
    let words = |line: &String| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        text.iter().map(words).collect::<Vec<_>>(),
        [
            "STATE NODE KIND LEVEL CACHE MEMORY IO PSI IO P99 MS PODS CPU FREE WHY",
            "calm box real 0.03 - 0.00 0.15 3.0 1.2 1 1.5/2",
            "hot sim-hot simulated 0.61 - 0.00 1.00 32.0 1.2 0 8.0/8 psi_io_some 32.0 > 20",
            "none blind simulated - - - - - - - - no report",
        ]
    );
    let columns: Vec<_> = text
        .iter()
        .map(|line| line.find("box").or(line.find("NODE")).or(line.find("sim-hot")))
        .collect();
    assert_eq!(
        (columns[0], columns[1]),
        (columns[1], columns[2]),
        "columns stand below one another"
    );
    assert!(
        nodes(&rows, limits, 100)
            .iter()
            .all(|line| line.chars().count() <= 100)
    );
}

#[test]
fn gangs_show_where_or_why_not() {
    let refused = Refused {
        source: "mco-plugin".into(),
        code: "psi_io_some".into(),
        text: "too hot".into(),
        value: Some(31.0),
        threshold: Some(20.0),
        age_seconds: Some(0.0),
    };
    let placed = Job {
        name: "demo/second".into(),
        act: 2,
        min_member: 2,
        phase: "Running",
        state: State::Placed,
        pods: ["b", "a"]
            .map(|node| Pod {
                name: format!("on-{node}"),
                node: Some(node.into()),
            })
            .into(),
        message: String::new(),
        candidates: vec![Candidate {
            node: "box".into(),
            score: None,
            refused: Some(refused),
        }],
    };
    let lower = Job {
        candidates: vec![Candidate {
            node: "box".into(),
            score: Some(140.4),
            refused: None,
        }],
        ..placed.clone()
    };
    let waiting = Job {
        state: State::Waiting,
        pods: vec![Pod {
            name: "p".into(),
            node: None,
        }],
        message: "0/3 nodes are unavailable: 3 Insufficient cpu.".into(),
        candidates: Vec::new(),
        ..placed.clone()
    };
    assert_eq!(
        job(&waiting, "box"),
        "demo/second waits 0/1: 0/3 nodes are unavailable: 3 Insufficient cpu."
    );
    let text = jobs([&placed, &lower, &waiting].into_iter(), "box", 120).join("\n");
    for part in [
        "a, b; kept off box (psi_io_some 31.0 > 20.0, 0.0 s old)",
        "a, b; box scored 140",
        "0/1     0/3 nodes are unavailable: 3 Insufficient cpu.",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn colour_is_on_the_first_word_alone() {
    assert_eq!(paint(" hot    sim-hot"), " \x1b[31mhot\x1b[0m    sim-hot");
    assert_eq!(paint(" STATE  NODE"), " STATE  NODE");
    assert_eq!(paint(""), "");
}
