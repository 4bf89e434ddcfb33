//! Follows which nodes are in the cluster, by their metadata alone.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::Node;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher;
use kube::{Api, Client};
use tokio_util::sync::CancellationToken;

use super::follow::Follow;
use crate::analyzer::Analyzer;

/// Tells the analyzer which nodes exist, until cancelled. While the nodes cannot be watched, those known last count;
/// before they were listed once, every node that reports does.
pub async fn watch_nodes(client: Client, analyzer: &Analyzer, stop: CancellationToken) {
    let api = Api::<PartialObjectMeta<Node>>::all(client);
    let mut follow = Follow::new("the nodes", "nodes", api, watcher::Config::default());
    let mut members = Members::default();
    while let Some(Some(event)) = stop.run_until_cancelled(follow.next()).await {
        if let Ok(event) = event
            && members.take(named(event))
        {
            analyzer.nodes().set_members(Some(members.current.clone()));
        }
    }
}

fn named<K: kube::Resource>(event: watcher::Event<K>) -> watcher::Event<String> {
    let name = |object: K| object.meta().name.clone().unwrap_or_default();
    match event {
        watcher::Event::Apply(object) => watcher::Event::Apply(name(object)),
        watcher::Event::Delete(object) => watcher::Event::Delete(name(object)),
        watcher::Event::InitApply(object) => watcher::Event::InitApply(name(object)),
        watcher::Event::Init => watcher::Event::Init,
        watcher::Event::InitDone => watcher::Event::InitDone,
    }
}

#[derive(Default)]
struct Members {
    current: HashSet<String>,
    /// What a list that is still under way has brought so far.
    listed: HashSet<String>,
}

impl Members {
    /// True when the current members changed.
    fn take(&mut self, event: watcher::Event<String>) -> bool {
        match event {
            watcher::Event::Apply(name) => self.current.insert(name),
            watcher::Event::Delete(name) => self.current.remove(&name),
            watcher::Event::Init => {
                self.listed.clear();
                false
            }
            watcher::Event::InitApply(name) => {
                self.listed.insert(name);
                false
            }
            watcher::Event::InitDone => {
                self.current = std::mem::take(&mut self.listed);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_replaces_the_members_only_when_it_is_complete() {
        use watcher::Event::{Apply, Delete, Init, InitApply, InitDone};
        let mut members = Members::default();
        let rows = [
            (Init, false, vec![]),
            (InitApply("a".to_owned()), false, vec![]),
            (InitApply("b".to_owned()), false, vec![]),
            (InitDone, true, vec!["a", "b"]),
            (Apply("c".to_owned()), true, vec!["a", "b", "c"]),
            (Apply("c".to_owned()), false, vec!["a", "b", "c"]),
            (Delete("a".to_owned()), true, vec!["b", "c"]),
            (Init, false, vec!["b", "c"]),
            (InitApply("c".to_owned()), false, vec!["b", "c"]),
            (InitDone, true, vec!["c"]),
        ];
        for (event, changed, expected) in rows {
            assert_eq!(members.take(event), changed);
            let mut names: Vec<_> = members.current.iter().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, expected);
        }
    }
}
