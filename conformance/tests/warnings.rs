//! What is odd about objects is told by the next cycle, whichever shell runs it.

use mco_framework::conf::SchedulerConf;
use mco_framework::tie::TieBreak;
use mco_model::event::{Amounts, Event, NodeRecord};
use mco_model::spec::Text;
use mco_model::time::Time;
use mco_registry::{CycleParameters, Registry, World, run_cycle};

fn warnings(world: &mut World) -> Vec<String> {
    let parameters = CycleParameters {
        uid: "s".into(),
        now: Time::from_seconds(0),
        tie_break: TieBreak::LowestName,
        threads: 1,
    };
    run_cycle(
        world.cluster_mut(),
        &SchedulerConf::built_in(),
        &Registry::new(),
        parameters,
    )
    .warnings
}

#[test]
fn a_resource_name_that_finds_no_place_is_told_once() {
    let mut world = World::new("default");
    let names = &mut world.cluster_mut().scalars;
    while names.intern(&format!("example.com/r{}", names.len())).is_ok() {}
    let scalars = vec![(Text::from("example.com/late"), 1000.0)];
    let allocatable = Amounts {
        scalars,
        given: true,
        ..Amounts::default()
    };
    let node = NodeRecord {
        name: "n1".into(),
        ready: true,
        allocatable,
        ..NodeRecord::default()
    };
    world.apply(Event::NodeSet(Box::new(node)));
    let told = warnings(&mut world);
    assert!(
        told.iter().any(|warning| warning.contains("example.com/late")),
        "{} warnings",
        told.len()
    );
    assert_eq!(warnings(&mut world), [] as [&str; 0]);
}
