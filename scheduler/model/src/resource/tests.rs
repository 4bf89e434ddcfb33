//! What resources do beyond the recorded cases: ids, keys, allocation, errors.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::*;

fn ids(names: &mut ScalarNames) -> (ScalarId, ScalarId) {
    (
        names.intern("nvidia.com/gpu").unwrap(),
        names.intern("example.com/foo").unwrap(),
    )
}

#[test]
fn pods_is_known_from_the_start_and_ids_stay() {
    let mut names = ScalarNames::new();
    assert_eq!(names.get("pods"), Some(ScalarId::PODS));
    let (gpu, foo) = ids(&mut names);
    assert_eq!(ids(&mut names), (gpu, foo));
    assert_eq!(
        names.iter().map(|(_, name)| name).collect::<Vec<_>>(),
        ["pods", "nvidia.com/gpu", "example.com/foo"]
    );
    assert_eq!((names.name(foo), names.get("none")), ("example.com/foo", None));
}

#[test]
fn one_name_too_many_is_an_error_naming_it_and_hurts_no_other() {
    let mut names = ScalarNames::new();
    for number in 1..=u16::MAX {
        names.intern(&format!("example.com/r{number}")).unwrap();
    }
    let error = names.intern("example.com/last-straw").unwrap_err();
    assert_eq!(
        error.to_string(),
        "resource `example.com/last-straw` cannot be counted: there are already 65536 different resource names"
    );
    assert!(names.intern("example.com/r65535").is_ok());
}

#[test]
fn up_to_two_scalars_do_not_allocate() {
    let mut names = ScalarNames::new();
    let (gpu, _) = ids(&mut names);
    let resource = Resource::new(1.0, 1.0)
        .with_scalar(gpu, 1.0)
        .with_scalar(ScalarId::PODS, 1.0);
    assert!(!resource.scalars.as_ref().unwrap().spilled());
    assert!(size_of::<Resource>() <= 64, "{}", size_of::<Resource>());
    assert_eq!(
        resource.scalars().map(|(id, _)| id).collect::<Vec<_>>(),
        [ScalarId::PODS, gpu]
    );
}

#[test]
fn taking_too_much_is_done_and_named() {
    let mut names = ScalarNames::new();
    let (gpu, foo) = ids(&mut names);
    let mut left = Resource::new(1000.0, 10.0).with_scalar(gpu, 1000.0);
    let error = left
        .sub(
            &Resource::new(2000.0, 5.0)
                .with_scalar(foo, 1.0)
                .with_scalar(gpu, 1000.0),
        )
        .unwrap_err();
    assert_eq!(
        error.names(&names).collect::<Vec<_>>(),
        ["cpu", "example.com/foo"]
    );
    assert_eq!(
        left,
        Resource::new(-1000.0, 5.0)
            .with_scalar(gpu, 0.0)
            .with_scalar(foo, -1.0)
    );
}

#[test]
fn scalars_taken_from_a_resource_without_map_are_dropped() {
    let mut names = ScalarNames::new();
    let (gpu, _) = ids(&mut names);
    let request = Resource::default().with_scalar(gpu, 1000.0);
    let mut without = Resource::default();
    without.sub_unchecked(&request);
    assert_eq!(without, Resource::default());
    let mut empty = Resource::default().with_scalar_map();
    empty.sub_unchecked(&request);
    assert_eq!(empty.scalar(gpu), Some(-1000.0));
}

#[test]
fn least_and_greatest_follow_the_maps() {
    let mut names = ScalarNames::new();
    let (gpu, foo) = ids(&mut names);
    let left = Resource::new(1.0, 4.0)
        .with_scalar(gpu, 3.0)
        .with_scalar(foo, -1.0);
    let right = Resource::new(2.0, 3.0).with_scalar(gpu, 2.0);
    assert_eq!(
        left.min(&right),
        Resource::new(1.0, 3.0)
            .with_scalar(gpu, 2.0)
            .with_scalar(foo, -1.0)
    );
    assert_eq!(right.min(&left), Resource::new(1.0, 3.0).with_scalar(gpu, 2.0));
    assert_eq!(left.max(&right), Resource::new(2.0, 4.0).with_scalar(gpu, 3.0));
    assert_eq!(left.min(&Resource::new(2.0, 3.0)), Resource::new(1.0, 3.0));
    assert!(
        Resource::default()
            .max(&Resource::default().with_scalar_map())
            .has_scalar_map()
    );
}

