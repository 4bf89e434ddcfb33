//! Test objects, built in a line or two. What is not said is left to the API server's defaults.

use serde_json::{Map, Value, json};

/// A Kubernetes object as JSON, with setters.
#[derive(Clone, Debug)]
pub struct Object(pub Value);

/// A Ready node with so much to give; `cpu` and `memory` are quantities such as `4` and `8Gi`.
pub fn node(name: &str, cpu: &str, memory: &str) -> Object {
    let amounts = json!({"cpu": cpu, "memory": memory, "pods": "110"});
    Object(json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        },
    }))
}

/// A pod for the scheduler `volcano` that asks for nothing.
pub fn pod(namespace: &str, name: &str) -> Object {
    Object(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.9", "resources": {}}],
        },
    }))
}

/// A PodGroup in the queue `default`.
pub fn pod_group(namespace: &str, name: &str, min_member: u32) -> Object {
    Object(json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minMember": min_member, "queue": "default"},
    }))
}

/// A reclaimable queue.
pub fn queue(name: &str, weight: u32) -> Object {
    Object(json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": weight, "reclaimable": true},
    }))
}

/// A priority class.
pub fn priority_class(name: &str, value: i32) -> Object {
    Object(json!({
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }))
}

/// A gang: a PodGroup and its pods `<name>-0` and so on, each asking for `cpu` and `memory`.
pub fn gang(namespace: &str, name: &str, pods: u32, cpu: &str, memory: &str) -> Vec<Object> {
    let members = (0..pods).map(|index| {
        pod(namespace, &format!("{name}-{index}"))
            .group(name)
            .requests(cpu, memory)
    });
    std::iter::once(pod_group(namespace, name, pods))
        .chain(members)
        .collect()
}

impl Object {
    /// Sets a field by its path of names, such as `["spec", "queue"]`. Fields on the way are created.
    #[must_use]
    pub fn with(mut self, path: &[&str], value: impl Into<Value>) -> Self {
        let mut place = &mut self.0;
        for name in path {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[*name];
        }
        *place = value.into();
        self
    }

    /// Sets a label.
    #[must_use]
    pub fn label(self, key: &str, value: &str) -> Self {
        self.with(&["metadata", "labels", key], value)
    }

    /// Sets an annotation.
    #[must_use]
    pub fn annotation(self, key: &str, value: &str) -> Self {
        self.with(&["metadata", "annotations", key], value)
    }

    /// Puts a pod into a PodGroup.
    #[must_use]
    pub fn group(self, name: &str) -> Self {
        self.annotation("scheduling.k8s.io/group-name", name)
    }

    /// Puts a PodGroup into a queue.
    #[must_use]
    pub fn in_queue(self, name: &str) -> Self {
        self.with(&["spec", "queue"], name)
    }

    /// Sets what a pod's container asks for.
    #[must_use]
    pub fn requests(mut self, cpu: &str, memory: &str) -> Self {
        self.0["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": cpu, "memory": memory});
        self
    }

    /// Adds a taint to a node.
    #[must_use]
    pub fn taint(mut self, key: &str, value: &str, effect: &str) -> Self {
        let taint = json!({"key": key, "value": value, "effect": effect});
        match self.0["spec"]["taints"].as_array_mut() {
            Some(taints) => taints.push(taint),
            None => self.0["spec"]["taints"] = json!([taint]),
        }
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }
}
