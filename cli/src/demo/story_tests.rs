//! The story under all weathers, second by second.

use super::*;

const PLAN: Plan = Plan {
    once: false,
    load: true,
    window: Duration::from_secs(10),
    timeout: Duration::from_secs(90),
};

/// Plays the story, one look a second; `weather` says how hot the machine is, given the second and whether the load runs.
fn play(plan: Plan, weather: impl Fn(u64, bool) -> Heat, load_seconds: u64) -> (Story, Vec<(u64, Step)>) {
    let mut story = Story::new(plan);
    let mut steps = Vec::new();
    let (mut started, mut stopped) = (None, false);
    for second in 1..200 {
        let over = started.is_some_and(|started| second - started >= load_seconds);
        let seen = Seen {
            at: Duration::from_secs(second),
            host: weather(second, started.is_some() && !over && !stopped),
            samples: second.min(plan.window.as_secs()) as u32,
            load_over: over,
        };
        for step in story.advance(seen) {
            match step {
                Step::StartLoad => started = Some(second),
                Step::StopLoad => stopped = true,
                Step::Arrive(_) | Step::Finish => {}
            }
            steps.push((second, step));
        }
        if story.phase() == Phase::Done {
            return (story, steps);
        }
    }
    panic!("the story does not end: {steps:?}");
}

#[test]
fn the_whole_story() {
    let (story, steps) = play(
        PLAN,
        |second, load| {
            if load && second > 12 {
                Heat::Excluded
            } else {
                Heat::Calm
            }
        },
        40,
    );
    assert_eq!(
        steps,
        [
            (3, Step::Arrive(Act::Calm)),
            (6, Step::StartLoad),
            (13, Step::Arrive(Act::Hot)),
            (16, Step::Arrive(Act::Last)),
            (19, Step::StopLoad),
            (19, Step::Finish),
        ]
    );
    assert_eq!(story.heated(), &Heated::After(Duration::from_secs(7)));
}

#[test]
fn what_became_of_the_heat() {
    type Weather = fn(u64, bool) -> Heat;
    let rows: [(&str, Weather, Heated); 5] = [
        (
            "stays calm",
            |_, _| Heat::Calm,
            Heated::No("it stayed calm under the load"),
        ),
        (
            "no report",
            |_, _| Heat::Unknown,
            Heated::No("there is no report of it"),
        ),
        (
            "hot before",
            |_, _| Heat::Excluded,
            Heated::No("it was hot before the load began"),
        ),
        (
            "detected, never excluded",
            |_, load| if load { Heat::Detected } else { Heat::Calm },
            Heated::After(LIMIT_WITHIN + Duration::from_secs(1)),
        ),
        (
            "hot at first, then calm",
            |second, load| {
                if load || second < 10 {
                    Heat::Excluded
                } else {
                    Heat::Calm
                }
            },
            Heated::After(Duration::from_secs(1)),
        ),
    ];
    for (name, weather, expected) in rows {
        let (story, steps) = play(PLAN, weather, 30);
        assert_eq!(story.heated(), &expected, "{name}");
        let arrivals = steps
            .iter()
            .filter(|(_, step)| matches!(step, Step::Arrive(_)))
            .count();
        assert_eq!(arrivals, 3, "{name}: every gang gets its chance");
        assert!(steps.iter().any(|(_, step)| *step == Step::StopLoad), "{name}");
    }
}

#[test]
fn without_a_load_the_gangs_still_come() {
    let (story, steps) = play(Plan { load: false, ..PLAN }, |_, _| Heat::Calm, 0);
    assert_eq!(story.heated(), &Heated::NotTried);
    let expected = [
        Step::Arrive(Act::Calm),
        Step::Arrive(Act::Hot),
        Step::Arrive(Act::Last),
        Step::StopLoad,
        Step::Finish,
    ];
    assert_eq!(steps.iter().map(|(_, step)| *step).collect::<Vec<_>>(), expected);
}

#[test]
fn once_is_one_window_and_one_decision() {
    let (_, steps) = play(
        Plan {
            once: true,
            load: false,
            ..PLAN
        },
        |_, _| Heat::Excluded,
        0,
    );
    assert_eq!(steps, [(9, Step::Arrive(Act::Calm)), (10, Step::Finish)]);
}

#[test]
fn the_timeout_ends_everything() {
    let plan = Plan {
        timeout: Duration::from_secs(12),
        ..PLAN
    };
    let (story, steps) = play(plan, |_, _| Heat::Calm, 100);
    assert_eq!(steps.last(), Some(&(12, Step::Finish)));
    assert!(steps.contains(&(12, Step::StopLoad)));
    assert_eq!(story.heated(), &Heated::No("the time was over before"));
    let (story, _) = play(
        Plan {
            timeout: Duration::from_secs(4),
            ..PLAN
        },
        |_, _| Heat::Calm,
        100,
    );
    assert_eq!(
        story.heated(),
        &Heated::No("the time was over before"),
        "even before the load"
    );
    assert!(story.is_cut_short().is_some());
}
