use super::*;
use crate::fixture::{Fixture, conf};
use mco_framework::conf::{PluginOption, SchedulerConf, Value};
use mco_model::event::{PodPhase, PodRecord};
use mco_model::extra::{Count, JobBudget};

/// Zone `day` is there at noon, zone `night` is not.
fn settings() -> SchedulerConf {
    let mut option = PluginOption::named(NAME);
    for (zone, window) in [("day", "9:00-17:00"), ("night", "22:00-6:00")] {
        option
            .arguments
            .set(format!("tdm.revocable-zone.{zone}"), Value::Str(window.into()));
    }
    conf(option)
}

/// Nodes `plain`, `day`, `night` and `lost`, whose zone nobody described, at noon.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.at(12 * 3600);
    for (name, zone) in [
        ("plain", ""),
        ("day", "day"),
        ("night", "night"),
        ("lost", "lost"),
    ] {
        fixture.node_with(name, "cpu=99", |node| node.revocable_zone = zone.into());
    }
    fixture.queue("q", |_| ());
    fixture.job("j", "q", |_| ());
    fixture
}

#[test]
fn nodes_of_zones_are_for_pods_that_may_use_them_while_the_zone_is_there() {
    let mut fixture = fixture();
    let plugin = fixture.open(&TdmFactory::default(), &settings());
    let bound = fixture.pod("bound", "j", "", "cpu=1", |_| ());
    let free = fixture.pod("free", "j", "", "cpu=1", |pod| pod.spec.revocable = true);
    assert_eq!(fixture.fits(&*plugin, bound), [true, false, false, false]);
    assert_eq!(fixture.fits(&*plugin, free), [true, true, false, false]);
    let scores = |task| fixture.scores(&*plugin, task);
    assert_eq!(scores(bound)[..2], [0.0, 0.0]);
    assert_eq!(scores(free)[..2], [0.0, 100.0]);
    assert!(
        scores(free)[2].is_nan() && scores(bound)[3].is_nan(),
        "scoring them fails"
    );
    let refusals = fixture.refusals(&*plugin, bound);
    let is_final = |refusal: &Refusal| refusal.severity == mco_framework::Severity::Unresolvable;
    assert!(
        refusals.iter().flatten().all(|refusal| is_final(refusal)),
        "evictions cannot help"
    );
    let texts: Vec<String> = fixture
        .refusals(&*plugin, bound)
        .iter()
        .flatten()
        .map(|refusal| refusal.reason.text.to_string())
        .collect();
    assert_eq!(texts[0], "pod may not use nodes of revocable zone day");
    assert_eq!(texts[1], "revocable zone night is not there now");
}

#[test]
fn tasks_that_may_be_evicted_go_from_plain_nodes_within_budgets() {
    let mut fixture = fixture();
    fixture.job("two", "q", |group| {
        group.budget = Some(JobBudget::MaxUnavailable(Count::Number(2)))
    });
    let mut pod = |name: &str, group: &str, node: &str, change: fn(&mut PodRecord)| {
        fixture.pod(name, group, node, "cpu=1", change)
    };
    let candidates = [
        pod("z", "two", "plain", |_| ()),
        pod("kept", "two", "plain", |pod| pod.preemptable = false),
        pod("y", "two", "plain", |_| ()),
        pod("x", "two", "plain", |_| ()),
        pod("bound", "j", "plain", |pod| pod.phase = PodPhase::Pending),
        pod("zoned", "j", "day", |_| ()),
        pod("a", "j", "plain", |_| ()),
        pod("b", "j", "plain", |_| ()),
    ];
    let mut evictor = |name: &str, change: fn(&mut PodRecord)| fixture.pod(name, "j", "", "cpu=1", change);
    let taker = evictor("taker", |pod| pod.preemptable = false);
    let evictable = evictor("evictable", |_| ());
    let revocable = evictor("revocable", |pod| {
        pod.preemptable = false;
        pod.spec.revocable = true;
    });
    let plugin = fixture.open(&TdmFactory::default(), &settings());
    let victims = |evictor| {
        plugin
            .preemptable()
            .unwrap()
            .victims(fixture.view(), evictor, &candidates)
    };
    // One of j, which has no budget, and the first two of two.
    assert_eq!(
        victims(taker),
        Eviction::Victims(vec![candidates[6], candidates[0], candidates[2]])
    );
    assert_eq!(victims(evictable), Eviction::Victims(vec![]));
    assert_eq!(victims(revocable), Eviction::Victims(vec![]));
}

#[test]
fn nodes_are_cleared_once_their_zone_is_over_and_not_again_before_the_period_is() {
    let mut fixture = fixture();
    fixture.job("two", "q", |group| {
        group.budget = Some(JobBudget::MinAvailable(Count::Number(1)))
    });
    let mut pod = |name: &str, group: &str, node: &str, change: fn(&mut PodRecord)| {
        fixture.pod(name, group, node, "cpu=1", change)
    };
    let (c, b, a) = (
        pod("c", "two", "night", |_| ()),
        pod("b", "two", "night", |_| ()),
        pod("a", "two", "night", |_| ()),
    );
    pod("kept", "j", "night", |pod| pod.preemptable = false);
    pod("there", "j", "day", |_| ());
    pod("lost", "j", "lost", |_| ());
    pod("alone", "", "night", |_| ());
    let factory = TdmFactory::default();
    let mut ask = |seconds: i64| {
        fixture.at(12 * 3600 + seconds);
        let plugin = fixture.open(&factory, &settings());
        plugin.victim_tasks().unwrap().victims(fixture.view(), &[])
    };
    assert_eq!(ask(0), [a, b], "by UID, one stays");
    assert_eq!(ask(59), []);
    assert_eq!(ask(60), [a, b]);
    assert_eq!(ask(61), []);
    let _ = c;
}

#[test]
fn jobs_that_may_not_be_evicted_come_first_and_starve_while_a_task_waits() {
    let mut fixture = fixture();
    let kept = fixture.job("kept", "q", |group| group.min_member = 1);
    let loose = fixture.job("loose", "q", |group| {
        group.min_member = 2;
        group.preemptable = true;
    });
    for job in ["kept", "loose"] {
        fixture.pod(&format!("{job}-runs"), job, "plain", "cpu=1", |_| ());
        fixture.pod(&format!("{job}-waits"), job, "", "cpu=1", |_| ());
    }
    let plugin = fixture.open(&TdmFactory::default(), &settings());
    let view = fixture.view();
    let order = |left, right| plugin.job_order().unwrap().compare(view, left, right);
    assert_eq!(
        (order(kept, loose), order(loose, kept), order(kept, kept)),
        (Ordering::Less, Ordering::Greater, Ordering::Equal)
    );
    let starving = |job| plugin.job_starving().unwrap().starving(view, job);
    assert_eq!((starving(kept), starving(loose)), (true, false));
    let pipelined = |job| plugin.job_pipelined().unwrap().pipelined(view, job);
    assert_eq!(pipelined(kept), Vote::Permit);
    assert!(matches!(pipelined(loose), Vote::Reject(_)), "one of two");
}
