//! Tests of the arithmetic from readings to an assessment: named rows, and the property that worse never lowers a level.

use proptest::prelude::*;

use super::*;

fn readings(values: &[(Metric, f64)]) -> Readings {
    let mut readings = Readings::NONE;
    for &(metric, value) in values {
        readings.set(metric, value).unwrap();
    }
    readings
}

#[test]
fn no_sample_is_stale_and_no_data_is_an_error() {
    let rules = Rules::default();
    assert_eq!(assess(None, &rules).status, Status::Stale);
    let error = assess(Some(&Readings::NONE), &rules);
    assert_eq!(
        (error.status, error.level, error.weights),
        (Status::Error, None, Dimensions::default())
    );
}

#[test]
fn memory_without_psi_is_degraded_but_ok() {
    let rules = Rules::default();
    let rows = [
        ("plenty", 0.6, 0.0, 0.0, false),
        ("at the threshold", 0.3, 10_000.0, 1.0, false),
        ("short", 0.15, 0.0, 0.5, true),
        ("scanning", 0.6, 20_000.0, 1.0, true),
    ];
    for (name, ratio, scan, index, detected) in rows {
        let assessment = assess(
            Some(&readings(&[
                (Metric::MemAvailableRatio, ratio),
                (Metric::PageScanRate, scan),
            ])),
            &rules,
        );
        assert!(assessment.degraded, "{name}");
        assert_eq!(assessment.status, Status::Ok, "{name}");
        assert_eq!(assessment.indices.memory, Some(index), "{name}");
        let kinds: Vec<_> = assessment
            .detections
            .iter()
            .map(|detection| (detection.kind, detection.severity))
            .collect();
        assert_eq!(
            kinds,
            if detected {
                vec![(DetectionKind::MemoryPressure, 1.0)]
            } else {
                vec![]
            },
            "{name}"
        );
    }
}

#[test]
fn severity_is_the_largest_share_of_what_fired() {
    let rules = Rules::default();
    let hot = readings(&[
        (Metric::LlcMissRate, 0.21),
        (Metric::LlcOccupancy, 0.75),
        (Metric::BioLatencyP99Ms, 60.0),
        (Metric::PsiIoSomeAvg10, 20.5),
        (Metric::PsiMemorySomeAvg10, 30.0),
        (Metric::PsiMemoryFullAvg10, 5.0),
    ]);
    let severities: Vec<_> = assess(Some(&hot), &rules)
        .detections
        .iter()
        .map(|found| (found.kind.name(), found.severity))
        .collect();
    assert_eq!(
        severities,
        [
            ("CachePollution", 0.21 * 0.75 / 0.175),
            ("IOQueueCongestion", 1.0),
            ("MemoryPressure", 0.6),
        ]
    );
}

#[test]
fn a_value_exactly_at_its_threshold_does_not_fire() {
    let rules = Rules::default();
    let at = readings(&[
        (Metric::LlcMissRate, 0.20),
        (Metric::LlcOccupancy, 0.70),
        (Metric::BioLatencyP99Ms, 50.0),
        (Metric::PsiIoSomeAvg10, 20.0),
        (Metric::PsiMemorySomeAvg10, 10.0),
        (Metric::PsiMemoryFullAvg10, 0.0),
    ]);
    assert_eq!(assess(Some(&at), &rules).detections, []);
}

