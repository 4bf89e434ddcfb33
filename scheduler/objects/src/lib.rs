//! Kubernetes objects to scheduler events; no client.
