//! The Lease by which one scheduler of several writes: taken, renewed, given back. Named and timed as Volcano's, so that a
//! forgotten one and ours never write at once.

use crate::door::{Answer, Door};
use crate::write::Permit;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// A holder that does not renew for so long has lost it.
const DURATION: Duration = Duration::from_secs(15);
/// Who cannot renew for so long stops.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Between tries.
const RETRY: Duration = Duration::from_secs(5);

/// Which Lease, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseName {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`: the scheduler's name if it has one, else `volcano`.
    pub name: String,
    /// `spec.holderIdentity`: host name, `_`, and something no other process has.
    pub identity: String,
}

/// How holding a Lease ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was given back, or never held, because the process stops.
    Stopped,
    /// Another may hold it: nothing may be written any more.
    Lost,
}

/// What a Lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Lease {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    resource_version: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    holder_identity: Option<String>,
    lease_duration_seconds: Option<u64>,
    acquire_time: Option<String>,
    renew_time: Option<String>,
    lease_transitions: Option<i64>,
}

impl Spec {
    fn holder(&self) -> &str {
        self.holder_identity.as_deref().unwrap_or_default()
    }
}

/// What is known of the Lease, and since when by the own clock: the clocks of other hosts are not asked.
#[derive(Debug, Default)]
struct Observed {
    last: Option<(Spec, Instant)>,
}

/// What may be done about a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    /// Another holds it.
    Wait,
    /// It is to be written so.
    Take(Spec),
}

impl Observed {
    fn see(&mut self, spec: &Spec, now: Instant) {
        if self.last.as_ref().is_none_or(|(known, _)| known != spec) {
            self.last = Some((spec.clone(), now));
        }
    }

    /// Whether another was seen to renew it recently enough.
    fn is_held_by_other(&self, spec: &Spec, identity: &str, now: Instant) -> bool {
        let duration = spec.lease_duration_seconds.map_or(DURATION, Duration::from_secs);
        let since = self.last.as_ref().map_or(now, |(_, since)| *since);
        !spec.holder().is_empty()
            && spec.holder() != identity
            && now.saturating_duration_since(since) < duration
    }

    fn next(&mut self, spec: &Spec, identity: &str, now: Instant, stamp: &str) -> Move {
        self.see(spec, now);
        if self.is_held_by_other(spec, identity, now) {
            return Move::Wait;
        }
        let mine = spec.holder() == identity;
        Move::Take(Spec {
            holder_identity: Some(identity.to_owned()),
            lease_duration_seconds: Some(DURATION.as_secs()),
            acquire_time: if mine {
                spec.acquire_time.clone()
            } else {
                Some(stamp.to_owned())
            },
            renew_time: Some(stamp.to_owned()),
            lease_transitions: Some(spec.lease_transitions.unwrap_or(0) + i64::from(!mine)),
        })
    }
}

/// Somebody who wants the Lease.
pub struct Candidate {
    door: Door,
    name: LeaseName,
    observed: Observed,
    trouble: Option<String>,
}

impl Candidate {
    /// A candidate that has not tried yet.
    pub fn new(door: Door, name: LeaseName) -> Self {
        Self {
            door: door.with_deadline(RETRY),
            name,
            observed: Observed::default(),
            trouble: None,
        }
    }

    /// Tries until the Lease is held; the permit then holds as long as it does. `false` when stopped before.
    pub async fn acquire(&mut self, permit: &Permit, stop: &CancellationToken) -> bool {
        loop {
            let began = Instant::now();
            let tried = stop.run_until_cancelled(self.attempt()).await;
            match tried {
                None => return false,
                Some(true) => {
                    permit.grant_until(began + DURATION);
                    info!("{} became leader", self.name.identity);
                    return true;
                }
                Some(false) => {}
            }
            if stop
                .run_until_cancelled(tokio::time::sleep(RETRY))
                .await
                .is_none()
            {
                return false;
            }
        }
    }

    /// Renews the Lease until stopped or lost. On stopping it is not given back yet, see [`Candidate::release`].
    pub async fn keep(&mut self, permit: &Permit, stop: &CancellationToken) -> End {
        let mut renewed = Instant::now();
        loop {
            if stop
                .run_until_cancelled(tokio::time::sleep(RETRY.min(RENEW_DEADLINE)))
                .await
                .is_none()
            {
                return End::Stopped;
            }
            let began = Instant::now();
            let left = RENEW_DEADLINE.saturating_sub(renewed.elapsed());
            // Close to the deadline tries follow fast; the last one must not outlast it.
            match tokio::time::timeout(left.max(Duration::from_secs(1)), self.attempt()).await {
                Ok(true) => {
                    renewed = began;
                    permit.grant_until(began + DURATION);
                }
                _ if renewed.elapsed() >= RENEW_DEADLINE => {
                    permit.revoke();
                    warn!(
                        "{} stopped leading: the Lease {}/{} was not renewed for {} s",
                        self.name.identity,
                        self.name.namespace,
                        self.name.name,
                        RENEW_DEADLINE.as_secs()
                    );
                    return End::Lost;
                }
                _ => {}
            }
        }
    }

