//! Calls on PodGroups and Queues.

use super::{Answer, Door};
use crate::command::GroupRef;
use http::Method;
use serde_json::{Value, json};

const API: &str = "/apis/scheduling.volcano.sh/v1beta1";

impl Door {
    /// Replaces the whole PodGroup: it has no status subresource, and the scheduler's role knows no patch.
    pub async fn put_group(&self, group: &GroupRef, object: &Value) -> Answer {
        let path = format!("{API}/namespaces/{}/podgroups/{}", group.namespace, group.name);
        self.call(Method::PUT, &path, object.to_string().into_bytes())
            .await
    }

    /// Replaces the queue's status.
    pub async fn put_queue_status(&self, queue: &str, object: &Value) -> Answer {
        let path = format!("{API}/queues/{queue}/status");
        self.call(Method::PUT, &path, object.to_string().into_bytes())
            .await
    }

    /// Creates the queue that PodGroups without one belong to.
    pub async fn create_queue(&self, name: &str) -> Answer {
        let queue = json!({
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"weight": 1, "reclaimable": true},
            "status": {"allocated": {}, "reservation": {}},
        });
        self.call(
            Method::POST,
            &format!("{API}/queues"),
            queue.to_string().into_bytes(),
        )
        .await
    }
}
