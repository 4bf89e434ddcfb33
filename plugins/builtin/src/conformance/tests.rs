use super::*;
use crate::fixture::Fixture;

#[test]
fn what_kubernetes_needs_stays() {
    let mut fixture = Fixture::new();
    fixture.node("n", "cpu=8,memory=100,pods=110");
    let rows = [
        ("plain", "t", None, true),
        ("other-class", "t", Some("system-cluster-critical-not"), true),
        ("cluster-critical", "t", Some("system-cluster-critical"), false),
        ("node-critical", "t", Some("system-node-critical"), false),
        ("system", "kube-system", None, false),
    ];
    let tasks: Vec<TaskId> = rows
        .iter()
        .map(|(name, namespace, class, _)| {
            fixture.pod(name, "j", "n", "cpu=1", |pod| {
                pod.namespace = (*namespace).into();
                pod.spec.priority_class = class.map(Into::into);
            })
        })
        .collect();
    let expected = tasks
        .iter()
        .zip(rows)
        .filter(|(_, row)| row.3)
        .map(|(task, _)| *task)
        .collect();
    let victims = Conformance.victims(fixture.view(), tasks[0], &tasks);
    assert_eq!(victims, Eviction::Victims(expected));
}
