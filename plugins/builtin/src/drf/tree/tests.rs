use super::*;
use mco_model::Id;
use proptest::prelude::*;

fn whole() -> Whole {
    Whole::of(&Resource::new(1000.0, 1000.0))
}

fn job(number: u32) -> JobId {
    JobId::from_slot(number)
}

fn tree(jobs: &[(&str, &str, Resource, Resource)]) -> Tree {
    let mut tree = Tree::default();
    for (number, (hierarchy, weights, allocated, request)) in jobs.iter().enumerate() {
        tree.add_job(job(number as u32), hierarchy, weights, allocated, request.clone());
    }
    tree.settle(&whole());
    tree
}

fn cpu(milli: f64) -> Resource {
    Resource::new(milli, 0.0)
}

#[test]
fn the_queue_with_the_smaller_share_by_weight_comes_first() {
    let wants = cpu(900.0);
    let rows = [
        (
            "less allocated",
            ("root/a", "1/1", cpu(100.0)),
            ("root/b", "1/1", cpu(200.0)),
            Ordering::Less,
        ),
        (
            "more weight",
            ("root/a", "1/1", cpu(100.0)),
            ("root/b", "1/4", cpu(200.0)),
            Ordering::Greater,
        ),
        (
            "equal by weight",
            ("root/a", "1/1", cpu(100.0)),
            ("root/b", "1/2", cpu(200.0)),
            Ordering::Equal,
        ),
        (
            "weights below 1 and unreadable ones are 1",
            ("root/a", "1/0.1", cpu(100.0)),
            ("root/b", "1/many", cpu(100.0)),
            Ordering::Equal,
        ),
        (
            "missing weights are 1",
            ("root/a", "1", cpu(100.0)),
            ("root/b", "", cpu(50.0)),
            Ordering::Greater,
        ),
        (
            "the level where paths part decides",
            ("root/a/x", "1/1/1", cpu(100.0)),
            ("root/a/y", "1/1/1", cpu(50.0)),
            Ordering::Greater,
        ),
        (
            "only common levels are compared",
            ("root/a", "1/1", cpu(100.0)),
            ("root/a/y", "1/1/1", cpu(50.0)),
            Ordering::Equal,
        ),
        (
            "no paths",
            ("", "", cpu(100.0)),
            ("", "", cpu(50.0)),
            Ordering::Equal,
        ),
    ];
    for (name, left, right, expected) in rows {
        let tree = tree(&[
            (left.0, left.1, left.2, wants.clone()),
            (right.0, right.1, right.2, wants.clone()),
        ]);
        assert_eq!(tree.compare(left.0, right.0), expected, "{name}");
        assert_eq!(
            tree.compare(right.0, left.0),
            expected.reverse(),
            "{name}, turned round"
        );
    }
}

#[test]
fn a_saturated_queue_comes_last() {
    let tree = tree(&[
        ("root/full", "1/1", cpu(100.0), cpu(100.0)),
        ("root/open", "1/1", cpu(300.0), cpu(900.0)),
    ]);
    assert_eq!(tree.compare("root/open", "root/full"), Ordering::Less);
}

#[test]
fn what_is_used_up_saturates_whoever_asks_for_it() {
    let tree = tree(&[
        ("root/cpu", "1/1", cpu(1000.0), cpu(2000.0)),
        (
            "root/memory",
            "1/1",
            Resource::new(0.0, 990.0),
            Resource::new(0.0, 2000.0),
        ),
    ]);
    assert_eq!(tree.compare("root/memory", "root/cpu"), Ordering::Less);
}

#[test]
fn a_queue_without_jobs_is_nobody_s_equal_or_better() {
    let tree = tree(&[("root/a", "1/1", cpu(100.0), cpu(900.0))]);
    assert_eq!(tree.compare("root/a", "root/none"), Ordering::Equal);
}

#[test]
fn a_path_may_be_deep() {
    let path = format!("root{}", "/a".repeat(200_000));
    let tree = tree(&[(&path, "1", cpu(100.0), cpu(900.0))]);
    assert_eq!(tree.compare(&path, &path), Ordering::Equal);
}

fn shares(tree: &Tree) -> Vec<(f64, bool)> {
    tree.nodes
        .iter()
        .map(|node| (node.share, node.saturated))
        .collect()
}

proptest! {
    #[test]
    fn what_is_allocated_and_taken_back_leaves_no_trace(
        jobs in proptest::collection::vec((0_usize..4, 0_u16..300, 0_u16..900), 1..8),
        changes in proptest::collection::vec((0_usize..8, 0_u16..300), 1..8),
    ) {
        let paths = ["root/a", "root/a/b", "root/c/d", ""];
        let mut tree = Tree::default();
        for (number, (path, allocated, request)) in jobs.iter().enumerate() {
            let (allocated, request) = (cpu((*allocated).into()), cpu((*request).into()));
            tree.add_job(job(number as u32), paths[*path], "1/2/3", &allocated, request);
        }
        tree.settle(&whole());
        let before = shares(&tree);
        for (number, amount) in &changes {
            tree.allocate(job(*number as u32), &cpu((*amount).into()));
        }
        tree.settle(&whole());
        for (number, amount) in changes.iter().rev() {
            tree.deallocate(job(*number as u32), &cpu((*amount).into()));
        }
        tree.settle(&whole());
        prop_assert_eq!(before, shares(&tree));
    }
}