#[test]
fn cache_without_occupancy_takes_its_threshold_and_says_so() {
    let assessment = assess(Some(&readings(&[(Metric::LlcMissRate, 0.25)])), &Rules::default());
    assert!(assessment.occupancy_assumed);
    assert!((assessment.indices.cache.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(assessment.detections, [], "pollution needs both figures");
}

/// The upper end from which values are drawn, past every default threshold and saturation.
fn span(metric: Metric) -> f64 {
    match metric {
        Metric::LlcMissRate | Metric::LlcOccupancy | Metric::MemAvailableRatio => 1.0,
        Metric::BioLatencyP95Ms | Metric::BioLatencyP99Ms | Metric::BioLatencyWindowP99Ms => 300.0,
        Metric::PageScanRate | Metric::RefaultRate | Metric::MajorFaultRate => 30_000.0,
        _ => 100.0,
    }
}

fn any_readings() -> impl Strategy<Value = Readings> {
    prop::array::uniform13(prop::option::weighted(0.8, 0.0..=1.0)).prop_map(|shares| {
        let mut readings = Readings::NONE;
        for (metric, share) in Metric::ALL.into_iter().zip(shares) {
            if let Some(share) = share {
                readings.set(metric, share * span(metric)).unwrap();
            }
        }
        readings
    })
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let weights = (0.0..2.0, 0.0..2.0, 0.0..2.0);
    let saturation = (0.01..1.0, 1.0..100.0, 1.0..200.0, 1.0..100.0);
    let thresholds = prop::array::uniform10(0.0..1.0);
    let rest = (1.0..10.0, 1.0..10.0, 0.01..1.0, 1.0..20_000.0);
    (weights, saturation, thresholds, rest).prop_map(|(weights, saturation, thresholds, rest)| {
        let mut rules = Rules::default();
        (rules.weights.cache, rules.weights.memory, rules.weights.io) = weights;
        let into = &mut rules.saturation;
        (
            into.cache_product,
            into.psi_memory,
            into.bio_latency_p99_ms,
            into.psi_io,
        ) = saturation;
        let into = &mut rules.thresholds;
        [into.cache_miss_rate, into.llc_occupancy] = [thresholds[0], thresholds[1]];
        [into.bio_latency_p99_ms, into.io_penalty_p99_ms] = [thresholds[2] * 300.0, thresholds[3] * 300.0];
        into.psi_io = thresholds[4] * 100.0;
        into.psi_memory_some = thresholds[5] * 100.0;
        into.psi_memory_full = thresholds[6] * 100.0;
        into.io_penalty_psi_io = thresholds[7] * 100.0;
        into.mem_io_penalty_memory = thresholds[8] * 100.0;
        into.mem_io_penalty_psi_io = thresholds[9] * 100.0;
        (rules.penalties.io_multiplier, rules.penalties.mem_io_multiplier) = (rest.0, rest.1);
        rules.degraded_memory.mem_available_ratio_threshold = rest.2;
        rules.degraded_memory.page_scan_rate_threshold = rest.3;
        rules
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_input_getting_worse_lowers_the_level_or_ends_a_detection(
        before in any_readings(),
        rules in any_rules(),
        which in prop::sample::select(Metric::ALL.to_vec()),
        how_much in 0.0..=1.0,
    ) {
        let Some(value) = before.get(which) else { return Ok(()) };
        let worse = match which {
            Metric::MemAvailableRatio => value * (1.0 - how_much),
            _ => value + (span(which) - value) * how_much,
        };
        let mut after = before;
        after.set(which, worse).unwrap();
        let (before, after) = (assess(Some(&before), &rules), assess(Some(&after), &rules));
        prop_assert_eq!(before.status, after.status);
        if let (Some(low), Some(high)) = (before.level, after.level) {
            prop_assert!(high >= low - 1e-12, "{which:?}: {low} fell to {high}");
        }
        for found in &before.detections {
            let still = after.detections.iter().find(|later| later.kind == found.kind);
            prop_assert!(still.is_some_and(|later| later.severity >= found.severity - 1e-12), "{found:?} went away");
        }
    }

    #[test]
    fn everything_reported_is_finite_and_in_range(readings in any_readings(), rules in any_rules()) {
        let assessment = assess(Some(&readings), &rules);
        let within = |value: f64| (0.0..=1.0).contains(&value);
        prop_assert!(assessment.level.is_none_or(within));
        prop_assert!(assessment.indices.named().iter().filter_map(|(_, index)| *index).all(within));
        prop_assert!(assessment.weights.named().iter().filter_map(|(_, weight)| *weight).all(f64::is_finite));
        prop_assert!(assessment.detections.iter().all(|found| within(found.severity)));
        prop_assert_eq!(assessment.level.is_some(), assessment.status == Status::Ok);
    }

    #[test]
    fn whatever_a_node_sends_the_level_is_a_number_or_absent(
        values in prop::array::uniform13(any::<f64>()),
        rules in any_rules(),
    ) {
        let mut readings = Readings::NONE;
        for (metric, value) in Metric::ALL.into_iter().zip(values) {
            let admitted = readings.set(metric, value).is_ok();
            prop_assert!(admitted || readings.get(metric).is_none());
        }
        prop_assert!(assess(Some(&readings), &rules).level.is_none_or(|level| (0.0..=1.0).contains(&level)));
    }
}
