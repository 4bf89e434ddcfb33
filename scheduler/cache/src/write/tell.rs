//! Events: what was said last about an object is not said again, what comes back is counted up, and no object gets more than
//! people read. They wait behind everything else and are dropped before they hold anything up.

use super::counters::{Counters, add};
use super::limit::{Bucket, Class, Limits};
use super::{Shared, lock, now};
use crate::command::About;
use crate::door::{Answer, EventBody};
use mco_model::spec::Text;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Events that wait; beyond that the oldest are dropped.
const WAITING: usize = 20_000;
/// Events under way at once.
const AT_ONCE: usize = 8;
/// Objects of which it is remembered what was said.
const OBJECTS: usize = 10_000;
/// Different things remembered about one object.
const THINGS: usize = 16;
/// Per object so many at once, then one in five minutes.
const PER_OBJECT: Limits = Limits {
    qps: 1.0 / 300.0,
    burst: 25.0,
};

/// Something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) about: About,
    pub(crate) warning: bool,
    pub(crate) reason: Text,
    pub(crate) message: Text,
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
enum Job {
    Create(EventBody),
    Count(EventBody, u32),
}

pub(crate) struct Queue {
    component: String,
    began: Instant,
    /// Events of one object and instant need different names.
    serial: AtomicU64,
    memory: Mutex<Memory>,
    waiting: Mutex<VecDeque<Job>>,
    under_way: AtomicUsize,
    more: Notify,
}

/// What was said about objects.
#[derive(Default)]
struct Memory {
    objects: HashMap<About, Object>,
    /// Objects in the order in which they were first spoken of.
    order: VecDeque<About>,
}

struct Object {
    guard: Bucket,
    things: Vec<Thing>,
}

struct Thing {
    warning: bool,
    reason: Text,
    message: Text,
    name: String,
    count: u32,
    /// Nothing else was said with this reason since.
    last: bool,
}

/// What to do about something to say.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Skip,
    Drop,
    Create,
    /// Under this name, for the so-manieth time.
    Count(String, u32),
}

impl Memory {
    fn hear(&mut self, said: &Said, name: &str, seconds: f64) -> Verdict {
        if !self.objects.contains_key(&said.about) {
            if self.order.len() >= OBJECTS
                && let Some(oldest) = self.order.pop_front()
            {
                self.objects.remove(&oldest);
            }
            self.order.push_back(said.about.clone());
        }
        let object = self.objects.entry(said.about.clone()).or_insert_with(|| Object {
            guard: Bucket::new(PER_OBJECT),
            things: Vec::new(),
        });
        let like = |thing: &Thing| thing.warning == said.warning && thing.reason == said.reason;
        let place = object
            .things
            .iter()
            .position(|thing| like(thing) && thing.message == said.message);
        if place.is_some_and(|place| object.things[place].last) {
            return Verdict::Skip;
        }
        if object.guard.take(seconds, Class::Bind).is_err() {
            return Verdict::Drop;
        }
        for thing in object.things.iter_mut().filter(|thing| like(thing)) {
            thing.last = false;
        }
        if let Some(place) = place {
            let thing = &mut object.things[place];
            thing.count += 1;
            thing.last = true;
            return Verdict::Count(thing.name.clone(), thing.count);
        }
        if object.things.len() >= THINGS {
            object.things.remove(0);
        }
        object.things.push(Thing {
            warning: said.warning,
            reason: said.reason.clone(),
            message: said.message.clone(),
            name: name.to_owned(),
            count: 1,
            last: true,
        });
        Verdict::Create
    }
}

impl Queue {
    pub(crate) fn new(component: String) -> Self {
        Self {
            component,
            began: Instant::now(),
            serial: AtomicU64::new(0),
            memory: Mutex::default(),
            waiting: Mutex::default(),
            under_way: AtomicUsize::new(0),
            more: Notify::new(),
        }
    }

    /// Says it, unless it was the last thing said about the object with this reason.
    pub(crate) fn tell(&self, counters: &Counters, said: Said) {
        let name = self.name(&said.about);
        let verdict = lock(&self.memory).hear(&said, &name, self.began.elapsed().as_secs_f64());
        match verdict {
            Verdict::Skip => {}
            Verdict::Drop => add(&counters.events_dropped),
            Verdict::Create => self.push(counters, Job::Create(self.body(said, name))),
            Verdict::Count(name, count) => self.push(counters, Job::Count(self.body(said, name), count)),
        }
    }

    /// Says what happens to an object once only, and need not be remembered.
    pub(crate) fn tell_once(&self, counters: &Counters, said: Said) {
        let name = self.name(&said.about);
        self.push(counters, Job::Create(self.body(said, name)));
    }

