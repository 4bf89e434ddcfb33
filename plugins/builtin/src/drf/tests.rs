use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{PluginOption, SchedulerConf, Switch};
use mco_framework::tie::TieBreak;
use mco_framework::{Plugins, Session, SessionParameters};

fn hierarchical() -> PluginOption {
    let mut option = PluginOption::named(NAME);
    option.enabled.set(Switch::Hierarchy, Some(true));
    option
}

fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=10,memory=100,pods=110");
    for name in ["a", "b"] {
        fixture.queue(name, |queue| {
            queue.hierarchy = format!("root/{name}").into();
            queue.hierarchy_weights = "1/1".into();
        });
    }
    fixture
}

#[test]
fn the_job_with_the_smaller_share_comes_first() {
    let mut fixture = fixture();
    let small = fixture.job("small", "a", |_| ());
    let large = fixture.job("large", "a", |_| ());
    fixture.pod("small-0", "small", "n", "cpu=2,memory=1", |_| ());
    fixture.pod("large-0", "large", "n", "cpu=1,memory=30", |_| ());
    let plugin = fixture.open_plain(&DrfFactory);
    let order = plugin.job_order().unwrap();
    assert_eq!(order.compare(fixture.view(), small, large), Ordering::Less);
    assert_eq!(order.compare(fixture.view(), large, small), Ordering::Greater);
    assert_eq!(order.compare(fixture.view(), large, large), Ordering::Equal);
}

#[test]
fn tasks_go_while_their_job_keeps_the_larger_share() {
    let mut fixture = fixture();
    for name in ["poor", "rich"] {
        fixture.job(name, "a", |_| ());
    }
    let evictor = fixture.pod("poor-0", "poor", "", "cpu=1", |_| ());
    let rich: Vec<TaskId> = (0..4)
        .map(|index| fixture.pod(&format!("rich-{index}"), "rich", "n", "cpu=1", |_| ()))
        .collect();
    let plugin = fixture.open_plain(&DrfFactory);
    let victims = plugin
        .preemptable()
        .unwrap()
        .victims(fixture.view(), evictor, &rich);
    // After three have gone, the share is equal to the evictor's; a fourth would leave less.
    assert_eq!(victims, Eviction::Victims(rich[..3].to_vec()));
}

#[test]
fn the_first_entry_of_the_name_turns_hierarchy_on() {
    let tiers = |options: Vec<PluginOption>| SchedulerConf {
        tiers: options
            .into_iter()
            .flat_map(|option| conf(option).tiers)
            .collect(),
        ..SchedulerConf::default()
    };
    let plain = || PluginOption::named(NAME);
    let rows = [
        ("off", tiers(vec![plain()]), false),
        ("on", tiers(vec![hierarchical()]), true),
        (
            "another plugin before it",
            tiers(vec![PluginOption::named("gang"), hierarchical()]),
            true,
        ),
        ("only the second", tiers(vec![plain(), hierarchical()]), false),
        ("only the first", tiers(vec![hierarchical(), plain()]), true),
    ];
    for (name, conf, expected) in rows {
        let plugin = fixture().open(&DrfFactory, &conf);
        assert_eq!(plugin.queue_order().is_some(), expected, "{name}");
        assert_eq!(plugin.reclaimable().is_some(), expected, "{name}");
    }
}

#[test]
fn a_queue_takes_back_from_one_that_stays_ahead() {
    let mut fixture = fixture();
    fixture.job("a", "a", |_| ());
    fixture.job("b", "b", |_| ());
    let evictor = fixture.pod("a-0", "a", "", "cpu=2", |_| ());
    fixture.pod("a-1", "a", "", "cpu=5", |_| ());
    let small = fixture.pod("b-0", "b", "n", "cpu=2", |_| ());
    let large = fixture.pod("b-1", "b", "n", "cpu=7", |_| ());
    fixture.pod("b-2", "b", "", "cpu=7", |_| ());
    let conf = conf(hierarchical());
    let plugin = fixture.open(&DrfFactory, &conf);
    let victims = plugin
        .reclaimable()
        .unwrap()
        .victims(fixture.view(), evictor, &[small, large]);
    // Without the large one the other queue has as much as the evictor's: no reason to take it.
    assert_eq!(victims, Eviction::Victims(vec![small]));
}

struct Only(DrfFactory);

impl Plugins for Only {
    fn find(&self, name: &str) -> Option<&dyn PluginFactory> {
        (name == NAME).then_some(&self.0)
    }
}

#[test]
fn shares_follow_what_statements_do_and_undo() {
    for option in [PluginOption::named(NAME), hierarchical()] {
        let mut fixture = fixture();
        let left = fixture.job("left", "a", |_| ());
        let right = fixture.job("right", "b", |_| ());
        fixture.pod("left-0", "left", "n", "cpu=3", |_| ());
        let running = fixture.pod("right-0", "right", "n", "cpu=4", |_| ());
        let waiting = fixture.pod("left-1", "left", "", "cpu=2", |_| ());
        let node = fixture.cluster.nodes.find("n").unwrap();
        let parameters = SessionParameters {
            uid: "s".into(),
            now: Default::default(),
            tie_break: TieBreak::LowestName,
            threads: 1,
        };
        let conf = conf(option);
        let known = Only(DrfFactory);
        let mut session = Session::open(&mut fixture.cluster, &conf, &known, parameters);
        let first = |session: &Session<'_>| {
            if session.compare_jobs(left, right).is_lt() {
                "left"
            } else {
                "right"
            }
        };
        assert_eq!(first(&session), "left");
        let mut statement = session.begin();
        let start = statement.savepoint();
        statement.allocate(waiting, node);
        assert_eq!(first(statement.session()), "right", "3 + 2 against 4");
        statement.rollback_to(start);
        assert_eq!(first(statement.session()), "left");
        statement.pipeline(waiting, node);
        assert_eq!(first(statement.session()), "right", "waiting for room counts");
        statement.rollback_to(start);
        statement.evict(running, "preempt");
        assert_eq!(first(statement.session()), "right", "3 against 0");
        statement.rollback_to(start);
        assert_eq!(first(statement.session()), "left");
        statement.discard();
        assert_eq!(first(&session), "left");
    }
}
