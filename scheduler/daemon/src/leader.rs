//! Who decides: with leader election whoever holds the Lease, without it this process.

use crate::flags::Flags;
use crate::health::Health;
use crate::process::host_name;
use crate::uuid::random_uuid;
use mco_cache::door::Door;
use mco_cache::lease::{Candidate, End, LeaseName};
use mco_cache::write::Permit;
use mco_cache::{About, Cache, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Decides as long as this process may. Returns who holds the Lease, if anybody does, and how it ended.
pub(crate) async fn lead(
    flags: &Flags,
    door: Door,
    cache: &Cache,
    permit: &Permit,
    leading: &watch::Sender<bool>,
    health: &Health,
    stop: &CancellationToken,
) -> (Option<Candidate>, End) {
    let name = lease_name(flags);
    let mut candidate = Candidate::new(door, name.clone());
    let set = |leads: bool| {
        leading.send_replace(leads);
        health.leading(leads);
    };
    if !flags.leader_elect {
        if let Some(holder) = candidate.holder().await {
            warn!(
                "{holder} holds the Lease {}/{}, and this scheduler runs without one (--leader-elect=false): two schedulers would \
                 decide at once; scale the other down",
                name.namespace, name.name
            );
        }
        set(true);
        stop.cancelled().await;
        return (None, End::Stopped);
    }
    if !candidate.acquire(permit, stop).await {
        return (None, End::Stopped);
    }
    cache.send(elected(&name, "became leader"));
    set(true);
    let end = candidate.keep(permit, stop).await;
    set(false);
    cache.send(elected(&name, "stopped leading"));
    (Some(candidate), end)
}

fn lease_name(flags: &Flags) -> LeaseName {
    let name = match flags.scheduler_names.as_slice() {
        [one] => one.clone(),
        _ => "volcano".to_owned(),
    };
    LeaseName {
        namespace: flags.lock_object_namespace.clone(),
        name,
        identity: format!("{}_{}", host_name(), random_uuid()),
    }
}

fn elected(name: &LeaseName, what: &str) -> Command {
    Command::Tell {
        about: About::Lease {
            namespace: name.namespace.as_str().into(),
            name: name.name.as_str().into(),
        },
        warning: false,
        reason: "LeaderElection".into(),
        message: format!("{} {what}", name.identity).into(),
    }
}