    /// Returns when nothing waits and nothing is under way.
    pub(crate) async fn quiet(&self) {
        while !lock(&self.waiting).is_empty() || self.under_way.load(Ordering::Acquire) > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn push(&self, counters: &Counters, job: Job) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= WAITING {
            waiting.pop_front();
            add(&counters.events_dropped);
        }
        waiting.push_back(job);
        drop(waiting);
        self.more.notify_one();
    }

    fn body(&self, said: Said, name: String) -> EventBody {
        EventBody {
            about: said.about,
            warning: said.warning,
            reason: said.reason.to_string(),
            message: said.message.to_string(),
            name,
            component: self.component.clone(),
            at: now(),
        }
    }

    fn name(&self, about: &About) -> String {
        let object = match about {
            About::Pod(pod) => &pod.name,
            About::PodGroup(group) => &group.name,
            About::Lease { name, .. } => name,
        };
        let nanos = u64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(0);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        format!("{object}.{:x}", nanos.wrapping_add(serial))
    }

    fn pop(&self) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        let job = waiting.pop_front();
        if job.is_some() {
            self.under_way.fetch_add(1, Ordering::AcqRel);
        }
        job
    }
}

/// Starts the workers. They end with the runtime.
pub(crate) fn start(shared: &Arc<Shared>) {
    for _ in 0..AT_ONCE {
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            loop {
                let more = shared.events.more.notified();
                match shared.events.pop() {
                    Some(job) => {
                        write(&shared, job).await;
                        shared.events.under_way.fetch_sub(1, Ordering::AcqRel);
                    }
                    None => more.await,
                }
            }
        });
    }
}

async fn write(shared: &Shared, job: Job) {
    const WHAT: &str = "writing events";
    shared.limiter.wait(Class::Event).await;
    let answer = match &job {
        Job::Create(body) => shared.door.create_event(body).await,
        Job::Count(body, count) => shared.door.count_event(body, *count).await,
    };
    let answer = match (answer, job) {
        // Events live for an hour; one that ended is said anew.
        (Answer::Gone(_), Job::Count(body, _)) => shared.door.create_event(&body).await,
        (Answer::Throttled(pause), Job::Create(body)) => {
            tokio::time::sleep(pause).await;
            shared.door.create_event(&body).await
        }
        (answer, _) => answer,
    };
    match answer.trouble() {
        None => {
            add(&shared.counters.events);
            shared.troubles.over(WHAT);
        }
        Some(trouble) => {
            add(&shared.counters.events_dropped);
            let class = trouble.rsplit('(').next().unwrap_or_default().to_owned();
            shared.troubles.met(WHAT, class, &trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::PodRef;

    fn said(pod: &str, reason: &str, message: &str) -> Said {
        Said {
            about: About::Pod(PodRef {
                namespace: "ns".into(),
                name: pod.into(),
                uid: pod.into(),
            }),
            warning: true,
            reason: reason.into(),
            message: message.into(),
        }
    }

    #[test]
    fn only_what_is_news_is_written() {
        let mut memory = Memory::default();
        let count = |name: &str, count| Verdict::Count(name.to_owned(), count);
        let rows = [
            (said("p", "R", "a"), "1", Verdict::Create),
            (said("p", "R", "a"), "2", Verdict::Skip),
            (said("p", "R", "b"), "3", Verdict::Create),
            (said("p", "R", "a"), "4", count("1", 2)),
            (said("p", "R", "a"), "5", Verdict::Skip),
            (said("p", "S", "a"), "6", Verdict::Create),
            (said("p", "R", "a"), "7", Verdict::Skip),
            (said("p", "R", "b"), "8", count("3", 2)),
            (said("q", "R", "a"), "9", Verdict::Create),
        ];
        for (said, name, expected) in rows {
            assert_eq!(memory.hear(&said, name, 0.0), expected, "{said:?} as {name}");
        }
    }

    #[test]
    fn one_object_cannot_flood() {
        let mut memory = Memory::default();
        let written = (0..100)
            .filter(|n| memory.hear(&said("p", "R", &n.to_string()), "n", 0.0) == Verdict::Create)
            .count();
        assert_eq!(written, 25);
        assert_eq!(memory.hear(&said("p", "R", "x"), "n", 301.0), Verdict::Create);
        assert_eq!(memory.hear(&said("q", "R", "x"), "n", 0.0), Verdict::Create);
    }

    #[test]
    fn memory_is_bounded() {
        let mut memory = Memory::default();
        for n in 0..OBJECTS + 10 {
            memory.hear(&said(&n.to_string(), "R", "m"), "n", 0.0);
        }
        assert_eq!((memory.objects.len(), memory.order.len()), (OBJECTS, OBJECTS));
        for n in 0..20 {
            memory.hear(&said("p", &n.to_string(), "m"), "n", 0.0);
        }
        let object = &memory.objects[&said("p", "", "").about];
        assert_eq!(object.things.len(), THINGS);
    }
}
