//! Calls on the Lease. Its fields are those of coordination.k8s.io/v1.

use super::{Answer, Door};
use http::Method;
use serde_json::Value;

fn path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}

impl Door {
    /// The Lease as it is.
    pub async fn get_lease(&self, namespace: &str, name: &str) -> Answer {
        self.call(Method::GET, &format!("{}/{name}", path(namespace)), Vec::new())
            .await
    }

    /// Creates it.
    pub async fn create_lease(&self, namespace: &str, lease: &Value) -> Answer {
        self.call(Method::POST, &path(namespace), lease.to_string().into_bytes())
            .await
    }

    /// Replaces it; the version in it decides who is first.
    pub async fn put_lease(&self, namespace: &str, name: &str, lease: &Value) -> Answer {
        let path = format!("{}/{name}", path(namespace));
        self.call(Method::PUT, &path, lease.to_string().into_bytes())
            .await
    }
}
