use super::*;
use mco_model::resource::ScalarId;
use proptest::prelude::*;

const GPU: ScalarId = ScalarId::PODS;
const UNLIMITED: f64 = f64::MAX;

fn cpu(milli: f64) -> Resource {
    Resource::new(milli, 0.0)
}

fn claim(weight: i32, request: f64) -> Claim {
    Claim {
        weight,
        request: cpu(request),
        guarantee: Resource::default(),
        limit: Resource::new(UNLIMITED, UNLIMITED),
    }
}

#[test]
fn the_cluster_is_divided() {
    let guaranteed = |weight, request, guarantee| Claim {
        guarantee: cpu(guarantee),
        ..claim(weight, request)
    };
    let limited = |weight, request, limit| Claim {
        limit: Resource::new(limit, UNLIMITED),
        ..claim(weight, request)
    };
    let rows: [(&str, Vec<Claim>, &[f64]); 9] = [
        (
            "by weight",
            vec![claim(1, 9999.0), claim(3, 9999.0)],
            &[250.0, 750.0],
        ),
        (
            "what one does not ask for goes to the others",
            vec![claim(1, 100.0), claim(1, 9999.0)],
            &[100.0, 900.0],
        ),
        (
            "nobody gets more than asked for",
            vec![claim(1, 100.0), claim(1, 200.0)],
            &[100.0, 200.0],
        ),
        (
            "an idle queue changes nothing",
            vec![claim(1, 9999.0), claim(8, 0.0)],
            &[1000.0, 0.0],
        ),
        (
            "a limit holds",
            vec![limited(1, 9999.0, 100.0), claim(1, 9999.0)],
            &[100.0, 900.0],
        ),
        (
            "a guarantee holds without a request",
            vec![guaranteed(1, 0.0, 300.0), claim(1, 600.0)],
            &[300.0, 600.0],
        ),
        (
            "guarantees may go beyond the cluster",
            vec![guaranteed(1, 0.0, 3000.0), claim(1, 600.0)],
            &[3000.0, 500.0],
        ),
        (
            "without weight nothing",
            vec![claim(0, 9999.0), claim(1, 9999.0)],
            &[0.0, 1000.0],
        ),
        (
            "without any weight nothing at all",
            vec![guaranteed(0, 100.0, 50.0)],
            &[0.0],
        ),
    ];
    for (name, claims, expected) in rows {
        let deserved = fill(&cpu(1000.0), &claims);
        for (index, expected) in expected.iter().enumerate() {
            let found = deserved[index].milli_cpu;
            assert!(
                (found - expected).abs() < 0.2,
                "{name}: queue {index} deserves {found}, not {expected}"
            );
        }
    }
}

#[test]
fn a_scalar_that_a_limit_does_not_name_is_not_limited() {
    let total = cpu(1000.0).with_scalar(GPU, 8.0);
    let claims = [Claim {
        request: cpu(500.0).with_scalar(GPU, 6.0),
        ..claim(1, 0.0)
    }];
    assert_eq!(fill(&total, &claims)[0].scalar(GPU), Some(6.0));
}

fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..2000.0, (0_u32..2000).prop_map(f64::from)]
}

fn resource() -> impl Strategy<Value = Resource> {
    (amount(), amount(), proptest::option::of(amount())).prop_map(|(milli_cpu, memory, gpu)| {
        let resource = Resource::new(milli_cpu, memory);
        match gpu {
            Some(gpu) => resource.with_scalar(GPU, gpu),
            None => resource,
        }
    })
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let claim = (
        0..10,
        resource(),
        resource(),
        resource(),
        proptest::bool::weighted(0.3),
    )
        .prop_map(|(weight, request, guarantee, limit, guaranteed)| Claim {
            weight,
            request,
            guarantee: if guaranteed {
                guarantee
            } else {
                Resource::default()
            },
            limit,
        });
    proptest::collection::vec(claim, 1..8)
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::MAX),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::NAN),
        Just(-1.0),
        Just(9e21),
        amount(),
    ]
}

fn odd_resource() -> impl Strategy<Value = Resource> {
    (odd(), odd(), odd())
        .prop_map(|(milli_cpu, memory, gpu)| Resource::new(milli_cpu, memory).with_scalar(GPU, gpu))
}

fn by_kind(resource: &Resource) -> [f64; 3] {
    [
        resource.milli_cpu,
        resource.memory,
        resource.scalar(GPU).unwrap_or(0.0),
    ]
}

proptest! {
    #[test]
    fn no_more_is_given_away_than_there_is_and_was_guaranteed(total in resource(), claims in claims()) {
        let mut bound = by_kind(&total);
        for claim in &claims {
            let guarantee = by_kind(&claim.guarantee);
            bound.iter_mut().zip(guarantee).for_each(|(bound, amount)| *bound += amount);
        }
        let mut given = [0.0; 3];
        for deserved in fill(&total, &claims) {
            given.iter_mut().zip(by_kind(&deserved)).for_each(|(given, amount)| *given += amount);
        }
        for (given, bound) in given.iter().zip(bound) {
            prop_assert!(*given <= bound + 1.0, "{given} of {bound}");
        }
    }

    #[test]
    fn no_queue_gets_more_than_it_asks_for_or_may_have(total in resource(), claims in claims()) {
        for (claim, deserved) in claims.iter().zip(fill(&total, &claims)) {
            let most = claim.request.max(&claim.guarantee);
            prop_assert!(deserved.less_equal(&most, Missing::Zero), "{deserved:?} of {claim:?}");
            let mut most = claim.limit.max(&claim.guarantee);
            if claim.limit.scalar(GPU).is_none() {
                most.set_scalar(GPU, UNLIMITED);
            }
            prop_assert!(deserved.less_equal(&most, Missing::Zero), "{deserved:?} of {claim:?}");
            if claim.weight > 0 {
                prop_assert!(claim.guarantee.less_equal(&deserved, Missing::Zero), "{deserved:?} of {claim:?}");
            }
        }
    }

    #[test]
    fn more_weight_never_gives_less(
        total in 1.0..5000.0,
        wanted in proptest::collection::vec((1..10, 0.0..3000.0), 1..6),
        more in 1..5,
    ) {
        let mut claims: Vec<Claim> = wanted.into_iter().map(|(weight, request)| claim(weight, request)).collect();
        let before = fill(&cpu(total), &claims)[0].milli_cpu;
        claims[0].weight += more;
        let after = fill(&cpu(total), &claims)[0].milli_cpu;
        prop_assert!(after >= before - 0.2, "{after} after {before}");
    }

    #[test]
    fn the_order_of_queues_does_not_matter(total in resource(), claims in claims()) {
        let forwards = fill(&total, &claims);
        let reversed: Vec<Claim> = claims.iter().rev().cloned().collect();
        let backwards = fill(&total, &reversed);
        for (left, right) in forwards.iter().zip(backwards.iter().rev()) {
            prop_assert!(by_kind(left).iter().zip(by_kind(right)).all(|(l, r)| (l - r).abs() < 0.2));
        }
    }

    #[test]
    fn odd_figures_come_to_an_end(
        total in odd_resource(),
        claims in proptest::collection::vec(
            (any::<i32>(), odd_resource(), odd_resource(), odd_resource()).prop_map(
                |(weight, request, guarantee, limit)| Claim { weight, request, guarantee, limit },
            ),
            1..4,
        ),
    ) {
        prop_assert_eq!(fill(&total, &claims).len(), claims.len());
    }
}
