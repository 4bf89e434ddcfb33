//! The story as a state machine: what is seen goes in, what to do next comes out. No clock and no I/O.

use super::files::Act;
use super::heat::Heat;
use serde::Serialize;
use std::time::Duration;

/// Samples that a window must hold before anything is decided.
const FEWEST_SAMPLES: u32 = 3;
/// How long calm is waited for at the beginning.
const CALM_WITHIN: Duration = Duration::from_secs(30);
/// How long samples are waited for at the beginning.
const SAMPLES_WITHIN: Duration = Duration::from_secs(15);
/// How long each part stays for the eye.
const SHOWN: Duration = Duration::from_secs(3);
/// How long a hard limit is waited for once interference is detected.
const LIMIT_WITHIN: Duration = Duration::from_secs(8);

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// One window and one decision.
    pub once: bool,
    /// This machine is made hot.
    pub load: bool,
    /// Length of the analyzer's window.
    pub window: Duration,
    /// The story ends by then.
    pub timeout: Duration,
}

/// What is seen at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Time since the beginning.
    pub at: Duration,
    /// How hot this machine is.
    pub host: Heat,
    /// Samples in the window of the node that has fewest.
    pub samples: u32,
    /// The load has ended by itself or could not begin.
    pub load_over: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The gangs of this part arrive.
    Arrive(Act),
    /// The load starts.
    StartLoad,
    /// The load ends.
    StopLoad,
    /// The story is over.
    Finish,
}

/// A part of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Windows fill.
    Warmup,
    /// The first gang arrives while all is calm.
    Calm,
    /// The load makes this machine hot.
    Heating,
    /// The next gang arrives.
    Avoiding,
    /// A gang arrives that does not fit.
    Waiting,
    /// Over.
    Done,
}

impl Phase {
    /// What happens, for people.
    pub fn title(self) -> &'static str {
        match self {
            Phase::Warmup => "collecting the first samples",
            Phase::Calm => "calm: the first gang arrives",
            Phase::Heating => "an I/O load heats this machine up",
            Phase::Avoiding => "the next gang arrives",
            Phase::Waiting => "a gang arrives that does not fit",
            Phase::Done => "done",
        }
    }
}

/// Whether this machine became hot.
#[derive(Clone, Debug, PartialEq)]
pub enum Heated {
    /// Nobody tried.
    NotTried,
    /// It did, so long after the load started.
    After(Duration),
    /// It did not, and why.
    No(&'static str),
}

/// Where the story stands.
#[derive(Clone, Debug)]
pub struct Story {
    plan: Plan,
    phase: Phase,
    entered: Duration,
    hot_since: Option<Duration>,
    heated: Heated,
    /// It was already hot when the load was to begin.
    hot_before: bool,
    /// Why it ended early.
    cut_short: Option<&'static str>,
    log: Vec<(Phase, Duration)>,
}

impl Story {
    /// A story at its beginning.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            phase: Phase::Warmup,
            entered: Duration::ZERO,
            hot_since: None,
            heated: Heated::NotTried,
            hot_before: false,
            cut_short: None,
            log: vec![(Phase::Warmup, Duration::ZERO)],
        }
    }

    /// The part it is in.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Parts so far and when each began.
    pub fn log(&self) -> &[(Phase, Duration)] {
        &self.log
    }

    /// Whether this machine became hot by the load.
    pub fn heated(&self) -> &Heated {
        &self.heated
    }

    /// Why it ended early, if it did.
    pub fn is_cut_short(&self) -> Option<&'static str> {
        self.cut_short
    }

    /// It ends here, whatever was still to come.
    pub fn cut_short(&mut self, why: &'static str) {
        if self.phase == Phase::Done {
            return;
        }
        self.cut_short = Some(why);
        if self.plan.load && self.heated == Heated::NotTried {
            self.heated = Heated::No(why);
        }
    }

    /// Goes on by what is seen now.
    pub fn advance(&mut self, seen: Seen) -> Vec<Step> {
        if self.phase != Phase::Done && seen.at >= self.plan.timeout {
            self.cut_short("the time was over before");
            self.enter(Phase::Done, seen.at);
            return vec![Step::StopLoad, Step::Finish];
        }
        let shown = seen.at.saturating_sub(self.entered) >= SHOWN;
        match self.phase {
            Phase::Warmup if self.is_warm(seen) => {
                self.enter(Phase::Calm, seen.at);
                vec![Step::Arrive(Act::Calm)]
            }
            Phase::Calm if self.plan.once => {
                self.enter(Phase::Done, seen.at);
                vec![Step::Finish]
            }
            Phase::Calm if shown && self.plan.load => {
                self.hot_before = seen.host.is_hot();
                self.enter(Phase::Heating, seen.at);
                vec![Step::StartLoad]
            }
            Phase::Calm if shown => self.avoid(seen.at),
            Phase::Heating => self.heat(seen),
            Phase::Avoiding if shown => {
                self.enter(Phase::Waiting, seen.at);
                vec![Step::Arrive(Act::Last)]
            }
            Phase::Waiting if shown => {
                self.enter(Phase::Done, seen.at);
                vec![Step::StopLoad, Step::Finish]
            }
            _ => Vec::new(),
        }
    }

    fn is_warm(&self, seen: Seen) -> bool {
        let wanted = match self.plan.once {
            // A whole window, less the sample that may fall on its edge.
            true => u32::try_from(self.plan.window.as_secs())
                .unwrap_or(u32::MAX)
                .saturating_sub(1)
                .max(1),
            false => FEWEST_SAMPLES,
        };
        let sampled = seen.samples >= wanted || seen.at >= SAMPLES_WITHIN.max(self.plan.window * 2);
        let calm = self.plan.once || !seen.host.is_hot() || seen.at >= CALM_WITHIN;
        sampled && calm
    }

    fn heat(&mut self, seen: Seen) -> Vec<Step> {
        let took = seen.at.saturating_sub(self.entered);
        if seen.host.is_hot() {
            let since = *self.hot_since.get_or_insert(seen.at);
            let waited = seen.at.saturating_sub(since) >= LIMIT_WITHIN;
            if seen.host == Heat::Excluded || waited || seen.load_over {
                self.heated = match self.hot_before {
                    true => Heated::No("it was hot before the load began"),
                    false => Heated::After(took),
                };
                return self.avoid(seen.at);
            }
        } else if seen.load_over {
            self.heated = Heated::No(match seen.host {
                Heat::Unknown => "there is no report of it",
                _ => "it stayed calm under the load",
            });
            return self.avoid(seen.at);
        }
        Vec::new()
    }

    fn avoid(&mut self, at: Duration) -> Vec<Step> {
        self.enter(Phase::Avoiding, at);
        vec![Step::Arrive(Act::Hot)]
    }

    fn enter(&mut self, phase: Phase, at: Duration) {
        self.phase = phase;
        self.entered = at;
        self.log.push((phase, at));
    }
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