#[test]
fn share_of_nothing_is_all_or_nothing() {
    for (amount, whole, expected) in [
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0),
        (-1.0, 0.0, 1.0),
        (1.0, 4.0, 0.25),
    ] {
        assert_eq!(share(amount, whole), expected, "{amount} of {whole}");
    }
}

#[test]
fn keys_tell_apart_what_operations_tell_apart() {
    let hash = |key: &ExactResource| {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        hasher.finish()
    };
    let mut names = ScalarNames::new();
    let (gpu, _) = ids(&mut names);
    let plain = ExactResource(Resource::new(1000.0, 1.0));
    assert_eq!(plain, plain.clone());
    assert_eq!(hash(&plain), hash(&plain.clone()));
    assert_ne!(plain, ExactResource(Resource::new(1000.0, 1.0).with_scalar_map()));
    assert_ne!(
        plain,
        ExactResource(Resource::new(1000.0, 1.0).with_scalar(gpu, 0.0))
    );
    assert_ne!(plain, ExactResource(Resource::new(1000.0 + 1e-12, 1.0)));
}

#[test]
fn the_text_names_scalars() {
    let mut names = ScalarNames::new();
    let (gpu, _) = ids(&mut names);
    let resource = Resource::new(1500.0, 2.0).with_scalar(gpu, 1000.0);
    assert_eq!(
        resource.display(&names).to_string(),
        "cpu 1500.00, memory 2.00, nvidia.com/gpu 1000.00"
    );
}

/// A registry and two resources over it, some without any map.
fn pairs() -> impl Strategy<Value = (Resource, Resource)> {
    let mut names = ScalarNames::new();
    let known: Vec<_> = (0..4)
        .map(|n| names.intern(&format!("example.com/{n}")).unwrap())
        .collect();
    let amount = || (0_i32..5).prop_map(f64::from);
    let scalars = prop::option::of(prop::collection::vec(prop::option::of(amount()), 4));
    let resource = (amount(), amount(), scalars).prop_map(move |(cpu, memory, scalars)| {
        let mut resource = Resource::new(cpu, memory);
        for (id, amount) in known.iter().zip(scalars.iter().flatten()) {
            resource = resource.with_scalar_map();
            if let Some(amount) = amount {
                resource.set_scalar(*id, *amount);
            }
        }
        resource
    });
    (resource.clone(), resource)
}

proptest! {
    #[test]
    fn scalars_stay_sorted_and_adding_is_undone_by_subtracting((left, right) in pairs()) {
        let mut sum = left.clone();
        sum.add(&right);
        prop_assert!(sum.scalars().map(|(id, _)| id).is_sorted());
        prop_assert!(right.less_equal(&sum, Missing::Zero));
        prop_assert_eq!(sum.sub(&right), Ok(()));
        prop_assert!(left.equal(&sum) && sum.equal(&left));
    }

    #[test]
    fn nothing_fails_exactly_when_all_fits((left, right) in pairs()) {
        prop_assert_eq!(left.less_equal(&right, Missing::Zero), left.less_equal_failing(&right, Missing::Zero).is_empty());
        prop_assert_eq!(left.less_equal(&right, Missing::Zero), {
            let exceeded = left.exceeded_part(&right);
            exceeded.dimensions().next().is_none()
        });
    }

    #[test]
    fn bounds_hold((left, right) in pairs()) {
        let mut most = left.clone();
        most.set_max(&right);
        prop_assert!(left.less_equal(&most, Missing::Zero) && right.less_equal(&most, Missing::Zero));
        let mut least = left.clone();
        least.min_dimension(&right, Missing::Zero);
        prop_assert!(least.less_equal(&left, Missing::Zero) && least.less_equal(&right, Missing::Zero));
    }
}
