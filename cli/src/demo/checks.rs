//! What the demo claims, and whether it held. Pure: the same facts give the same verdict.

use super::files::Act;
use super::jobs::{Job, State};
use super::story::Heated;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Verdict on one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It was seen to hold.
    Held,
    /// It was seen not to hold.
    Failed,
    /// It could not be shown here.
    NotShown,
    /// Nobody asked for it.
    NotAsked,
}

impl Verdict {
    /// The word in the summary.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::Failed => "FAILED",
            Verdict::NotShown => "not shown",
            Verdict::NotAsked => "not asked",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is claimed.
    pub claim: &'static str,
    /// Whether it held.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
}

/// What happened.
pub struct Facts<'a> {
    /// Name of this machine.
    pub host: &'a str,
    /// Gangs that arrived.
    pub jobs: Vec<&'a Job>,
    /// Gangs that were ever seen in part.
    pub in_part: &'a BTreeSet<String>,
    /// Whether this machine became hot.
    pub heated: &'a Heated,
    /// What the load or the machine says about that.
    pub heat_detail: String,
    /// Where the gangs of the second part would have gone, were this machine calm; `None` when that was not asked.
    pub if_calm: Option<&'a BTreeMap<String, String>>,
    /// Only one decision was asked for.
    pub once: bool,
    /// Why the story ended early, if it did.
    pub cut_short: Option<&'static str>,
}

/// All claims.
pub fn judge(facts: &Facts<'_>) -> Vec<Check> {
    vec![
        placed(facts),
        hot(facts),
        avoided(facts),
        whole(facts),
        waits(facts),
    ]
}

/// The exit code: 0 when all that was asked for held, 1 when something failed, 3 when something could not be shown here.
pub fn exit_code(checks: &[Check]) -> u8 {
    let has = |verdict| checks.iter().any(|check| check.verdict == verdict);
    match (has(Verdict::Failed), has(Verdict::NotShown)) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    }
}

fn of<'a>(facts: &'a Facts<'_>, act: Act) -> impl Iterator<Item = &'a Job> {
    facts.jobs.iter().copied().filter(move |job| job.act == act as u8)
}

fn none_came(facts: &Facts<'_>, act: Act) -> String {
    match facts.cut_short {
        Some(why) => format!("skipped: {why}"),
        None => format!("skipped: no gang has `arrives: \"{}\"`", act as u8),
    }
}

fn placed(facts: &Facts<'_>) -> Check {
    let placed = of(facts, Act::Calm).find(|job| job.state == State::Placed);
    let (verdict, detail) = match (placed, of(facts, Act::Calm).next()) {
        (Some(job), _) => {
            let detail = format!(
                "{}: {} of {} on {}",
                job.name,
                job.placed(),
                job.pods.len(),
                job.nodes().join(", ")
            );
            (Verdict::Held, detail)
        }
        (None, Some(job)) => (Verdict::Failed, format!("{} waits: {}", job.name, job.message)),
        (None, None) => (Verdict::NotShown, none_came(facts, Act::Calm)),
    };
    Check {
        claim: "a gang is placed whole",
        verdict,
        detail,
    }
}

fn hot(facts: &Facts<'_>) -> Check {
    let (verdict, detail) = match facts.heated {
        Heated::NotTried if facts.once => (Verdict::NotAsked, "no load with --once".to_owned()),
        Heated::NotTried => (Verdict::NotAsked, "no load was asked for".to_owned()),
        Heated::After(took) => (
            Verdict::Held,
            format!(
                "{} after {:.1} s of load: {}",
                facts.host,
                took.as_secs_f64(),
                facts.heat_detail
            ),
        ),
        Heated::No(why) => (
            Verdict::NotShown,
            format!("skipped: {why} ({})", facts.heat_detail),
        ),
    };
    Check {
        claim: "this machine gets hot under load",
        verdict,
        detail,
    }
}

fn avoided(facts: &Facts<'_>) -> Check {
    let check = |verdict, detail| Check {
        claim: "the next gang avoids it",
        verdict,
        detail,
    };
    match facts.heated {
        Heated::NotTried => return check(Verdict::NotAsked, "this machine was not made hot".to_owned()),
        Heated::No(_) => {
            return check(
                Verdict::NotShown,
                "skipped: this machine was not seen to get hot".to_owned(),
            );
        }
        Heated::After(_) => {}
    }
    let jobs: Vec<_> = of(facts, Act::Hot).collect();
    let Some(first) = jobs.first() else {
        return check(Verdict::NotShown, none_came(facts, Act::Hot));
    };
    let went = jobs
        .iter()
        .flat_map(|job| &job.pods)
        .find(|pod| pod.node.as_deref() == Some(facts.host));
    if let Some(pod) = went {
        return check(
            Verdict::Failed,
            format!("{} went to {} although it is hot", pod.name, facts.host),
        );
    }
    let refused = jobs.iter().find_map(|job| {
        let refused = job
            .candidate(facts.host)?
            .refused
            .as_ref()
            .filter(|refused| refused.is_interference())?;
        Some(format!("filtered by {refused}"))
    });
    let count = facts.if_calm.map_or(0, |binds| {
        binds.values().filter(|node| *node == facts.host).count()
    });
    if let Some(job) = jobs.iter().find(|job| job.state == State::Waiting) {
        return check(
            Verdict::NotShown,
            format!("skipped: {} found no place at all: {}", job.name, job.message),
        );
    }
    let calm = match count {
        0 => "it would not have come here even if calm".to_owned(),
        count => format!("if calm, {count} of its pods would have come here"),
    };
    match (refused, count) {
        (Some(refused), _) => check(
            Verdict::Held,
            format!(
                "{} on {}: {refused}; {calm}",
                first.name,
                first.nodes().join(", ")
            ),
        ),
        (None, 1..) => check(
            Verdict::Held,
            format!(
                "{} on {}: scored lower; {calm}",
                first.name,
                first.nodes().join(", ")
            ),
        ),
        (None, 0) => check(Verdict::NotShown, format!("skipped: {calm}, for other reasons")),
    }
}

fn whole(facts: &Facts<'_>) -> Check {
    let (verdict, detail) = if facts.in_part.is_empty() {
        (
            Verdict::Held,
            format!(
                "gangs: {}; each whole or not at all after every cycle",
                facts.jobs.len()
            ),
        )
    } else {
        let names: Vec<_> = facts.in_part.iter().map(String::as_str).collect();
        (Verdict::Failed, format!("in part: {}", names.join(", ")))
    };
    Check {
        claim: "no gang is placed in part",
        verdict,
        detail,
    }
}

fn waits(facts: &Facts<'_>) -> Check {
    let waiting = of(facts, Act::Last).find(|job| job.state == State::Waiting);
    let (verdict, detail) = match (waiting, of(facts, Act::Last).next()) {
        (Some(job), _) if job.message.is_empty() => {
            (Verdict::Failed, format!("{} waits without a reason", job.name))
        }
        (Some(job), _) => (Verdict::Held, format!("{}: {}", job.name, job.message)),
        (None, Some(job)) => (Verdict::NotShown, format!("skipped: {} found room", job.name)),
        (None, None) if facts.once => (Verdict::NotAsked, "one decision only".to_owned()),
        (None, None) if facts.cut_short.is_some() => (Verdict::NotShown, none_came(facts, Act::Last)),
        (None, None) => (Verdict::NotAsked, none_came(facts, Act::Last)),
    };
    Check {
        claim: "a gang that does not fit waits whole, and says why",
        verdict,
        detail,
    }
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