    /// Gives the Lease back, so that the next need not wait. Volcano lets it run out.
    pub async fn release(&mut self, permit: &Permit) {
        permit.revoke();
        let Answer::Done(json) = self.door.get_lease(&self.name.namespace, &self.name.name).await else {
            return;
        };
        let Ok(lease) = serde_json::from_str::<Lease>(&json) else {
            return;
        };
        if lease.spec.holder() != self.name.identity {
            return;
        }
        let stamp = stamp();
        let spec = Spec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            acquire_time: Some(stamp.clone()),
            renew_time: Some(stamp),
            lease_transitions: lease.spec.lease_transitions,
        };
        let body = self.body(&spec, lease.metadata.resource_version.as_deref());
        let answer = self
            .door
            .put_lease(&self.name.namespace, &self.name.name, &body)
            .await;
        match answer.trouble() {
            None => info!("gave the Lease {}/{} back", self.name.namespace, self.name.name),
            Some(trouble) => debug!("giving the Lease back failed: {trouble}"),
        }
    }

    /// Who holds the Lease, by the time stamps in it; `None` when nobody does, or nobody can tell.
    pub async fn holder(&self) -> Option<String> {
        let Answer::Done(json) = self.door.get_lease(&self.name.namespace, &self.name.name).await else {
            return None;
        };
        let spec = serde_json::from_str::<Lease>(&json).ok()?.spec;
        let renewed: jiff::Timestamp = spec.renew_time.as_deref()?.parse().ok()?;
        let age = jiff::Timestamp::now().duration_since(renewed);
        let duration = spec.lease_duration_seconds.map_or(DURATION, Duration::from_secs);
        let live = !spec.holder().is_empty() && age.unsigned_abs() < duration;
        live.then(|| spec.holder().to_owned())
    }

    /// One try to take or renew it. Whatever is in doubt is no.
    async fn attempt(&mut self) -> bool {
        match self.try_once().await {
            Ok(held) => {
                if self.trouble.take().is_some() {
                    info!("the Lease can be reached again");
                }
                held
            }
            Err(trouble) => {
                if self.trouble.as_ref() != Some(&trouble) {
                    let LeaseName { namespace, name, .. } = &self.name;
                    warn!("the Lease {namespace}/{name} cannot be taken or renewed, trying again: {trouble}");
                }
                self.trouble = Some(trouble);
                false
            }
        }
    }

    async fn try_once(&mut self) -> Result<bool, String> {
        let LeaseName { namespace, name, .. } = self.name.clone();
        let read = self.door.get_lease(&namespace, &name).await;
        let (lease, exists) = match read {
            Answer::Done(json) => (
                serde_json::from_str::<Lease>(&json)
                    .map_err(|error| format!("it cannot be read: {error}"))?,
                true,
            ),
            Answer::Gone(_) => (Lease::default(), false),
            other => return Err(other.trouble().unwrap_or_default()),
        };
        let now = Instant::now();
        let mut spec = match self
            .observed
            .next(&lease.spec, &self.name.identity, now, &stamp())
        {
            Move::Wait => return Ok(false),
            Move::Take(spec) => spec,
        };
        let answer = if exists {
            let body = self.body(&spec, lease.metadata.resource_version.as_deref());
            self.door.put_lease(&namespace, &name, &body).await
        } else {
            spec.lease_transitions = Some(0);
            let body = self.body(&spec, None);
            self.door.create_lease(&namespace, &body).await
        };
        match answer {
            Answer::Done(_) => {
                self.observed.see(&spec, now);
                Ok(true)
            }
            // Another was faster.
            Answer::Conflict(_) => Ok(false),
            other => Err(other.trouble().unwrap_or_default()),
        }
    }

    fn body(&self, spec: &Spec, version: Option<&str>) -> Value {
        let mut metadata = json!({"name": self.name.name, "namespace": self.name.namespace});
        if let Some(version) = version {
            metadata["resourceVersion"] = json!(version);
        }
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {
                "holderIdentity": spec.holder(),
                "leaseDurationSeconds": spec.lease_duration_seconds,
                "acquireTime": spec.acquire_time,
                "renewTime": spec.renew_time,
                "leaseTransitions": spec.lease_transitions,
            },
        })
    }
}

/// RFC 3339 in microseconds, as Leases have it.
fn stamp() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(holder: &str, renewed: &str) -> Spec {
        Spec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            acquire_time: Some("t0".to_owned()),
            renew_time: Some(renewed.to_owned()),
            lease_transitions: Some(3),
        }
    }

    #[test]
    fn a_lease_is_taken_only_when_it_was_not_seen_to_change_for_its_duration() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut observed = Observed::default();
        let rows = [
            (0, held("other", "a"), false),
            (14, held("other", "a"), false),
            (14, held("other", "b"), false),
            (28, held("other", "b"), false),
            (29, held("other", "b"), true),
            (30, held("third", "c"), false),
            (31, held("", "d"), true),
            (32, held("me", "e"), true),
        ];
        for (second, spec, taken) in rows {
            let next = observed.next(&spec, "me", at(second), "now");
            assert_eq!(matches!(next, Move::Take(_)), taken, "{second} s, {spec:?}");
        }
    }

    #[test]
    fn taking_over_counts_and_renewing_does_not() {
        let mut observed = Observed::default();
        let now = Instant::now();
        let Move::Take(taken) = observed.next(&held("", "a"), "me", now, "t1") else {
            panic!("nobody holds it");
        };
        assert_eq!(
            (taken.lease_transitions, taken.acquire_time.as_deref()),
            (Some(4), Some("t1"))
        );
        let Move::Take(renewed) = observed.next(&taken, "me", now, "t2") else {
            panic!("it is ours");
        };
        assert_eq!(renewed.lease_transitions, Some(4));
        assert_eq!(renewed.acquire_time.as_deref(), Some("t1"));
        assert_eq!(renewed.renew_time.as_deref(), Some("t2"));
    }
}
